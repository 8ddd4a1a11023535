//! What the counters of each directory said and what events showed since: tells whether anything went unseen. Also the
//! list of znodes that are silent, those we may not read. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use app::domain::znode::{Facts, Zxid, split_path};

use super::reads::ChildEvents;

/// Directories that are counted in one root. Overflow policy: further ones are not checked, only followed.
const DIRECTORIES_MAX: usize = 1 << 20;

/// Counters of one directory.
#[derive(Clone, Copy, Debug)]
struct Tally {
    /// Not known between its creation event and its first read.
    czxid: Option<Zxid>,
    creates: u32,
    deletes: u32,
    seen: ChildEvents,
    /// No event of a child came while the counters were read, so `seen` counts exactly what they don't.
    exact: bool,
}

/// A mark to tell whether a directory was quiet while it was being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(ChildEvents);

/// What a check shows that no event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unseen {
    pub(super) creates: u32,
    pub(super) deletes: u32,
}

/// The counters of one root.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    directories: BTreeMap<Arc<str>, Tally>,
    silent: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
    cursor: Option<Arc<str>>,
}

impl Ledger {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A znode was seen to be created: its counters began at zero, so its children are counted from the first on.
    pub(super) fn created(&mut self, path: &str) {
        if self.directories.len() < DIRECTORIES_MAX {
            self.directories.insert(path.into(), Tally { czxid: None, creates: 0, deletes: 0, seen: ChildEvents::default(), exact: true });
        }
    }

    /// A znode was read; one that has an owner is no directory. Events of children while it was being read may or may
    /// not be in its counters; taking them as seen can't raise a false alarm. True when it should be checked at once.
    pub(super) fn read(&mut self, path: &Arc<str>, facts: &Facts, child_events: ChildEvents) -> bool {
        if facts.owner.is_some() {
            self.directories.remove(path);
            return false;
        }
        let full = self.directories.len() >= DIRECTORIES_MAX;
        match self.directories.get_mut(path) {
            Some(tally) if tally.czxid == Some(facts.czxid) => return false,
            Some(tally) if tally.czxid.is_none() => {
                tally.czxid = Some(facts.czxid);
                return facts.creates_ever() > tally.seen.creates;
            }
            None if full => return false,
            Some(_) | None => {}
        }
        let tally = Tally {
            czxid: Some(facts.czxid),
            creates: facts.creates_ever(),
            deletes: facts.deletes_ever(),
            seen: child_events,
            exact: child_events == ChildEvents::default(),
        };
        self.directories.insert(Arc::clone(path), tally);
        false
    }

    /// A child was seen to come or go.
    pub(super) fn child_seen(&mut self, directory: &str, created: bool) {
        if let Some(tally) = self.directories.get_mut(directory) {
            let count = if created { &mut tally.seen.creates } else { &mut tally.seen.deletes };
            *count = count.wrapping_add(1);
        }
    }

    /// A znode is gone, and with it what was counted for it.
    pub(super) fn gone(&mut self, path: &str) {
        self.directories.remove(path);
        self.silent.remove(path);
        self.not_silent(path);
    }

    /// A znode that no event will tell of.
    pub(super) fn add_silent(&mut self, path: &str) {
        if let Some((parent, name)) = split_path(path) {
            self.silent.entry(parent.into()).or_default().insert(name.into());
        }
    }

    /// A silent znode became readable.
    pub(super) fn not_silent(&mut self, path: &str) {
        if let Some((parent, name)) = split_path(path)
            && let Some(names) = self.silent.get_mut(parent)
        {
            names.remove(name);
            if names.is_empty() {
                self.silent.remove(parent);
            }
        }
    }

    /// The silent children of a directory.
    pub(super) fn silent_in(&self, directory: &str) -> impl Iterator<Item = &str> {
        self.silent.get(directory).into_iter().flatten().map(AsRef::as_ref)
    }

    /// Some silent children of a directory, others with each turn.
    pub(super) fn silent_sample(&self, directory: &str, turn: usize, count: usize) -> impl Iterator<Item = &str> {
        let all = self.silent.get(directory).map_or(0, BTreeSet::len);
        let start = if all == 0 { 0 } else { turn.wrapping_mul(count) % all };
        self.silent_in(directory).skip(start).take(count)
    }

    /// The mark of a directory now; None when it is not counted.
    pub(super) fn stamp(&self, directory: &str) -> Option<Stamp> {
        self.directories.get(directory).map(|tally| Stamp(tally.seen))
    }

    /// The next directories of the sweep, round and round.
    pub(super) fn next_directories(&mut self, count: usize) -> Vec<Arc<str>> {
        let after = self.cursor.take().map_or(Bound::Unbounded, Bound::Excluded);
        let next: Vec<Arc<str>> = self.directories.range((after, Bound::Unbounded)).take(count).map(|(path, _)| Arc::clone(path)).collect();
        self.cursor = next.last().map(Arc::clone);
        next
    }

