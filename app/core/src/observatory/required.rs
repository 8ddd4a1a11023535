//! Paths that must be held and are no lock: a lock that is recognised as nothing yet stands for each, so that the board, alerts
//! and the past have it as they have any other.

use std::sync::Arc;

use super::Observatory;
use super::holders::Seen;
use crate::change::Change;
use crate::lock::Lock;
use crate::observation::{RootId, RootTrouble};
use crate::recipe::{Shape, recognise};
use crate::time::TimeMs;
use crate::znode::is_under;

impl Observatory {
    /// Puts a lock where one must be held and none is, below a root that was read. There are at most as many as patterns.
    pub(super) fn require(&mut self, now: TimeMs, root: RootId, out: &mut Vec<Change>) {
        let Some(view) = self.roots.get(root.0 as usize) else { return };
        if !view.was_settled() || view.status.trouble == Some(RootTrouble::Denied) {
            return;
        }
        let held_paths = self.settings.limits.held_paths();
        let lacking = held_paths.filter(|path| is_under(path, &view.path) && self.lock(path).is_none());
        let lacking: Vec<Arc<str>> = lacking.map(Into::into).collect();
        for path in lacking {
            self.appear(now, Lock::new(path, root, recognise::required()), Seen::AfterGap, out);
        }
    }

    /// A lock that must be held is not there any more: it stays, recognised as nothing, with what was found of it. False
    /// when it need not be held.
    pub(super) fn stays_required(&mut self, now: TimeMs, path: &str, seen: Seen, out: &mut Vec<Change>) -> bool {
        if !self.settings.limits.must_be_there(path) {
            return false;
        }
        let Some(lock) = self.locks.get_mut(path) else { return false };
        if lock.recognition.shape != Shape::Idle {
            lock.tally.reaped += u32::from(!lock.is_alone());
            lock.become_known_as(recognise::required());
            lock.gone_since = None;
            self.index.note(lock);
        }
        self.refresh(now, path, seen, out);
        true
    }

    /// A lock on a znode of its own was found: in place of one that stood for it, or new.
    pub(super) fn appear_alone(&mut self, now: TimeMs, found: Lock, seen: Seen, out: &mut Vec<Change>) {
        match self.locks.get_mut(&found.path) {
            None => self.appear(now, found, seen, out),
            Some(lock) if lock.recognition.shape == Shape::Idle => {
                lock.become_known_as(found.recognition);
                self.index.note(lock);
                self.refresh(now, &found.path, seen, out);
            }
            // Its neighbours came later, and say more.
            Some(lock) if lock.is_alone() && found.is_alone() => lock.recognition = found.recognition,
            Some(_) => {}
        }
    }

    /// Which paths must be held is otherwise now: those that stood for nothing but that are gone.
    pub(super) fn release_required(&mut self, now: TimeMs, before: &[String], out: &mut Vec<Change>) {
        let stands_in = |lock: &Lock| {
            let is_told_otherwise = lock.recognition.rule.is_some() || self.configured_recipe(&lock.path).is_some();
            lock.recognition.shape == Shape::Idle || (lock.is_alone() && !is_told_otherwise)
        };
        let over: Vec<&String> = before
            .iter()
            .filter(|path| !self.settings.limits.must_be_there(path))
            .filter(|path| self.locks.get(path).is_some_and(|lock| stands_in(lock)))
            .collect();
        over.iter().for_each(|path| self.vanish(now, path, out));
    }
}
