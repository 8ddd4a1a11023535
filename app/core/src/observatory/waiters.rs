//! What is missing from locks: what the observer says of directories, and what the members' tables of watches show of
//! those who wait without a znode.

use std::sync::Arc;

use super::Observatory;
use super::holders::Seen;
use crate::assessment::AssessedLock;
use crate::change::Change;
use crate::missing::MissingSet;
use crate::observation::RootId;
use crate::time::TimeMs;
use crate::znode::join_path;

/// Locks looked at as one piece.
const LOCKS_A_PIECE: usize = 16;

impl Observatory {
    /// The observer says how whole a directory's children are known.
    pub(super) fn incomplete(
        &mut self,
        now: TimeMs,
        root: RootId,
        path: &str,
        missing: MissingSet,
        out: &mut Vec<Change>,
    ) {
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if !view.each_tree(|mirror| mirror.miss(path, missing)) {
            return;
        }
        let own = self.lock_at(path).map(|lock| Arc::clone(&lock.path));
        // A lock that is a znode itself may be held by one that is not seen.
        let below = join_path(path, "");
        let beside = self.locks.starting_with(&below);
        let beside =
            beside.filter(|(_, lock)| lock.is_alone() && *lock.parts.main == *path).map(|(lock, _)| Arc::clone(lock));
        let locks: Vec<Arc<str>> = own.into_iter().chain(beside).collect();
        for lock in locks {
            self.refresh(now, &lock, Seen::Watched, out);
        }
    }

    /// Has those who wait without a znode brought in line with the members' tables, when these are others or too old by
    /// now: some locks at a time.
    pub(super) fn follow_tables(&mut self, now: TimeMs) {
        let tables = self.evidence.tables_at(now);
        if tables != self.state.tables {
            self.state.tables = tables;
            self.backlog.tables_after = Some("".into());
        }
    }

    /// The same for the next few locks behind one.
    pub(super) fn follow_some_tables(&mut self, now: TimeMs, after: &str, out: &mut Vec<Change>) {
        let rest = self.locks.after(after);
        let paths: Vec<(Arc<str>, bool)> =
            rest.take(LOCKS_A_PIECE).map(|(path, lock)| (Arc::clone(path), lock.hides_waiters())).collect();
        self.backlog.tables_after =
            paths.last().filter(|_| paths.len() == LOCKS_A_PIECE).map(|(path, _)| Arc::clone(path));
        for (path, _) in paths.into_iter().filter(|(_, hides_waiters)| *hides_waiters) {
            if self.watch_waiters(now, &path) {
                out.push(Change::LockTouched { lock: Arc::clone(&path) });
                self.plan_look(now, &path);
                self.judge_again(now, &path, out);
            }
        }
    }

    /// Brings those who wait at one lock without a znode in line with the members' tables. True when that is news.
    pub(super) fn watch_waiters(&mut self, now: TimeMs, path: &str) -> bool {
        let Some(AssessedLock { lock, .. }) = self.locks.get_mut(path).filter(|lock| lock.hides_waiters()) else {
            return false;
        };
        let Some(view) = self.roots.get(lock.root.0 as usize) else { return false };
        let had_open_slice = lock.has_open_slice();
        let is_news = lock.watch_waiters(&view.mirror, &self.evidence, &self.state.offset, now, self.state.session);
        if is_news {
            lock.revision = self.revision + 1;
            lock.tally.depth.note(lock.waiters_seen());
        }
        self.index.note_changed(lock, had_open_slice);
        is_news
    }
}
