//! Znodes that we may not read: no watch event reports them. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use lockscope_core::znode::{join_path, split_path};

/// The unreadable znodes of one root, by directory.
#[derive(Debug, Default)]
pub(super) struct Unreadable {
    directories: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
    /// Directory and name of the one that was looked at last.
    cursor: Option<(Box<str>, Box<str>)>,
}

impl Unreadable {
    /// A znode that no event will report.
    pub(super) fn add(&mut self, path: &str) {
        if let Some((parent, name)) = split_path(path) {
            self.directories.entry(parent.into()).or_default().insert(name.into());
        }
    }

    /// An unreadable znode became readable.
    pub(super) fn remove(&mut self, path: &str) {
        if let Some((parent, name)) = split_path(path)
            && let Some(names) = self.directories.get_mut(parent)
        {
            names.remove(name);
            if names.is_empty() {
                self.directories.remove(parent);
            }
        }
    }

    /// A znode is gone, with all below it.
    pub(super) fn gone(&mut self, path: &str) {
        self.directories.remove(path);
        self.remove(path);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        split_path(path)
            .is_some_and(|(parent, name)| self.directories.get(parent).is_some_and(|names| names.contains(name)))
    }

    pub(super) fn within(&self, directory: &str) -> impl Iterator<Item = &str> {
        self.directories.get(directory).into_iter().flatten().map(AsRef::as_ref)
    }

    /// The next ones, round and round; paths.
    pub(super) fn sample(&mut self, count_max: usize) -> Vec<String> {
        let cursor = self.cursor.take();
        let (directory, name) = cursor.unzip();
        let names = directory.as_ref().and_then(|directory| self.directories.get_key_value(directory));
        let after = name.map_or(Bound::Unbounded, Bound::Excluded);
        let same = names.into_iter().flat_map(|(directory, names)| {
            names.range((after.clone(), Bound::Unbounded)).map(move |name| (directory, name))
        });
        let from = directory.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.directories.range::<Box<str>, _>((from, Bound::Unbounded));
        let further = next.flat_map(|(directory, names)| names.iter().map(move |name| (directory, name)));
        let taken: Vec<_> =
            same.chain(further).take(count_max).map(|(directory, name)| (directory.clone(), name.clone())).collect();
        self.cursor = taken.last().filter(|_| taken.len() == count_max).cloned();
        taken.iter().map(|(directory, name)| join_path(directory, name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_kept_by_directory() {
        let mut unreadable = Unreadable::default();
        unreadable.add("/d/x");
        unreadable.add("/d/y");
        assert_eq!(unreadable.within("/d").collect::<Vec<_>>(), ["x", "y"]);
        assert!(unreadable.has("/d/x") && !unreadable.has("/d"));
        unreadable.gone("/d/y");
        unreadable.remove("/d/x");
        assert_eq!(unreadable.sample(1), Vec::<String>::new());
    }

    #[test]
    fn all_are_looked_at_in_turn() {
        let mut unreadable = Unreadable::default();
        ["/a/x", "/a/y", "/b/x", "/c/x"].iter().for_each(|path| unreadable.add(path));
        let turns: Vec<String> = (0..4).map(|_| unreadable.sample(3).join(" ")).collect();
        assert_eq!(turns, ["/a/x /a/y /b/x", "/c/x", "/a/x /a/y /b/x", "/c/x"]);
        unreadable.sample(2);
        unreadable.gone("/a");
        assert_eq!(unreadable.sample(9), ["/b/x", "/c/x"]);
    }
}
