//! Locks by what others ask for, kept as locks come, change and go: nobody has to walk over all of them.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use super::Observatory;
use crate::change::Change;
use crate::lock::Lock;
use crate::time::TimeMs;

/// Free locks on a znode of their own that are remembered; the first in path order goes first.
pub const FREE_ALONE_MAX: usize = 4_096;

/// The index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LockIndex {
    /// Free locks on a znode of their own.
    free_alone: BTreeSet<Arc<str>>,
    /// Elections whose directory is gone.
    gone: BTreeSet<Arc<str>>,
    /// Locks of which the end of a slice of depths changes something ([`Lock::has_open_slice`]). Of most it does not.
    open_slices: BTreeSet<Arc<str>>,
}

impl LockIndex {
    /// A lock is new, or may be in another state than before.
    pub(super) fn note(&mut self, lock: &Lock) {
        self.note_changed(lock, !lock.has_open_slice());
    }

    /// A lock may be in another state than before, when [`Lock::has_open_slice`] said this of it: one that changes all the
    /// time is not looked up each time.
    pub(super) fn note_changed(&mut self, lock: &Lock, had_open_slice: bool) {
        keep(&mut self.free_alone, lock, lock.is_alone() && lock.holders.is_empty());
        keep(&mut self.gone, lock, lock.gone_since.is_some());
        let has_open_slice = lock.has_open_slice();
        if has_open_slice != had_open_slice {
            keep(&mut self.open_slices, lock, has_open_slice);
        }
    }

    /// The first locks behind a path of which the end of a slice of depths changes something, in path order.
    pub(super) fn open_slices_after(&self, path: &str, number: usize) -> Vec<Arc<str>> {
        let behind = (Bound::Excluded(path), Bound::Unbounded);
        self.open_slices.range::<str, _>(behind).take(number).map(Arc::clone).collect()
    }

    /// A lock is shown no longer.
    pub(super) fn forget(&mut self, lock: &Lock) {
        self.free_alone.remove(&lock.path);
        self.gone.remove(&lock.path);
        self.open_slices.remove(&lock.path);
    }

    /// How many elections stay although their directory is gone.
    pub(super) fn gone(&self) -> usize {
        self.gone.len()
    }
}

fn keep(paths: &mut BTreeSet<Arc<str>>, lock: &Lock, is_in: bool) {
    if !is_in {
        paths.remove(&lock.path);
    } else if !paths.contains(&lock.path) {
        paths.insert(Arc::clone(&lock.path));
    }
}

impl Observatory {
    /// Bounds the locks whose znode is absent, which is their free state and leaves nothing to recognise them by.
    pub(super) fn forget_free_alone(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        while self.index.free_alone.len() > FREE_ALONE_MAX {
            let must_stay = |path: &Arc<str>| self.settings.limits.must_be_there(path);
            let Some(path) = self.index.free_alone.iter().find(|path| !must_stay(path)).cloned() else { return };
            self.index.free_alone.remove(&path);
            self.vanish(now, &path, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Link, Observation, RootId, RootTrouble};
    use crate::observatory::Settings;
    use crate::tally::DEPTH_SLICE_MS;
    use crate::znode::{Facts, SessionId, Zxid};

    const ROOT: RootId = RootId(0);

    fn scanned(observatory: &Observatory) -> LockIndex {
        let mut shelf = LockIndex::default();
        observatory.locks().for_each(|lock| shelf.note(lock));
        shelf
    }

    fn check(observatory: &Observatory) {
        let (kept, scanned) = (&observatory.index, scanned(observatory));
        assert_eq!(*kept, scanned);
        assert!(kept.free_alone.len() <= FREE_ALONE_MAX);
    }

    fn read(path: &str, czxid: i64) -> Observation {
        let zxid = Zxid(czxid);
        let facts = Facts {
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime_ms: 0,
            version: 0,
            cversion: 0,
            children: 0,
            owner: Some(SessionId(czxid)),
            payload: None,
            payload_bytes: 0,
        };
        Observation::NodeRead { root: ROOT, path: path.into(), facts: Box::new(facts), unreadable: false }
    }

    #[test]
    fn free_locks_and_gone_elections_are_what_a_walk_over_all_finds() {
        let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, TimeMs(0));
        let mut apply = |observation| {
            observatory.apply(TimeMs(1), observation);
            check(&observatory);
        };
        apply(Observation::Link { link: Link::Live, session: None, why: "".into() });
        apply(Observation::SyncBegan { root: ROOT, why: "test".into() });
        apply(Observation::SyncEnded { root: ROOT });
        for (czxid, path) in
            ["/l/a-lock", "/l/b-lock", "/election/n_0000000000", "/q/lock-0000000000"].iter().enumerate()
        {
            apply(read(path, czxid as i64 + 1));
        }
        for path in ["/l/a-lock", "/election/n_0000000000", "/election", "/q/lock-0000000000", "/q"] {
            apply(Observation::NodeDeleted { root: ROOT, path: path.into() });
        }
        assert_eq!((observatory.index.free_alone.len(), observatory.index.gone.len()), (1, 1));
        let mut apply = |observation| {
            observatory.apply(TimeMs(2), observation);
            check(&observatory);
        };
        apply(read("/l/a-lock", 9));
        apply(read("/election/n_0000000001", 10));
        apply(Observation::RootTrouble { root: ROOT, trouble: RootTrouble::Gone, why: "gone".into() });
    }

    #[test]
    fn the_end_of_a_slice_looks_at_locks_that_changed_and_no_others() {
        let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, TimeMs(0));
        let path = |lock: usize, number: usize| format!("/l{lock:03}/lock-{number:010}");
        for (czxid, lock) in (1..).zip(0..200) {
            observatory.apply(TimeMs(1), read(&path(lock, 0), 2 * czxid));
            observatory.apply(TimeMs(1), read(&path(lock, 1), 2 * czxid + 1));
        }
        assert_eq!(observatory.index.open_slices.len(), 200, "somebody waits who did not before");
        let mut ticks = (1..).map(|slice| TimeMs(slice * DEPTH_SLICE_MS));
        let mut end_slices = |observatory: &mut Observatory| {
            for now in ticks.by_ref().take(6) {
                observatory.apply(now, Observation::Tick);
                check(observatory);
            }
        };
        end_slices(&mut observatory);
        assert!(observatory.index.open_slices.is_empty());
        observatory.apply(TimeMs(15_100), Observation::NodeDeleted { root: ROOT, path: path(7, 0).into() });
        assert_eq!(observatory.index.open_slices_after("", 9), ["/l007".into()]);
        end_slices(&mut observatory);
        assert!(observatory.index.open_slices.is_empty());
    }

    #[test]
    fn free_locks_are_forgotten_beyond_a_number() {
        let mut observatory = Observatory::new(Settings { roots: vec!["/".into()], ..Settings::default() }, TimeMs(0));
        let path = |at: usize| format!("/l/{at:05}-lock");
        for at in 0..FREE_ALONE_MAX + 8 {
            observatory.apply(TimeMs(1), read(&path(at), at as i64 + 1));
        }
        assert_eq!(observatory.locks().count(), FREE_ALONE_MAX + 8, "those that are held stay");
        for at in 0..FREE_ALONE_MAX + 8 {
            observatory.apply(TimeMs(1), Observation::NodeDeleted { root: ROOT, path: path(at).into() });
        }
        check(&observatory);
        assert_eq!(observatory.locks().count(), FREE_ALONE_MAX);
        assert!(observatory.locks.contains(&path(FREE_ALONE_MAX + 7)));
    }
}
