//! Takes in a checkpoint, part by part.

use std::sync::Arc;

use crate::assessment::AssessedLock;
use crate::lock::Hold;
use crate::mirror::Mirror;
use crate::observation::RootId;
use crate::observatory::event_log::EventLog;
use crate::observatory::{Observatory, RootView};
use crate::recollection::{ModelRecollection, Recollection, RootRecollection, Tree};
use crate::time::TimeMs;

impl Observatory {
    /// Takes in a part of a checkpoint. Nothing is reported: nothing happened.
    pub(in crate::observatory) fn recall(&mut self, now: TimeMs, recollection: Recollection) {
        match recollection {
            Recollection::Opening(settings) => *self = Self::new(settings, now),
            Recollection::Root(recalled) => self.take_root(recalled),
            Recollection::Directory(recalled) => {
                if let Some(tree) = self.tree_mut(recalled.root, recalled.tree) {
                    tree.take_directory(recalled);
                }
            }
            Recollection::Children(recalled) => {
                if let Some(tree) = self.tree_mut(recalled.root, recalled.tree) {
                    tree.take_children(&recalled.path, recalled.children);
                }
            }
            Recollection::Lock(lock) => self.take_lock(*lock),
            Recollection::Members(recalled) => self.evidence.state = recalled,
            Recollection::Sessions(recalled) => self.evidence.take_sessions(recalled),
            Recollection::Watches(recalled) => self.evidence.take_watches(recalled),
            Recollection::SessionEvents(recalled) => self.history.ring.extend(recalled),
            Recollection::EventRecords(recalled) => self.recorder.ring.extend(recalled),
            Recollection::LockOrders(recalled) => self.orders.take(*recalled),
            Recollection::OrderSnoozes(recalled) => self.orders.snoozes.extend(recalled),
            Recollection::Model(recalled) => self.take_model(*recalled),
        }
    }

    fn tree_mut(&mut self, root: RootId, tree: Tree) -> Option<&mut Mirror> {
        let view = self.roots.get_mut(root.0 as usize)?;
        match tree {
            Tree::Believed => Some(&mut view.mirror),
            Tree::Side => view.side.as_mut(),
        }
    }

    fn take_root(&mut self, recalled: RootRecollection) {
        let RootRecollection { root, status, next_directory, next_side_directory } = recalled;
        let Some(view) = self.roots.get_mut(root.0 as usize) else { return };
        *view = RootView {
            path: std::mem::take(&mut view.path),
            mirror: Mirror::with_next_directory(next_directory),
            side: next_side_directory.map(Mirror::with_next_directory),
            status,
            is_settling: false,
        };
    }

    fn take_lock(&mut self, mut lock: AssessedLock) {
        let main = Arc::clone(&lock.parts.main);
        let own = lock.holders.iter_mut();
        // Paths that were one before are one again, as far as they are many.
        let share = |hold: &mut Hold| {
            if hold.directory == main {
                hold.directory = Arc::clone(&main);
            }
        };
        own.for_each(share);
        lock.tally.past.iter_mut().for_each(|past| share(&mut past.hold));
        let path = Arc::clone(&lock.path);
        self.index.note(&lock);
        let due = [lock.assessment.recheck_at, lock.assessment.look_at];
        self.rechecks.extend(due.into_iter().flatten().map(|due| (due, Arc::clone(&path))));
        self.locks.insert(path, lock);
    }

    fn take_model(&mut self, recalled: ModelRecollection) {
        let ModelRecollection { state, last_event, root_states, revision, depth_slice } = recalled;
        let ring = std::mem::take(&mut self.recorder.ring);
        self.recorder = EventLog { last: last_event, ring, roots: root_states };
        (self.state, self.revision, self.depth_slice) = (state, revision, depth_slice);
        self.index_owners();
    }
}
