//! Warnings that an operator silenced. A snooze is of one warning, by the classes that it goes through: it never says
//! anything of another one. Where classes become one, the warning is another one, and is given again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::LockOrders;
use super::circle::OrderCircle;
use super::edge::OrderKey;
use crate::time::TimeMs;

/// Snoozes at a time; more are not taken in.
pub const SNOOZES_MAX: usize = 64;
/// Orders from which longer circles are looked for when a warning is snoozed that stood for them.
const HIDDEN_ORDERS_MAX: usize = 64;

/// One warning that is silenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSnooze {
    /// Its number.
    pub id: u64,
    /// The classes of the warning, in order and from the smallest on; one where its locks are of one class.
    pub classes: Vec<Arc<str>>,
    /// Who silenced it.
    pub by: Box<str>,
    /// Why.
    pub reason: Box<str>,
    /// When.
    pub at: TimeMs,
    /// Until when; None: for good.
    pub until: Option<TimeMs>,
}

impl OrderSnooze {
    /// Whether it is over.
    pub fn is_over(&self, now: TimeMs) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// The classes of a circle, each once, from the smallest on: the same wherever the circle was begun.
pub(super) fn circle_classes(circle: &OrderCircle) -> Vec<Arc<str>> {
    let mut classes: Vec<Arc<str>> = circle.classes().cloned().collect();
    classes.dedup();
    let first = (0..classes.len()).min_by_key(|at| classes.get(*at)).unwrap_or(0);
    classes.rotate_left(first);
    classes
}

impl LockOrders {
    /// The snooze of a circle.
    pub(super) fn snooze_of(&self, circle: &OrderCircle) -> Option<&OrderSnooze> {
        if self.snoozes.is_empty() {
            return None;
        }
        let classes = circle_classes(circle);
        self.snoozes.iter().find(|snooze| snooze.classes == classes)
    }

    /// Takes in which warnings are silenced from now on: these and no others. The locks of which something else is said.
    pub(crate) fn snooze(&mut self, now: TimeMs, mut snoozes: Vec<OrderSnooze>) -> BTreeSet<Arc<str>> {
        snoozes.retain(|snooze| !snooze.is_over(now));
        snoozes.truncate(SNOOZES_MAX);
        if snoozes == self.snoozes {
            return BTreeSet::new();
        }
        let before = self.silent();
        self.snoozes = snoozes;
        let mut concerned = self.look_behind(now);
        let after = self.silent();
        let changed = before.symmetric_difference(&after);
        let locks = changed.filter_map(|orders| self.circles.iter().find(|circle| circle.orders == *orders));
        concerned.extend(locks.flat_map(|circle| circle.locks.iter().cloned()));
        concerned
    }

    /// Snoozes end by themselves; the locks of which something is said again.
    pub(crate) fn end_snoozes(&mut self, now: TimeMs) -> BTreeSet<Arc<str>> {
        if !self.snoozes.iter().any(|snooze| snooze.is_over(now)) {
            return BTreeSet::new();
        }
        self.snooze(now, self.snoozes.clone())
    }

    /// The circles that are silenced.
    fn silent(&self) -> BTreeSet<Vec<OrderKey>> {
        let silent = self.circles.iter().filter(|circle| self.snooze_of(circle).is_some());
        silent.map(|circle| circle.orders.clone()).collect()
    }

    /// A warning also stands for longer circles through its classes. Who silences it does not silence those.
    fn look_behind(&mut self, now: TimeMs) -> BTreeSet<Arc<str>> {
        let silent = self.circles.iter().filter(|circle| self.snooze_of(circle).is_some());
        let classes: BTreeSet<Arc<str>> = silent.flat_map(|circle| circle.classes().cloned()).collect();
        let keys = self.edges.keys().filter(|key| classes.contains(&key.held));
        let keys: Vec<OrderKey> = keys.take(HIDDEN_ORDERS_MAX).cloned().collect();
        keys.iter().flat_map(|key| self.warn(key, now)).collect()
    }
}
