//! Locks by what others ask for, kept as locks come, change and go: nobody has to walk over all of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Observatory;
use crate::change::Change;
use crate::lock::Lock;
use crate::time::TimeMs;

/// Free locks on a znode of their own that are remembered; the first in path order goes first.
pub const FREE_ALONE_MAX: usize = 4_096;

/// The index.
#[derive(Clone, Debug, Default)]
pub(super) struct LockIndex {
    /// Free locks on a znode of their own.
    free_alone: BTreeSet<Arc<str>>,
    /// Elections whose directory is gone.
    gone: BTreeSet<Arc<str>>,
}

impl LockIndex {
    /// A lock is new, or may be in another state than before.
    pub(super) fn note(&mut self, lock: &Lock) {
        keep(&mut self.free_alone, lock, lock.is_alone() && lock.holders.is_empty());
        keep(&mut self.gone, lock, lock.gone_since.is_some());
    }

    /// A lock is shown no longer.
    pub(super) fn forget(&mut self, lock: &Lock) {
        self.free_alone.remove(&lock.path);
        self.gone.remove(&lock.path);
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
            let Some(path) = self.index.free_alone.pop_first() else { return };
            self.vanish(now, &path, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Link, Observation, RootId, RootTrouble};
    use crate::observatory::Settings;
    use crate::znode::{Facts, SessionId, Zxid};

    const ROOT: RootId = RootId(0);

    fn scanned(observatory: &Observatory) -> LockIndex {
        let mut shelf = LockIndex::default();
        observatory.locks().for_each(|lock| shelf.note(lock));
        shelf
    }

    fn check(observatory: &Observatory) {
        let (kept, scanned) = (&observatory.index, scanned(observatory));
        assert_eq!((&kept.free_alone, &kept.gone), (&scanned.free_alone, &scanned.gone));
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
