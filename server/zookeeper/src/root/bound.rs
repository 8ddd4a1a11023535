//! How much of a tree is read: no more znodes than have room, and no directory with more children than one answer should
//! bring. What is left out is said, and nothing below it is followed. Pure.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::Observation;
use lockscope_core::znode::split_path;

use super::super::outbox::Outbox;
use super::super::watch::{Input, State, Why};
use super::RootWatch;

/// Children of one directory: its list comes in one answer, of about 60 MB then. Overflow policy: it is not listed.
const CHILDREN_MAX: u32 = 1_000_000;
/// By how much of what has room events may go beyond it before the root is read anew: an eighth.
const EXCESS: usize = 8;

/// The room of all roots of an ensemble together.
#[derive(Clone, Debug)]
pub(in super::super) struct Room {
    max: usize,
    used: Arc<AtomicUsize>,
}

impl Room {
    pub(in super::super) fn new(max: usize) -> Self {
        Self { max, used: Arc::default() }
    }
}

/// What of the room one root takes, and what it leaves out.
#[derive(Debug)]
pub(super) struct Bound {
    room: Room,
    own: usize,
    /// Directories whose children are not read; nothing below them is known.
    left_out: HashSet<Arc<str>>,
    /// The first of them, and how many children it had.
    first: Option<(Arc<str>, u32)>,
}

impl Bound {
    pub(super) fn new(room: Room) -> Self {
        Self { room, own: 0, left_out: HashSet::new(), first: None }
    }

    pub(super) fn begin_anew(&mut self) {
        self.set(0);
        self.left_out.clear();
        self.first = None;
    }

    /// It has so many znodes.
    pub(super) fn set(&mut self, own: usize) {
        self.room.used.fetch_add(own, Ordering::Relaxed);
        self.room.used.fetch_sub(self.own, Ordering::Relaxed);
        self.own = own;
    }

    /// Whether there is room for the children of a directory; takes it.
    fn take(&mut self, directory: &Arc<str>, children: u32) -> bool {
        let wanted = children as usize;
        let has_room = self.room.used.load(Ordering::Relaxed).saturating_add(wanted) <= self.room.max;
        if has_room && children <= CHILDREN_MAX {
            self.set(self.own.saturating_add(wanted));
            self.left_out.remove(directory);
            return true;
        }
        self.first.get_or_insert_with(|| (Arc::clone(directory), children));
        self.left_out.insert(Arc::clone(directory));
        false
    }

    /// Reading anew shows more: what was left out is gone, or events brought many more than there is room for.
    fn is_outdated(&self) -> bool {
        if self.left_out.is_empty() && self.first.is_some() {
            return true;
        }
        let used = self.room.used.load(Ordering::Relaxed);
        self.own > 0 && used > self.room.max.saturating_add(self.room.max / EXCESS)
    }

    pub(super) fn gone(&mut self, path: &str) {
        self.left_out.remove(path);
    }

    /// The children of this directory are.
    pub(super) fn leaves_out(&self, directory: &str) -> bool {
        self.left_out.contains(directory)
    }

    /// Nothing was left out since everything was read anew.
    pub(super) fn is_whole(&self) -> bool {
        self.first.is_none()
    }

    /// A znode lies in what is left out.
    pub(super) fn hides(&self, path: &str) -> bool {
        !self.left_out.is_empty()
            && std::iter::successors(split_path(path), |(parent, _)| split_path(parent))
                .any(|(parent, _)| self.left_out.contains(parent))
    }

    /// What is not read, and what to do; empty when everything is.
    pub(super) fn text(&self) -> String {
        let Some((path, children)) = &self.first else { return String::new() };
        let more = match self.left_out.len().saturating_sub(1) {
            0 => String::new(),
            1 => " and of 1 more directory".to_owned(),
            more => format!(" and of {more} more directories"),
        };
        let (bound, remedy) = if *children > CHILDREN_MAX {
            (format!("a directory with more than {CHILDREN_MAX} children is not listed"), " or exclude what is no lock")
        } else {
            let room = format!("there is room for {} znodes of this ensemble", self.room.max);
            (room, " exclude what is no lock, or raise znodes_max")
        };
        format!(
            "the {children} children of {path}{more} are not read, for {bound}; name the directories of the locks as roots,{remedy}"
        )
    }
}

impl RootWatch {
    /// Whether the children of a directory may be read. Where not, it says that it misses some, and is looked at no more.
    pub(super) fn has_room(&mut self, directory: &Arc<str>, children: u32, out: &mut Outbox) -> bool {
        let was_whole = self.bound.is_whole();
        if self.bound.take(directory, children) {
            return true;
        }
        self.ledger.uncount(directory);
        self.hints.gone(directory);
        let missing = MissingSet::from(Missing::Unswept);
        out.push(Observation::Incomplete { root: self.id, path: Box::from(&**directory), missing });
        // At the end of a sync the whole is said; what is found later makes a root partial once.
        if self.state == State::Live && was_whole {
            self.report_partial(out);
        }
        false
    }

    pub(super) fn report_partial(&self, out: &mut Outbox) {
        let why = self.bound.text();
        if !why.is_empty() {
            tracing::warn!(root = %self.path, why, "a root is read in part");
            let trouble = lockscope_core::observation::RootTrouble::Partial;
            out.push(Observation::RootTrouble { root: self.id, trouble, why: why.into() });
        }
    }

    /// Time passed: events may have brought more than there is room for.
    pub(super) fn tick_bound(&mut self, out: &mut Outbox) {
        if self.state != State::Live {
            return;
        }
        self.bound.set(self.known.len());
        if self.bound.is_outdated() {
            self.input(Input::Untrusted(Why::TooMany), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_share_the_room_and_what_is_left_out_is_said() {
        let room = Room::new(100);
        let (mut one, mut other) = (Bound::new(room.clone()), Bound::new(room));
        assert!(one.take(&"/a".into(), 60) && !other.take(&"/b/c".into(), 50) && other.take(&"/b/d".into(), 40));
        assert!(one.is_whole() && one.text().is_empty() && !other.is_whole());
        assert!(other.hides("/b/c/x") && other.hides("/b/c/x/y") && !other.hides("/b/c") && !other.hides("/b/d/x"));
        assert!(other.text().starts_with("the 50 children of /b/c are not read, for there is room for 100 znodes"));
        assert!(other.text().ends_with("exclude what is no lock, or raise znodes_max"), "{}", other.text());
        assert!(!other.take(&"/b/e".into(), 1));
        assert!(other.text().contains("/b/c and of 1 more directory are not read"), "{}", other.text());
        other.gone("/b/c");
        other.gone("/b/e");
        assert!(other.is_outdated() && !one.is_outdated(), "all that was left out is gone");
        one.begin_anew();
        other.begin_anew();
        assert!(other.is_whole() && other.text().is_empty() && other.take(&"/b/c".into(), 100));
        other.set(112);
        assert!(!other.is_outdated());
        other.set(113);
        assert!(other.is_outdated() && !one.is_outdated());
    }

    #[test]
    fn a_directory_with_very_many_children_is_not_listed_whatever_the_room_is() {
        let mut bound = Bound::new(Room::new(usize::MAX));
        assert!(bound.take(&"/a".into(), CHILDREN_MAX) && !bound.take(&"/b".into(), CHILDREN_MAX + 1));
        assert!(bound.text().contains("more than 1000000 children is not listed; name"), "{}", bound.text());
    }
}
