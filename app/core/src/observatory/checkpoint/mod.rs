//! A checkpoint: everything believed and learned as observations. Taken in by an observatory they make one that is equal
//! to this in every respect, and stays so whatever is observed then.
//!
//! What can be made anew from the rest is left out: sums over children, the index of who owns what, which locks are free
//! or gone, when each lock is looked at again. Every struct is taken apart field by field, so that nobody can add one and
//! forget it here.

mod take;

use std::collections::VecDeque;
use std::sync::Arc;

use super::event_log::EventLog;
use super::root::RootView;
use super::{Observatory, Settings};
use crate::assessment::AssessedLock;
use crate::change::EventRecord;
use crate::evidence::MemberEvidence;
use crate::history::{History, SessionEvent};
use crate::lock_order::LockOrders;
use crate::mirror::{Mirror, SharedDirectories};
use crate::observation::{Observation, RootId};
use crate::recollection::{ModelRecollection, PIECE_MAX, Recollection, RootRecollection, Tree};

/// Everything as it was at one instant. Locks, directories and sessions are shared with the observatory: each is copied
/// when it next changes there, as long as this exists. So taking one is quick, and whoever has it may walk through it on
/// another thread.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    settings: Settings,
    roots: Vec<SharedRoot>,
    locks: Vec<Arc<AssessedLock>>,
    evidence: MemberEvidence,
    happenings: VecDeque<SessionEvent>,
    events: VecDeque<EventRecord>,
    orders: LockOrders,
    model: ModelRecollection,
}

#[derive(Clone, Debug)]
struct SharedRoot {
    state: RootRecollection,
    believed: SharedDirectories,
    side: Option<SharedDirectories>,
}

impl Checkpoint {
    /// Everything, as observations; at which instants they are applied does not matter. Made one by one.
    pub fn observations(&self) -> impl Iterator<Item = Observation> {
        let Self { settings, roots, locks, evidence, happenings, events, orders, model } = self;
        let opening = std::iter::once_with(|| Recollection::Opening(settings.clone()));
        let roots = roots.iter().flat_map(SharedRoot::recall);
        let locks = locks.iter().map(|lock| Recollection::Lock(Box::new(AssessedLock::clone(lock))));
        let happenings = pieces(happenings.iter().cloned(), Recollection::SessionEvents);
        let events = pieces(events.iter().cloned(), Recollection::EventRecords);
        let snoozes = pieces(orders.snoozes.iter().cloned(), Recollection::OrderSnoozes);
        let orders = orders.recall().map(|part| Recollection::LockOrders(Box::new(part)));
        let model = std::iter::once_with(|| Recollection::Model(Box::new(model.clone())));
        let parts = opening.chain(roots).chain(locks).chain(evidence.recall());
        parts
            .chain(happenings)
            .chain(events)
            .chain(orders)
            .chain(snoozes)
            .chain(model)
            .map(|part| Observation::Recalled(Box::new(part)))
    }
}

impl Observatory {
    /// Everything as it is now. None while something was begun and is not done ([`Self::has_backlog`]).
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        if self.has_backlog() {
            return None;
        }
        let Self {
            settings,
            roots,
            locks,
            history,
            evidence,
            recorder,
            // Made anew from the settings, the trees and the locks.
            root_ids: _,
            owners: _,
            index: _,
            rechecks: _,
            // Empty.
            backlog: _,
            state,
            orders,
            revision,
            depth_slice,
        } = self;
        let (EventLog { last, ring: events, roots: root_states }, History { ring: happenings }) = (recorder, history);
        let model = ModelRecollection {
            state: state.clone(),
            last_event: *last,
            root_states: root_states.clone(),
            revision: *revision,
            depth_slice: *depth_slice,
        };
        Some(Checkpoint {
            settings: settings.clone(),
            roots: (0..).zip(roots).map(|(root, view)| view.share(RootId(root))).collect(),
            locks: locks.share().into_iter().map(|(_, lock)| lock).collect(),
            evidence: evidence.clone(),
            happenings: happenings.clone(),
            events: events.clone(),
            orders: orders.clone(),
            model,
        })
    }
}

impl RootView {
    fn share(&self, root: RootId) -> SharedRoot {
        let Self {
            // In the settings.
            path: _,
            mirror,
            side,
            status,
            // Only while there is a backlog.
            is_settling: _,
        } = self;
        let state = RootRecollection {
            root,
            status: status.clone(),
            next_directory: mirror.next_directory(),
            next_side_directory: side.as_ref().map(Mirror::next_directory),
        };
        SharedRoot { state, believed: mirror.share(), side: side.as_ref().map(Mirror::share) }
    }
}

impl SharedRoot {
    fn recall(&self) -> impl Iterator<Item = Recollection> {
        let Self { state, believed, side } = self;
        let root = state.root;
        let side = side.iter().flat_map(move |side| side.recall(root, Tree::Side));
        let state = std::iter::once_with(|| Recollection::Root(state.clone()));
        state.chain(believed.recall(root, Tree::Believed)).chain(side)
    }
}

/// A long list in pieces.
fn pieces<T>(
    mut list: impl Iterator<Item = T>,
    part: impl Fn(Vec<T>) -> Recollection,
) -> impl Iterator<Item = Recollection> {
    std::iter::from_fn(move || {
        let some: Vec<T> = list.by_ref().take(PIECE_MAX).collect();
        (!some.is_empty()).then(|| part(some))
    })
}
