//! Orders that lead back to where they began: two opposite ones, or a longer circle. Looked for when an order is new, or
//! is seen of another session, or without a lock that was held around it before; so what is only repeated costs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::edge::{Nesting, OrderEdge, OrderKey};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Orders of the longest circle that is looked for.
pub const CIRCLE_LENGTH_MAX: usize = 4;
/// Orders looked at in one search.
const STEPS_MAX: usize = 512;

/// Orders that lead back to where they began, each seen of another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderCircle {
    /// The orders; each wants what the next one holds.
    pub orders: Vec<OrderKey>,
    /// When it came to be known.
    pub since: TimeMs,
    /// The locks in which it was last seen then.
    pub locks: BTreeSet<Arc<str>>,
}

type Edges = BTreeMap<OrderKey, OrderEdge>;

/// The circles that an order is part of and that nothing speaks against, the shortest first.
pub(super) fn circles(edges: &Edges, key: &OrderKey) -> Vec<Vec<OrderKey>> {
    let opposites = edges.range(key.opposites()).map(|(other, _)| other).filter(|other| key.opposes(other));
    let mut found: Vec<Vec<OrderKey>> = opposites.map(|other| vec![key.clone(), other.clone()]).collect();
    if key.nesting == Nesting::Apart {
        let (mut steps, mut way) = (STEPS_MAX, vec![key.clone()]);
        for length in 3..=CIRCLE_LENGTH_MAX {
            follow(edges, length, &mut way, &mut steps, &mut found);
        }
    }
    found.retain(|circle| is_dangerous(edges, circle));
    found
}

fn follow(edges: &Edges, length: usize, way: &mut Vec<OrderKey>, steps: &mut usize, found: &mut Vec<Vec<OrderKey>>) {
    let (Some(first), Some(last)) = (way.first().cloned(), way.last().cloned()) else { return };
    let next = edges.range(OrderKey::first_of(&last.wanted)..).map(|(key, _)| key);
    for key in next.take_while(|key| key.held == last.wanted) {
        if *steps == 0 {
            return;
        }
        *steps -= 1;
        let is_new = way.iter().all(|order| order.held != key.wanted);
        if key.nesting != Nesting::Apart || !last.waits_for(key) {
            continue;
        }
        if way.len() + 1 == length {
            if key.waits_for(&first) {
                found.push(way.iter().chain([key]).cloned().collect());
            }
        } else if is_new {
            way.push(key.clone());
            follow(edges, length, way, steps, found);
            way.pop();
        }
    }
}

/// Whether different sessions may do all of it at once: each order was seen of another session, and no two were always
/// under the same lock.
fn is_dangerous(edges: &Edges, circle: &[OrderKey]) -> bool {
    let orders: Vec<&OrderEdge> = circle.iter().filter_map(|key| edges.get(key)).collect();
    let is_gated = (0..).zip(&orders).any(|(at, one)| {
        orders.iter().skip(at + 1).any(|other| one.gates.iter().any(|gate| other.gates.contains(gate)))
    });
    orders.len() == circle.len() && !is_gated && have_sessions(&orders, &mut Vec::new())
}

/// Whether each order can be given a session of its own.
fn have_sessions(orders: &[&OrderEdge], taken: &mut Vec<SessionId>) -> bool {
    let Some((first, rest)) = orders.split_first() else { return true };
    for session in &first.sessions {
        if taken.contains(session) {
            continue;
        }
        taken.push(*session);
        if have_sessions(rest, taken) {
            return true;
        }
        taken.pop();
    }
    false
}

impl OrderCircle {
    /// The classes that it goes through, in order.
    pub fn classes(&self) -> impl Iterator<Item = &Arc<str>> {
        self.orders.iter().map(|order| &order.held)
    }

    /// Whether all its classes are among these.
    pub(super) fn is_within(&self, classes: &BTreeSet<&Arc<str>>) -> bool {
        self.classes().all(|class| classes.contains(class))
    }
}
