//! Znodes that come, are read, are denied and go: what that changes in the believed tree and in its locks.

use std::sync::Arc;

use super::holders::Seen;
use super::{Observatory, refresh};
use crate::change::{Change, Departure};
use crate::history::What;
use crate::mirror::{Child, ChildKey, DenyEffect, ReadEffect};
use crate::observation::RootId;
use crate::time::TimeMs;
use crate::znode::{Facts, SessionId, split_path};

impl Observatory {
    pub(super) fn node_created(&mut self, now: TimeMs, root: RootId, path: &str, out: &mut Vec<Change>) {
        self.state.counters.events += 1;
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        view.each_tree(|mirror| mirror.create(path, now));
        self.touch(now, root, path, refresh::Cause::Arrived, out);
    }

    pub(super) fn node_read(
        &mut self,
        now: TimeMs,
        root: RootId,
        path: &str,
        facts: &Facts,
        unreadable: bool,
        out: &mut Vec<Change>,
    ) {
        self.see_zxids(facts, unreadable);
        let owner_before = self.indexed_owner(root, path);
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if let Some(side) = &mut view.side {
            side.read(path, facts, unreadable, now);
        }
        let unreadable_before = view.mirror.unreadable();
        let effect = view.mirror.read(path, facts, unreadable, now);
        if view.follow_readability(now) || view.mirror.unreadable() != unreadable_before {
            out.push(Change::RootChanged(root));
        }
        self.index_owners_of(root, owner_before.into_iter().chain(facts.owner));
        match effect {
            ReadEffect::Late | ReadEffect::Same => return,
            ReadEffect::First { arrived_at } => self.state.offset.note(arrived_at, facts.ctime_ms),
            ReadEffect::New | ReadEffect::Reborn | ReadEffect::Again => {}
        }
        let cause = match effect {
            ReadEffect::New => refresh::Cause::Arrived,
            ReadEffect::Again => refresh::Cause::ReadAgain,
            _ => refresh::Cause::Read,
        };
        self.touch(now, root, path, cause, out);
    }

    pub(super) fn node_denied(&mut self, now: TimeMs, root: RootId, path: &str, in_sync: bool, out: &mut Vec<Change>) {
        let owner_before = self.indexed_owner(root, path);
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if let Some(side) = &mut view.side {
            side.deny(path, now);
        }
        if in_sync {
            return;
        }
        let cause = match view.mirror.deny(path, now) {
            DenyEffect::New => refresh::Cause::Arrived,
            DenyEffect::Hidden => refresh::Cause::Read,
            DenyEffect::Nothing => return,
        };
        view.follow_readability(now);
        out.push(Change::RootChanged(root));
        self.index_owners_of(root, owner_before);
        self.touch(now, root, path, cause, out);
    }

    pub(super) fn node_deleted(&mut self, now: TimeMs, root: RootId, path: &str, out: &mut Vec<Change>) {
        self.state.counters.events += 1;
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        if let Some(side) = &mut view.side {
            side.delete(path);
        }
        let Some(lock) = self.lock_of(root, path) else {
            self.forget_node(now, root, path, out);
            return;
        };
        let (lock, counts, held) = lock;
        let gone = self.forget_node(now, root, path, out);
        let Some((key, child)) = gone else { return };
        if let Some((session, read)) = child.owner().zip(child.read.as_ref()) {
            self.orders.left(now, session, read.czxid);
        }
        if counts {
            let (czxid, owner) = (child.read.as_ref().map(|read| read.czxid), child.owner());
            if czxid.is_none() {
                self.state.counters.owner_unknown += 1;
            }
            let mirror = self.roots.get(root.0 as usize).map(|view| &view.mirror);
            if let Some((lock, mirror)) = self.locks.get_mut(&lock).zip(mirror) {
                lock.tally.owner_unknown += u64::from(czxid.is_none());
                lock.left_at = now;
                let waited_ms = lock.note_departure(mirror, &self.state.offset, now, &key, &child, held);
                waited_ms.into_iter().for_each(|ms| self.state.ended.waits.note(ms));
            }
            if let Some(session) = owner {
                self.tell(now, session, &lock, key.name(), if held { What::Released } else { What::Left });
                self.left(now, session, child.arrived_at);
            }
            out.push(Change::Left {
                lock: Arc::clone(&lock),
                node: key.name().into(),
                czxid,
                owner,
                how: Departure::Deleted,
            });
        }
        self.refresh(now, &lock, Seen::Watched, out);
    }

    /// A znode is gone from the believed tree; a lock that it was the directory of goes with it.
    pub(super) fn forget_node(
        &mut self,
        now: TimeMs,
        root: RootId,
        path: &str,
        out: &mut Vec<Change>,
    ) -> Option<(ChildKey, Child)> {
        let view = self.roots.get_mut(root.0 as usize)?;
        let below = view.mirror.directory(path).into_iter().flat_map(|directory| directory.children());
        let below: Vec<SessionId> = below.filter_map(|(_, child)| child.owner()).collect();
        let gone = view.mirror.delete(path);
        if view.follow_readability(now) {
            out.push(Change::RootChanged(root));
        }
        let own = gone.as_ref().and_then(|(_, child)| child.owner());
        self.index_owners_of(root, below.into_iter().chain(own));
        if self.locks.get(path).is_some_and(|lock| !lock.is_alone()) {
            self.lose(now, path, Seen::Watched, out);
        }
        gone
    }

    /// The lock a znode belongs to, whether it contends, and whether it holds.
    pub(super) fn lock_of(&self, root: RootId, path: &str) -> Option<(Arc<str>, bool, bool)> {
        let (parent, name) = split_path(path)?;
        let own = self.locks.get(path).filter(|lock| lock.is_alone());
        let lock = own.or_else(|| self.lock_at(parent))?;
        let (key, child) = self.roots.get(root.0 as usize)?.mirror.directory(parent)?.child(name)?;
        let held = lock.holders.iter().any(|hold| hold.is(parent, key, child));
        Some((Arc::clone(&lock.path), lock.counts(parent, key, child), held))
    }
}
