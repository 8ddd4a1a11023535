//! Takes on what the operator says of locks while everything goes on.

use std::sync::Arc;

use super::Observatory;
use crate::change::Change;
use crate::configured::configured;
use crate::observation::{LockConfig, RootId};
use crate::time::TimeMs;
use crate::znode::SessionId;

impl Observatory {
    /// Has every lock looked at soon. A lock that is configured otherwise now is found again from the start, or left
    /// out.
    pub(super) fn config_changed(&mut self, now: TimeMs, config: LockConfig, out: &mut Vec<Change>) {
        if self.settings.configured == config.configured && self.settings.limits == config.limits {
            return;
        }
        let old = std::mem::replace(&mut self.settings.configured, config.configured);
        let limits = std::mem::replace(&mut self.settings.limits, config.limits);
        let is_other_required = limits.must_be_held != self.settings.limits.must_be_held;
        if is_other_required {
            self.release_required(now, &limits.must_be_held, out);
        }
        if old != self.settings.configured || is_other_required {
            let differs = |path: &&Arc<str>| configured(&old, path) != configured(&self.settings.configured, path);
            let others: Vec<Arc<str>> = self.locks.iter().map(|(path, _)| path).filter(differs).cloned().collect();
            others.iter().for_each(|path| self.vanish(now, path, out));
            for root in (0..).take(self.roots.len()).map(RootId) {
                self.recognise_all(now, root, out);
                self.require(now, root, out);
            }
        }
        let paths: Vec<Arc<str>> = self.locks.iter().map(|(path, _)| Arc::clone(path)).collect();
        for path in &paths {
            self.plan_look(now, path);
        }
        for root in (0..).take(self.roots.len()).map(RootId) {
            self.suspect_from(root, SessionId(i64::MIN), usize::MAX);
        }
        self.search(now, out);
        // Findings of the whole ensemble changed with the limits, whatever locks there are.
        out.extend((0..).take(self.roots.len()).map(|root| Change::RootChanged(RootId(root))));
    }
}
