//! What child watches report of a root's directories. A recursive watch does not fire for children that we may not
//! read, a child watch does: where it reported more changes than events did, something came or went unseen. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::directory_watch::WatchChange;

/// Directories of one root with a child watch. Overflow policy: further ones are compared in rounds only.
const DIRECTORIES_MAX: usize = 10_000;
/// Comparisons of a directory whose child watch is ahead of events: at once, and then one a tick, for our own member
/// may be behind the one that the watch is at.
const CHECKS_AT_ONCE: u8 = 3;
const CHECKS_MAX: u8 = 5;
/// Ticks after which a child watch has reported what events showed.
const LATE_TICKS: u32 = 2;

/// What is to be done with a directory that events and counters show to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The child watch reported nothing else.
    Agreed,
    /// It reported more: compare again, at once.
    Again,
    /// The same, but with the next tick.
    Later,
    /// The same once too often: only a list shows it.
    List,
}

#[derive(Clone, Copy, Debug, Default)]
struct Directory {
    is_set: bool,
    /// Changes that the child watch reported, less those that events or counters showed.
    lead: i32,
    /// The highest lead since this tick.
    peak: i32,
    peak_since: u32,
    /// Comparisons since the watch is ahead by so much.
    checks: u8,
    doubted: i32,
}

/// The child watches of one root.
#[derive(Debug, Default)]
pub(super) struct DirectoryHints {
    directories: BTreeMap<Arc<str>, Directory>,
    changes: Vec<WatchChange>,
}

impl DirectoryHints {
    /// Has a directory watched.
    pub(super) fn want(&mut self, path: &str) {
        if self.directories.len() < DIRECTORIES_MAX && !self.directories.contains_key(path) {
            let path: Arc<str> = path.into();
            self.changes.push(WatchChange::Set(Arc::clone(&path)));
            self.directories.insert(path, Directory::default());
        }
    }

    pub(super) fn gone(&mut self, path: &str) {
        if let Some((path, _)) = self.directories.remove_entry(path) {
            self.changes.push(WatchChange::Drop(path));
        }
    }

    /// Everything was read anew: those that are no directories any more are dropped, and what is reported counts from
    /// here.
    pub(super) fn begin_anew(&mut self, is_there: impl Fn(&str) -> bool) {
        let gone: Vec<Arc<str>> = self.directories.keys().filter(|path| !is_there(path)).cloned().collect();
        gone.iter().for_each(|path| self.gone(path));
        for directory in self.directories.values_mut() {
            *directory = Directory { is_set: directory.is_set, ..Directory::default() };
        }
    }

    /// What the other session has to do since this was asked last.
    pub(super) fn take_changes(&mut self) -> Vec<WatchChange> {
        std::mem::take(&mut self.changes)
    }

    /// A child watch is set, and works from here on.
    pub(super) fn set(&mut self, path: &str) {
        if let Some(directory) = self.directories.get_mut(path) {
            *directory = Directory { is_set: true, ..Directory::default() };
        }
    }

    /// No child watch works any more.
    pub(super) fn lose(&mut self) {
        self.directories.values_mut().for_each(|directory| *directory = Directory::default());
    }

    /// Whether a directory's child watch works.
    pub(super) fn is_set(&self, path: &str) -> bool {
        self.directories.get(path).is_some_and(|directory| directory.is_set)
    }

    /// A child watch reported so many changes. True when that is more than events and counters showed.
    pub(super) fn heard(&mut self, path: &str, changes: u32) -> bool {
        let Some(directory) = self.directories.get_mut(path).filter(|directory| directory.is_set) else { return false };
        directory.lead = directory.lead.saturating_add(i32::try_from(changes).unwrap_or(i32::MAX));
        directory.peak = directory.peak.max(directory.lead);
        if directory.lead > directory.doubted {
            directory.checks = 0;
        }
        directory.lead > 0
    }

    /// Events or counters showed so many changes.
    pub(super) fn shown(&mut self, path: &str, changes: u32) {
        if let Some(directory) = self.directories.get_mut(path).filter(|directory| directory.is_set) {
            directory.lead = directory.lead.saturating_sub(i32::try_from(changes).unwrap_or(i32::MAX));
        }
    }

