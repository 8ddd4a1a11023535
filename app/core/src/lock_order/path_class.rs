//! Classes of paths: locks that are taken in the place of each other. A lock is a class of its own while it has few
//! siblings among the locks in orders; once more than [`SIBLINGS_MAX`] names were seen at one place of a path, that
//! place is `*` for all of them (`/transfer/*`, `/tenants/*/ledger`), and stays so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names told apart at one place of a path; from one more on all of them are one class.
pub const SIBLINGS_MAX: usize = 32;
/// Places of a path told apart; all that is below is one class.
pub const SEGMENTS_MAX: usize = 16;
/// Names and places remembered in all; beyond that the oldest orders are forgotten with theirs.
pub const NAMES_MAX: usize = 4_096;

/// What stands at a place of many names.
const ANY: &str = "*";

/// The names that were seen below one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    /// Their names, while they are few.
    pub names: BTreeSet<Box<str>>,
    /// They are many, and one class.
    pub are_many: bool,
}

/// What was seen of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathClasses {
    /// By the class of their parent.
    pub places: BTreeMap<Box<str>, Siblings>,
    /// Names and places in all.
    pub entries: usize,
}

/// What learning a path came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// Nothing else changed.
    Known,
    /// Classes that were several are one now.
    Merged,
    /// There is no room for another name.
    Full,
}

impl PathClasses {
    /// The class of a path, or of a class of before.
    pub fn class_of(&self, path: &str) -> Arc<str> {
        let mut class = String::with_capacity(path.len());
        each_name(path, |name, is_deep| {
            let is_any = is_deep || self.places.get(class.as_str()).is_some_and(|place| place.are_many);
            class.push('/');
            class.push_str(if is_any { ANY } else { name });
        });
        class.into()
    }

    /// Learns the names of a path; its class, unless classes became others.
    pub(super) fn learn(&mut self, path: &str) -> (Learned, String) {
        let (mut class, mut learned) = (String::with_capacity(path.len()), Learned::Known);
        let mut is_crowded = false;
        each_name(path, |name, is_deep| {
            let mut is_any = is_deep;
            match self.places.get_mut(class.as_str()) {
                _ if is_deep || learned == Learned::Full => {}
                Some(place) if place.are_many => is_any = true,
                Some(place) if place.names.contains(name) => {}
                _ if self.entries + 2 > NAMES_MAX => learned = Learned::Full,
                Some(place) => {
                    place.names.insert(name.into());
                    self.entries += 1;
                    is_crowded |= place.names.len() > SIBLINGS_MAX;
                }
                None => {
                    let names = BTreeSet::from([name.into()]);
                    self.places.insert(class.as_str().into(), Siblings { names, are_many: false });
                    self.entries += 2;
                }
            }
            class.push('/');
            class.push_str(if is_any { ANY } else { name });
        });
        if is_crowded {
            self.merge();
            learned = if learned == Learned::Full { learned } else { Learned::Merged };
        }
        (learned, class)
    }

    /// Makes one class of names that are many, and of what is below them, until none are many.
    fn merge(&mut self) {
        while let Some(place) = self.places.values_mut().find(|place| place.names.len() > SIBLINGS_MAX) {
            *place = Siblings { names: BTreeSet::new(), are_many: true };
            let before = std::mem::take(&mut self.places);
            // Which places are many is asked while others take their new names: parents come before what is below them.
            for (class, siblings) in before {
                let class: Box<str> = if class.is_empty() { class } else { (&*self.class_of(&class)).into() };
                let place = self.places.entry(class).or_default();
                place.are_many |= siblings.are_many;
                place.names.extend(siblings.names);
                if place.are_many {
                    place.names.clear();
                }
            }
        }
        self.count();
    }

    /// Remembers no more than the names of these classes.
    pub(super) fn keep(&mut self, classes: &BTreeSet<Arc<str>>) {
        let before = std::mem::take(&mut self.places);
        for class in classes {
            let mut parent = String::new();
            each_name(class, |name, is_deep| {
                if let Some(siblings) = before.get(parent.as_str()).filter(|_| !is_deep) {
                    let place = self.places.entry(parent.as_str().into()).or_default();
                    place.are_many = siblings.are_many;
                    if !place.are_many {
                        place.names.insert(name.into());
                    }
                }
                parent.push('/');
                parent.push_str(name);
            });
        }
        self.count();
    }

    fn count(&mut self) {
        self.entries = self.places.values().map(|place| 1 + place.names.len()).sum();
    }
}

/// Calls for each name of a path down to the first one that is too deep to be told apart.
fn each_name(path: &str, mut each: impl FnMut(&str, bool)) {
    for (depth, name) in path.split('/').skip(1).take(SEGMENTS_MAX + 1).enumerate() {
        each(name, depth == SEGMENTS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(paths: impl IntoIterator<Item = String>) -> PathClasses {
        let mut classes = PathClasses::default();
        paths.into_iter().for_each(|path| {
            classes.learn(&path);
        });
        classes
    }

    #[test]
    fn few_siblings_are_classes_of_their_own_and_many_are_one() {
        let few = learned((0..SIBLINGS_MAX).map(|at| format!("/transfer/{at}")));
        assert_eq!(&*few.class_of("/transfer/3"), "/transfer/3");
        let many = learned((0..=SIBLINGS_MAX).map(|at| format!("/transfer/{at}")));
        assert_eq!(&*many.class_of("/transfer/3"), "/transfer/*");
        assert_eq!(&*many.class_of("/transfer/new"), "/transfer/*");
        assert_eq!(&*many.class_of("/transfer"), "/transfer");
    }

    #[test]
    fn what_is_below_many_siblings_is_told_apart_by_its_own_name() {
        let classes = learned((0..100).flat_map(|at| [format!("/t/{at}/ledger"), format!("/t/{at}/stock")]));
        assert_eq!(&*classes.class_of("/t/7/ledger"), "/t/*/ledger");
        assert_eq!(&*classes.class_of("/t/*/stock"), "/t/*/stock");
        assert!(classes.entries < 8, "{classes:?}");
    }

    #[test]
    fn what_is_very_deep_is_one_class() {
        let path = "/d".repeat(SEGMENTS_MAX);
        let classes = PathClasses::default();
        assert_eq!(*classes.class_of(&format!("{path}/x/y")), format!("{path}/*"));
        assert_eq!(*classes.class_of(&path), path);
    }

    #[test]
    fn no_more_names_are_remembered_than_there_is_room_for() {
        let classes = learned((0..100_000).map(|at| format!("/{}/{}/{}/{}", at % 31, at % 29, at % 23, at % 19)));
        assert!(classes.entries <= NAMES_MAX);
        let sum: usize = classes.places.values().map(|place| 1 + place.names.len()).sum();
        assert_eq!(classes.entries, sum);
    }
}
