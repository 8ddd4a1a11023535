//! What to warn of, and how sure that is.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::circle::{self, OrderCircle};
use super::edge::{Nesting, OrderEdge, OrderKey};
use super::ends::Approach;
use super::snooze::{OrderSnooze, circle_classes};
use super::{CIRCLES_MAX, LockOrders};
use crate::recipe::Confidence;
use crate::sentence::{Oddity, oddity_sentence};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// A deadlock that may come.
#[derive(Clone, Debug)]
pub struct OrderWarning<'a> {
    /// The circle.
    pub circle: &'a OrderCircle,
    /// What was seen of each of its orders; of readers and writers the same.
    pub orders: Vec<&'a OrderEdge>,
    /// It is silenced.
    pub snooze: Option<&'a OrderSnooze>,
}

impl OrderWarning<'_> {
    /// The classes it goes through, in order; one where its locks are of one class.
    pub fn classes(&self) -> Vec<&Arc<str>> {
        let mut classes: Vec<&Arc<str>> = self.circle.classes().collect();
        classes.dedup();
        classes
    }

    /// By which a snooze is of this warning: its classes from the smallest on.
    pub fn snoozed_classes(&self) -> Vec<Arc<str>> {
        circle_classes(self.circle)
    }

    /// What the sentence says.
    pub fn oddity(&self) -> Oddity {
        Oddity::LockOrder { classes: self.classes().into_iter().map(|class| class.to_string()).collect() }
    }

    /// What is wrong, in one sentence.
    pub fn sentence(&self) -> String {
        oddity_sentence(&self.oddity())
    }

    /// How often its orders were seen.
    pub fn count(&self) -> u64 {
        self.orders.iter().map(|order| order.count).sum()
    }

    /// By whom, as far as they are told apart.
    pub fn sessions(&self) -> BTreeSet<SessionId> {
        self.orders.iter().flat_map(|order| order.sessions.iter().copied()).collect()
    }

    /// How near two sessions came. Of a circle of more than two orders it is not measured.
    pub fn closest(&self) -> Option<Approach> {
        let approaches = self.orders.iter().filter_map(|order| order.closest);
        approaches.filter(|_| self.circle.orders.len() == 2).min_by_key(|approach| (approach.ms, approach.at))
    }

    /// How sure it is. Less where an order was only seen of sessions that hold much or wait elsewhere: they serve several
    /// threads, and another thread may hold what one asks for. And less where a class stands for many locks, unless the
    /// same two were taken both ways.
    pub fn confidence(&self) -> Confidence {
        let is_shared = self.orders.iter().any(|order| !order.is_single_threaded);
        let is_wide = self.circle.classes().any(|class| class.contains('*')) && self.closest().is_none();
        match (is_shared, is_wide) {
            (false, false) => Confidence::High,
            (true, true) => Confidence::Low,
            _ => Confidence::Medium,
        }
    }
}

impl LockOrders {
    /// What there is to warn of, the oldest first; what is silenced as well.
    pub fn warnings(&self) -> impl Iterator<Item = OrderWarning<'_>> {
        self.circles.iter().map(|circle| OrderWarning {
            circle,
            orders: circle.orders.iter().filter_map(|key| self.edges.get(key)).collect(),
            snooze: self.snooze_of(circle),
        })
    }

    /// The first warning in which a lock was seen that is not silenced.
    pub fn warning_of(&self, path: &str) -> Option<OrderWarning<'_>> {
        self.warnings().find(|warning| warning.snooze.is_none() && warning.circle.locks.contains(path))
    }

    /// Looks for circles that an order is part of; the locks of those that are new.
    pub(super) fn warn(&mut self, key: &OrderKey, now: TimeMs) -> BTreeSet<Arc<str>> {
        let mut concerned = BTreeSet::new();
        for orders in circle::circles(&self.edges, key) {
            let uses = orders.iter().filter_map(|order| self.edges.get(order)).map(|edge| &edge.last);
            let locks = uses.flat_map(|last| [Arc::clone(&last.held), Arc::clone(&last.wanted)]).collect();
            let circle = OrderCircle { orders: from_smallest(orders), since: now, locks };
            // A smaller circle among the same classes says it already, unless it is silenced.
            let classes = circle.classes().collect();
            let is_one_class = circle.is_within_one_class();
            let is_known =
                |known: &OrderCircle| known.is_within_one_class() == is_one_class && known.is_within(&classes);
            let says = |known: &OrderCircle| known.orders == circle.orders || self.snooze_of(known).is_none();
            let is_known = self.circles.iter().any(|known| is_known(known) && says(known));
            if !is_known && self.circles.len() < CIRCLES_MAX {
                concerned.extend(circle.locks.iter().cloned());
                self.circles.push(circle);
            }
        }
        concerned
    }

    /// The same after classes became one: circles that stand keep since when they are known.
    pub(super) fn warn_anew(&mut self) {
        let before = std::mem::take(&mut self.circles);
        for circle in before {
            let keys = circle.orders.iter().flat_map(|key| {
                let (held, wanted) = (self.classes.class_of(&key.held), self.classes.class_of(&key.wanted));
                let here = self.edges.range(OrderKey::first_of(&held)..);
                let here = here.map(|(key, _)| key).take_while(move |key| key.held == held);
                here.filter(move |key| key.wanted == wanted).cloned().collect::<Vec<_>>()
            });
            let keys: BTreeSet<OrderKey> = keys.collect();
            keys.iter().for_each(|key| {
                self.warn(key, circle.since);
            });
        }
    }
}

/// The same circle from its smallest order on, so that it is one wherever it was found.
fn from_smallest(mut orders: Vec<OrderKey>) -> Vec<OrderKey> {
    let first = (0..orders.len()).min_by_key(|at| orders.get(*at)).unwrap_or(0);
    orders.rotate_left(first);
    orders
}

impl OrderCircle {
    /// Its locks are of one class.
    pub fn is_within_one_class(&self) -> bool {
        self.orders.iter().all(|order| order.nesting != Nesting::Apart)
    }
}
