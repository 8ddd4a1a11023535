//! The server was started again, and goes on with what it believed before: a gap in the view, as after a lost link.

use std::sync::Arc;

use super::Observatory;
use super::event_log::EventLog;
use super::root::{RootView, root_ids};
use crate::change::Change;
use crate::observation::{Link, LockConfig, RootId};
use crate::settings::Settings;
use crate::time::TimeMs;

/// Why nothing is known of now.
const RESTARTED: &str = "Lockscope was started again";

impl Observatory {
    /// What was believed stays, as old as it is, until the first sync says what it became: who holds by the same czxid
    /// goes on holding since then. Settings are those of now.
    pub(super) fn restarted(&mut self, now: TimeMs, settings: Settings, out: &mut Vec<Change>) {
        let Settings { roots, thresholds, configured, limits } = settings;
        self.settings.thresholds = thresholds;
        if roots != self.settings.roots {
            self.take_over_roots(now, roots, out);
        }
        for (view, root) in self.roots.iter_mut().zip(0..) {
            (view.side, view.status.is_comparing) = (None, false);
            (view.status.why, view.status.since) = (RESTARTED.into(), now);
            view.doubt();
            out.push(Change::RootChanged(RootId(root)));
        }
        self.link_changed(now, Link::Lost, None, RESTARTED.into(), out);
        self.state.offset.forget_evidence();
        self.orders.forget_windows();
        self.config_changed(now, LockConfig { configured, limits }, out);
    }

    /// Other roots are watched now: those that were before go on under their new numbers, what was under others is gone.
    fn take_over_roots(&mut self, now: TimeMs, roots: Vec<String>, out: &mut Vec<Change>) {
        let number = |path: &str| (0..).zip(&roots).find(|(_, root)| **root == *path).map(|(at, _)| RootId(at));
        let numbers: Vec<Option<RootId>> = self.roots.iter().map(|view| number(&view.path)).collect();
        let number_of = |before: RootId| numbers.get(before.0 as usize).copied().flatten();
        let gone = self.locks.iter().filter(|(_, lock)| number_of(lock.root).is_none());
        let gone: Vec<Arc<str>> = gone.map(|(path, _)| Arc::clone(path)).collect();
        gone.iter().for_each(|path| self.vanish(now, path, out));
        for lock in self.locks.values_mut() {
            if let Some(number) = number_of(lock.root) {
                lock.root = number;
            }
        }
        let mut before = std::mem::take(&mut self.roots);
        let taken_over = roots.iter().map(|path| {
            let known = before.iter().position(|view| *view.path == **path);
            known.map_or_else(|| RootView::new(path, now), |at| before.swap_remove(at))
        });
        self.roots = taken_over.collect();
        self.root_ids = root_ids(&self.roots);
        self.index_owners();
        self.settings.roots = roots;
        // What was noted before names roots by their numbers.
        self.recorder = EventLog { last: self.recorder.last, ..EventLog::default() };
    }
}