    /// Events showed all that a directory's counters report; `quiet`: nothing happened during the comparison.
    pub(super) fn compared(&mut self, path: &str, quiet: bool, tick: u32) -> Verdict {
        let Some(directory) = self.directories.get_mut(path).filter(|directory| directory.is_set) else {
            return Verdict::Agreed;
        };
        if directory.lead > 0 {
            directory.checks += 1;
            directory.doubted = directory.lead;
            return match directory.checks {
                checks if checks < CHECKS_AT_ONCE => Verdict::Again,
                checks if checks < CHECKS_MAX => Verdict::Later,
                // The counters were misread, or it reported something twice.
                _ => {
                    *directory = Directory { is_set: true, peak_since: tick, ..Directory::default() };
                    Verdict::List
                }
            };
        }
        (directory.checks, directory.doubted) = (0, 0);
        if quiet && tick.wrapping_sub(directory.peak_since) >= LATE_TICKS {
            // What it has not caught up with in so long it never reports.
            directory.lead -= directory.peak.min(0);
            (directory.peak, directory.peak_since) = (directory.lead, tick);
        }
        Verdict::Agreed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> DirectoryHints {
        let mut hints = DirectoryHints::default();
        hints.want("/d");
        hints.set("/d");
        hints
    }

    #[test]
    fn events_and_hints_cancel_out_in_any_order() {
        let mut hints = watched();
        hints.shown("/d", 2);
        assert!(!hints.heard("/d", 2), "late hints are no news");
        assert!(hints.heard("/d", 1), "one is ahead");
        hints.shown("/d", 1);
        assert_eq!(hints.compared("/d", true, 0), Verdict::Agreed);
    }

    #[test]
    fn a_silent_child_is_looked_for_a_few_times() {
        let mut hints = watched();
        assert!(hints.heard("/d", 1));
        let verdicts: Vec<Verdict> = (0..6).map(|_| hints.compared("/d", true, 0)).collect();
        assert_eq!(verdicts[..2], [Verdict::Again, Verdict::Again]);
        assert_eq!(verdicts[2..], [Verdict::Later, Verdict::Later, Verdict::List, Verdict::Agreed]);
        assert!(hints.heard("/d", 1), "the next one is noticed again");
        hints.shown("/d", 1);
        assert_eq!(hints.compared("/d", true, 0), Verdict::Agreed, "the counters showed it");
    }

    #[test]
    fn hints_that_never_come_hide_nothing_for_long() {
        let mut hints = watched();
        hints.shown("/d", 1);
        assert_eq!(hints.compared("/d", true, 0), Verdict::Agreed);
        assert!(!hints.heard("/d", 1), "it was only late");
        hints.shown("/d", 1);
        (1..=2).for_each(|round| _ = hints.compared("/d", true, round * LATE_TICKS));
        assert!(hints.heard("/d", 1), "it never came, and does not hide this one");
    }

    #[test]
    fn a_hint_that_is_on_its_way_at_each_comparison_is_not_taken_for_a_child_that_came_unseen() {
        let mut hints = watched();
        for tick in 0..10 * LATE_TICKS {
            // Twice within a tick: the hint comes after both.
            hints.shown("/d", 1);
            assert_eq!(hints.compared("/d", true, tick), Verdict::Agreed);
            assert_eq!(hints.compared("/d", true, tick), Verdict::Agreed);
            assert!(!hints.heard("/d", 1), "in tick {tick}");
        }
    }

    #[test]
    fn what_was_counted_twice_is_doubted_once_however_many_changes_follow() {
        let mut hints = watched();
        assert!(hints.heard("/d", 1));
        let mut lists = 0;
        for tick in 0..100 {
            hints.shown("/d", 1);
            hints.heard("/d", 1);
            lists += u32::from(hints.compared("/d", true, tick) == Verdict::List);
        }
        assert_eq!(lists, 1);
    }

    #[test]
    fn only_what_is_wanted_and_set_is_heard() {
        let mut hints = DirectoryHints::default();
        hints.want("/d");
        hints.want("/d");
        assert!(!hints.heard("/d", 1) && !hints.is_set("/d"));
        hints.set("/d");
        assert!(hints.is_set("/d"));
        hints.lose();
        assert!(!hints.is_set("/d"));
        hints.want("/e");
        hints.begin_anew(|path| path == "/d");
        let [set, drop] = [|path: &str| WatchChange::Set(path.into()), |path: &str| WatchChange::Drop(path.into())];
        assert_eq!(hints.take_changes(), [set("/d"), set("/e"), drop("/e")]);
        (0..2 * DIRECTORIES_MAX).for_each(|number| hints.want(&format!("/{number}")));
        assert_eq!(hints.take_changes().len(), DIRECTORIES_MAX - 1);
    }
}