    /// Compares counters with what was seen; what is unseen is told once. Some(nothing unseen) asks for a list all the
    /// same: until now the counters were not exact enough to tell.
    pub(super) fn check(&mut self, directory: &str, facts: &Facts, stamp: Stamp) -> Option<Unseen> {
        let tally = self.directories.get_mut(directory).filter(|tally| tally.czxid == Some(facts.czxid))?;
        let creates = facts.creates_ever().wrapping_sub(tally.creates);
        let deletes = facts.deletes_ever().wrapping_sub(tally.deletes);
        // Events seen may be ahead of the counters read, never behind: only a deficit means something. Half of the
        // number range tells a deficit from being ahead.
        let deficit = |counted: u32, seen: u32| Some(counted.wrapping_sub(seen)).filter(|n| *n <= u32::MAX / 2).unwrap_or(0);
        let unseen = Unseen { creates: deficit(creates, tally.seen.creates), deletes: deficit(deletes, tally.seen.deletes) };
        let quiet = stamp == Stamp(tally.seen);
        let was_exact = tally.exact;
        tally.exact |= quiet;
        if quiet {
            (tally.creates, tally.deletes, tally.seen) = (facts.creates_ever(), facts.deletes_ever(), ChildEvents::default());
        } else {
            tally.creates = tally.creates.wrapping_add(unseen.creates);
            tally.deletes = tally.deletes.wrapping_add(unseen.deletes);
        }
        (unseen != Unseen { creates: 0, deletes: 0 } || was_exact != tally.exact).then_some(unseen)
    }

    /// A list showed more than its check had told: those count as seen.
    pub(super) fn seen_by_list(&mut self, directory: &str, creates: u32, deletes: u32) {
        if let Some(tally) = self.directories.get_mut(directory) {
            tally.seen.creates = tally.seen.creates.wrapping_add(creates);
            tally.seen.deletes = tally.seen.deletes.wrapping_add(deletes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(cversion: i32, children: u32) -> Facts {
        Facts {
            czxid: Zxid(1),
            mzxid: Zxid(1),
            pzxid: Zxid(1),
            ctime_ms: 0,
            version: 0,
            cversion,
            children,
            owner: None,
            payload: None,
            payload_bytes: 0,
        }
    }

    fn ledger() -> (Ledger, Arc<str>) {
        let (mut ledger, path) = (Ledger::default(), Arc::from("/d"));
        ledger.read(&path, &facts(10, 4), ChildEvents::default());
        (ledger, path)
    }

    #[test]
    fn what_events_showed_is_no_difference() {
        let (mut ledger, _) = ledger();
        ledger.child_seen("/d", true);
        ledger.child_seen("/d", false);
        let stamp = ledger.stamp("/d").unwrap();
        assert_eq!(ledger.check("/d", &facts(12, 4), stamp), None);
    }

    #[test]
    fn an_unseen_create_is_told_once() {
        let (mut ledger, _) = ledger();
        let stamp = ledger.stamp("/d").unwrap();
        assert_eq!(ledger.check("/d", &facts(11, 5), stamp), Some(Unseen { creates: 1, deletes: 0 }));
        assert_eq!(ledger.check("/d", &facts(11, 5), stamp), None);
    }

    #[test]
    fn events_ahead_of_the_counters_are_no_difference() {
        let (mut ledger, _) = ledger();
        let stamp = ledger.stamp("/d").unwrap();
        ledger.child_seen("/d", true);
        assert_eq!(ledger.check("/d", &facts(10, 4), stamp), None);
        let stamp = ledger.stamp("/d").unwrap();
        assert_eq!(ledger.check("/d", &facts(11, 5), stamp), None);
        assert_eq!(ledger.check("/d", &facts(12, 6), stamp), Some(Unseen { creates: 1, deletes: 0 }));
    }

    #[test]
    fn a_new_directory_is_counted_from_its_creation() {
        let (mut ledger, path) = (Ledger::default(), Arc::from("/d"));
        ledger.created("/d");
        ledger.child_seen("/d", true);
        assert!(ledger.read(&path, &facts(2, 2), ChildEvents::default()), "a child came that no event showed");
        let stamp = ledger.stamp("/d").unwrap();
        assert_eq!(ledger.check("/d", &facts(2, 2), stamp), Some(Unseen { creates: 1, deletes: 0 }));
    }

    #[test]
    fn counters_may_wrap() {
        let mut ledger = Ledger::default();
        let path: Arc<str> = "/d".into();
        ledger.read(&path, &facts(-3, 1), ChildEvents::default());
        for created in [true, false] {
            ledger.child_seen("/d", created);
        }
        let stamp = ledger.stamp("/d").unwrap();
        assert_eq!(ledger.check("/d", &facts(-1, 1), stamp), None);
    }

    #[test]
    fn the_sweep_goes_round() {
        let mut ledger = Ledger::default();
        for name in ["/a", "/b", "/c"] {
            ledger.read(&name.into(), &facts(0, 0), ChildEvents::default());
        }
        let turns: Vec<usize> = (0..4).map(|_| ledger.next_directories(2).len()).collect();
        assert_eq!(turns, [2, 1, 0, 2]);
    }

    #[test]
    fn silent_znodes_are_kept_by_directory() {
        let mut ledger = Ledger::default();
        ledger.add_silent("/d/x");
        assert_eq!(ledger.silent_in("/d").collect::<Vec<_>>(), ["x"]);
        ledger.add_silent("/d/y");
        let samples: Vec<&str> = (0..3).flat_map(|turn| ledger.silent_sample("/d", turn, 1)).collect();
        assert_eq!(samples, ["x", "y", "x"]);
        ledger.gone("/d/y");
        ledger.gone("/d/x");
        assert_eq!(ledger.silent_in("/d").count(), 0);
    }
}
