//! One watched root: its believed tree, its side buffer while it is read anew, and its state.

use super::Observatory;
use crate::change::Change;
use crate::keyed_hash::KeyedMap;
use crate::mirror::Mirror;
use crate::observation::is_other_history;
use crate::recollection::RootStatus;
use crate::root::{Link, RootId, RootState, RootTrouble};
use crate::time::TimeMs;
use crate::visits::visit;

/// How old what is shown may be and still be called live: the time since the instant up to which it is known to be
/// true.
pub const LIVE_AGE_MAX_MS: i64 = 2_000;

/// Why a view is stale although nobody said that the link is.
const UNCONFIRMED: &str = "no confirmation from ZooKeeper";

/// One watched root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootView {
    /// Its path.
    pub path: Box<str>,
    /// The believed tree.
    pub mirror: Mirror,
    pub(super) side: Option<Mirror>,
    pub(super) status: RootStatus,
    /// A tree was swapped in and not every lock is in line with it.
    pub(super) is_settling: bool,
}

impl RootView {
    pub(super) fn new(path: &str, now: TimeMs) -> Self {
        Self {
            path: path.into(),
            mirror: Mirror::default(),
            side: None,
            status: RootStatus::new(now),
            is_settling: false,
        }
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
        self.status.is_synced || self.status.trouble.is_some()
    }

    /// A tree was read anew, and its locks are being brought in line with it: instants of what changes are bounds.
    pub fn is_settling(&self) -> bool {
        self.is_settling
    }

    /// What happened in a gap is being found out: instants of what changes are bounds.
    pub fn is_comparing(&self) -> bool {
        self.status.is_comparing
    }

    /// When it was read anew because the servers went on with another history; until it is read anew once more.
    pub fn restored_at(&self) -> Option<TimeMs> {
        is_other_history(&self.status.why).then_some(self.status.since)
    }

    /// The instant up to which what is shown of it is known to be true.
    pub fn known_at(&self) -> TimeMs {
        self.status.known_at
    }

    /// The tree was read anew: nothing is known of it before the next confirmation.
    pub(super) fn doubt(&mut self) {
        self.status.is_confirmed = false;
    }

    /// Everything up to `sent_at` is in the tree. True when that may change the root's state.
    fn confirm(&mut self, sent_at: TimeMs) -> bool {
        if self.side.is_some() || self.status.is_comparing || !self.was_settled() {
            return false;
        }
        self.status.known_at = sent_at;
        std::mem::take(&mut self.status.was_old) | !std::mem::replace(&mut self.status.is_confirmed, true)
    }

    /// Looks at whether some znodes may not be read. True when that is news: then it is so since now.
    pub(super) fn follow_readability(&mut self, now: TimeMs) -> bool {
        let is_partial = self.mirror.unreadable() > 0;
        let is_news = std::mem::replace(&mut self.status.was_partial, is_partial) != is_partial;
        if is_news && self.status.trouble.is_none() {
            self.status.since = now;
        }
        is_news
    }

    /// Looks at the clock. True when the root became too old to be live, or is so no more.
    fn grow_old(&mut self, now: TimeMs) -> bool {
        let is_old = !is_fresh(self.status.known_at, now);
        std::mem::replace(&mut self.status.was_old, is_old) != is_old
    }

    /// Its state given the link's, since when, and why. Whatever is not live is shown since the instant up to which it
    /// is known to be true, whatever the reason is and however often it changes.
    pub fn state<'a>(&'a self, link: Link, link_why: &'a str, now: TimeMs) -> (RootState, TimeMs, &'a str) {
        if link != Link::Live {
            let state = if self.was_settled() { RootState::Stale } else { RootState::Syncing };
            return (state, self.status.known_at, link_why);
        }
        let state = match self.status.trouble {
            Some(RootTrouble::Gone) => RootState::Gone,
            Some(RootTrouble::Denied) => RootState::Denied,
            _ if self.side.is_some()
                || self.is_settling
                || self.status.is_comparing
                || !self.status.is_synced
                || !self.status.is_confirmed =>
            {
                return (RootState::Syncing, self.status.known_at, &self.status.why);
            }
            Some(RootTrouble::Reduced) => RootState::Reduced,
            Some(RootTrouble::Partial) => RootState::Partial,
            None if self.mirror.unreadable() > 0 => RootState::Partial,
            None => RootState::Live,
        };
        if !is_fresh(self.status.known_at, now) {
            return (RootState::Stale, self.status.known_at, UNCONFIRMED);
        }
        let why = match state {
            RootState::Partial if self.status.trouble.is_none() => "some znodes may not be read",
            _ => &self.status.why,
        };
        (state, self.status.since, why)
    }
}

impl RootView {
    /// Since when what is there is known as it is; None while it is not. Of a root that is gone it is known as well:
    /// nothing is there.
    pub(super) fn seen_since(&self, link: Link, now: TimeMs) -> Option<TimeMs> {
        match self.state(link, "", now) {
            (RootState::Live | RootState::Partial | RootState::Reduced | RootState::Gone, since, _) => Some(since),
            (RootState::Syncing | RootState::Stale | RootState::Denied, ..) => None,
        }
    }
}

/// Whether what is known up to an instant may be called live now. A clock that was set back makes nothing younger.
pub fn is_fresh(known_at: TimeMs, now: TimeMs) -> bool {
    now.0.saturating_sub(known_at.0).abs() <= LIVE_AGE_MAX_MS
}

impl Observatory {
    /// State of a root, with since when and why.
    pub fn root_state(&self, root: RootId, now: TimeMs) -> (RootState, TimeMs, &str) {
        let view = self.roots.get(root.0 as usize);
        view.map_or((RootState::Syncing, self.state.link_since, ""), |view| {
            view.state(self.state.link, &self.state.link_why, now)
        })
    }

    /// Everything the ensemble had committed at `sent_at` has arrived before this, or is being read.
    pub(super) fn confirmed(&mut self, sent_at: TimeMs, out: &mut Vec<Change>) {
        let changed = (0..)
            .zip(&mut self.roots)
            .filter_map(|(at, view)| view.confirm(sent_at).then_some(Change::RootChanged(RootId(at))));
        out.extend(changed);
    }

    /// Reports the roots that became too old to be live.
    pub(super) fn age(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let changed = (0..)
            .zip(&mut self.roots)
            .filter_map(|(at, view)| view.grow_old(now).then_some(Change::RootChanged(RootId(at))));
        out.extend(changed);
    }

    /// The root a path lies under. Roots don't nest.
    pub fn root_of(&self, path: &str) -> Option<RootId> {
        let mut above = path;
        loop {
            if let Some(root) = self.root_at(above) {
                return Some(root);
            }
            let (parent, _) = above.rsplit_once('/').filter(|_| above != "/")?;
            above = if parent.is_empty() { "/" } else { parent };
        }
    }

    /// The root of this path.
    pub fn root_at(&self, path: &str) -> Option<RootId> {
        visit(1);
        self.root_ids.get(path).copied()
    }
}

/// The roots by their paths.
pub(super) fn root_ids(roots: &[RootView]) -> KeyedMap<Box<str>, RootId> {
    roots.iter().zip(0..).map(|(view, at)| (view.path.clone(), RootId(at))).collect()
}
