//! One watched root: its believed tree, its side buffer while it is read anew, and its state.

use super::Observatory;
use crate::domain::mirror::Mirror;
use crate::domain::observation::{Link, RootId, RootTrouble};
use crate::domain::time::TimeMs;
use crate::domain::znode::is_under;

/// State of a root's view. Meanings as in the wire's enum of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum RootState {
    Live,
    Syncing,
    Stale,
    Partial,
    Denied,
    Gone,
    Reduced,
}

/// One watched root.
#[derive(Clone, Debug)]
pub struct RootView {
    /// Its path.
    pub path: Box<str>,
    /// The believed tree.
    pub mirror: Mirror,
    pub(super) side: Option<Mirror>,
    pub(super) why: Box<str>,
    pub(super) trouble: Option<RootTrouble>,
    pub(super) synced: bool,
    pub(super) since: TimeMs,
}

impl RootView {
    pub(super) fn new(path: &str, now: TimeMs) -> Self {
        Self { path: path.into(), mirror: Mirror::default(), side: None, why: "first sync".into(), trouble: None, synced: false, since: now }
    }

    /// Applies a change to the believed tree and, during a sync, to the side buffer.
    pub(super) fn each_tree(&mut self, mut change: impl FnMut(&mut Mirror) -> bool) -> bool {
        if let Some(side) = &mut self.side {
            change(side);
        }
        change(&mut self.mirror)
    }

    /// It left its first sync, if only to be found gone or denied.
    pub fn was_settled(&self) -> bool {
        self.synced || self.trouble.is_some()
    }

    /// Its state given the link's, since when, and why.
    pub fn state<'a>(&'a self, link: Link, link_since: TimeMs, link_why: &'a str) -> (RootState, TimeMs, &'a str) {
        if link != Link::Live {
            let state = if self.was_settled() { RootState::Stale } else { RootState::Syncing };
            return (state, link_since, link_why);
        }
        match (self.trouble, self.side.is_some() || !self.synced) {
            (Some(RootTrouble::Gone), _) => (RootState::Gone, self.since, &self.why),
            (Some(RootTrouble::Denied), _) => (RootState::Denied, self.since, &self.why),
            (_, true) => (RootState::Syncing, self.since, &self.why),
            (Some(RootTrouble::Reduced), false) => (RootState::Reduced, self.since, &self.why),
            (None, false) if self.mirror.unreadable() > 0 => (RootState::Partial, self.since, "some znodes may not be read"),
            (None, false) => (RootState::Live, self.since, ""),
        }
    }
}

impl Observatory {
    /// State of a root, with since when and why.
    pub fn root_state(&self, root: RootId) -> (RootState, TimeMs, &str) {
        let view = self.roots.get(root.0 as usize);
        view.map_or((RootState::Syncing, self.link_since, ""), |view| view.state(self.link, self.link_since, &self.link_why))
    }

    /// The root a path lies under.
    pub fn root_of(&self, path: &str) -> Option<RootId> {
        (0..).zip(&self.roots).find(|(_, view)| is_under(path, &view.path)).map(|(at, _)| RootId(at))
    }
}
