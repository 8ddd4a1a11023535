//! In which order sessions take locks: told to `lock_order` as it happens.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Observatory;
use super::waits::is_waited_for;
use crate::change::Change;
use crate::lock::{ContenderRef, Lock};
use crate::lock_order::{Asked, LockOrders, OrderSnooze, OrderedLock};
use crate::recipe::{Access, Recipe, Shape};
use crate::root::RootId;
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Znodes of a session that are looked at when it asks for a lock; of one that has more, what these hold is learned.
const OWNED_LOOK_MAX: usize = 32;

impl Observatory {
    /// In which order locks are taken.
    pub fn lock_orders(&self) -> &LockOrders {
        &self.orders
    }

    /// A session that has several znodes made one more, in a lock: what it holds was held before.
    pub(super) fn note_order(&mut self, now: TimeMs, session: SessionId, path: &Arc<str>, node: (&str, &str)) {
        let mut orders = std::mem::take(&mut self.orders);
        let concerned = self.asked(session, path, node).map(|asked| orders.note(&asked));
        self.orders = orders;
        self.look_at_ordered(now, concerned.unwrap_or_default());
    }

    /// What a session asks for by a znode of a lock, and what it holds.
    fn asked(&self, session: SessionId, path: &str, (directory, name): (&str, &str)) -> Option<Asked<'_>> {
        let lock = self.locks.get(path).filter(|lock| is_ordered(lock))?;
        let view = self.roots.get(lock.root.0 as usize).filter(|view| !view.status.is_comparing)?;
        let (_, child) = view.mirror.directory(directory)?.child(name)?;
        let read = child.read.as_ref()?;
        let wanted = OrderedLock {
            path: &lock.path,
            czxid: read.czxid,
            label: None,
            is_shared: lock.recognition.access(child.rule) == Access::Read,
        };
        let (mut held, mut waits_elsewhere) = (Vec::new(), false);
        let is_other = |found: &ContenderRef<'_>| found.key.name() != name || **found.directory != *directory;
        let spots = self.spots_where(session, is_other).take(OWNED_LOOK_MAX);
        for spot in spots.filter(|spot| spot.lock.path != lock.path) {
            let Some(hold) = spot.hold else {
                waits_elsewhere |= is_waited_for(spot.lock);
                continue;
            };
            if let Some(czxid) = hold.czxid.filter(|_| is_ordered(spot.lock) && hold.since <= child.arrived_at) {
                let is_shared = hold.access == Access::Read;
                held.push(OrderedLock { path: &spot.lock.path, czxid, label: hold.label.as_deref(), is_shared });
            }
        }
        (!held.is_empty()).then_some(Asked { session, at: child.arrived_at, wanted, held, waits_elsewhere })
    }

    /// Some warnings are silenced.
    pub(super) fn orders_snoozed(&mut self, now: TimeMs, snoozes: Vec<OrderSnooze>, out: &mut Vec<Change>) {
        let before = self.orders.snoozes.clone();
        let concerned = self.orders.snooze(now, snoozes);
        self.look_at_ordered(now, concerned);
        if self.orders.snoozes == before {
            return;
        }
        // Warnings are of the whole ensemble, whatever locks there are.
        out.extend((0..).take(self.roots.len()).map(|root| Change::RootChanged(RootId(root))));
    }

    /// Old orders are forgotten now and then, and snoozes end.
    pub(super) fn sweep_orders(&mut self, now: TimeMs) {
        let mut orders = std::mem::take(&mut self.orders);
        let ended = orders.end_snoozes(now);
        let concerned =
            orders.sweep(now, |session| self.roots_of(session).any(|view| view.mirror.owns_at_least(session, 1)));
        self.orders = orders;
        self.look_at_ordered(now, ended);
        self.look_at_ordered(now, concerned);
    }

    fn look_at_ordered(&mut self, now: TimeMs, concerned: BTreeSet<Arc<str>>) {
        concerned.iter().for_each(|path| self.plan_look(now, path));
    }
}

/// Its contenders exclude each other, let it go once they had it, and can't go on with another one of its kind.
fn is_ordered(lock: &Lock) -> bool {
    let recognition = &lock.recognition;
    matches!(recognition.recipe, Recipe::SequentialMutex | Recipe::ReadWrite | Recipe::SingleNodeMutex)
        && matches!(recognition.shape, Shape::Line | Shape::Fixed | Shape::Alone)
        && recognition.is_meant_to_pass()
        && recognition.admits() == 1
}
