//! One order: "held a lock of this class, then asked for one of that", with who did so and under which other locks.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::ends::{Approach, OrderEnd};
use super::{Asked, OrderedLock};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Sessions told apart by which an order was seen; more are not counted.
pub const SESSIONS_MAX: usize = 16;
/// Locks remembered that were held around an order each time.
pub const GATES_MAX: usize = 8;

/// How the two locks of an order lie to each other. Within one class the order is that of their names: who always takes
/// the first first can't close a circle, whether names are sorted as texts or by the numbers in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nesting {
    /// They are of two classes.
    Apart,
    /// Of one class, the first one first.
    Forward,
    /// Of one class, the last one first.
    Backward,
    /// Of one class, the first one first as texts go, and the last one as numbers go.
    ForwardAsText,
    /// Of one class, the last one first as texts go, and the first one as numbers go.
    BackwardAsText,
}

impl Nesting {
    /// How two locks of one class lie to each other.
    pub(super) fn within(held: &str, wanted: &str) -> Self {
        match (held < wanted, by_numbers(held, wanted) == Ordering::Less) {
            (true, true) => Self::Forward,
            (false, false) => Self::Backward,
            (true, false) => Self::ForwardAsText,
            (false, true) => Self::BackwardAsText,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Apart => Self::Apart,
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
            Self::ForwardAsText => Self::BackwardAsText,
            Self::BackwardAsText => Self::ForwardAsText,
        }
    }
}

/// Compares names by the numbers in them, and as texts where they are equal.
fn by_numbers(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    loop {
        let ((first, number, rest), (second, other_number, other_rest)) = (cut(left), cut(right));
        let order = first.cmp(second).then(number.len().cmp(&other_number.len())).then(number.cmp(other_number));
        if order != Ordering::Equal || (rest.is_empty() && other_rest.is_empty()) {
            return order.then(one.cmp(other));
        }
        (left, right) = (rest, other_rest);
    }
}

/// What stands before the first number, the number without zeros before it, and the rest.
fn cut(text: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let begin = text.iter().position(u8::is_ascii_digit).unwrap_or(text.len());
    let (first, rest) = text.split_at(begin);
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let zeros = number.iter().take_while(|digit| **digit == b'0').count();
    (first, number.get(zeros..).unwrap_or_default(), rest)
}

/// Which order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// The class of the lock that is held.
    pub held: Arc<str>,
    /// The class of the lock that is asked for.
    pub wanted: Arc<str>,
    /// How the two locks lie to each other.
    pub nesting: Nesting,
    /// It is held by a reader.
    pub is_held_shared: bool,
    /// It is asked for by a reader.
    pub is_wanted_shared: bool,
}

impl OrderKey {
    /// Whether one that wants what the other holds has to wait for it: two readers don't exclude each other.
    pub(super) fn waits_for(&self, other: &Self) -> bool {
        self.wanted == other.held && !(self.is_wanted_shared && other.is_held_shared)
    }

    /// Whether both are the other way round, and exclude each other at both ends.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        self.nesting == other.nesting.opposite() && self.waits_for(other) && other.waits_for(self)
    }

    /// From where to where those are that are the other way round.
    pub(super) fn opposites(&self) -> RangeInclusive<Self> {
        let other = |is_shared: bool| Self {
            held: Arc::clone(&self.wanted),
            wanted: Arc::clone(&self.held),
            nesting: self.nesting.opposite(),
            is_held_shared: is_shared,
            is_wanted_shared: is_shared,
        };
        other(false)..=other(true)
    }

    /// The smallest of those that hold a lock of a class.
    pub(super) fn first_of(held: &Arc<str>) -> Self {
        Self {
            held: Arc::clone(held),
            wanted: "".into(),
            nesting: Nesting::Apart,
            is_held_shared: false,
            is_wanted_shared: false,
        }
    }
}

/// The last time that an order was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderUse {
    /// When the second lock was asked for.
    pub at: TimeMs,
    /// Who did.
    pub session: SessionId,
    /// Who that is by what its hold says of it.
    pub label: Option<Box<str>>,
    /// The lock that it held.
    pub held: Arc<str>,
    /// The lock that it asked for.
    pub wanted: Arc<str>,
}

/// What was seen of one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderEdge {
    /// How often.
    pub count: u64,
    /// The last time.
    pub last: OrderUse,
    /// By whom, as far as [`SESSIONS_MAX`] goes.
    pub sessions: BTreeSet<SessionId>,
    /// Locks that were held for themselves alone around it each time: gates.
    pub gates: BTreeSet<Arc<str>>,
    /// Some session that did so held little else and waited for nothing else: it did it in one thread.
    pub is_single_threaded: bool,
    /// When the last sessions ended to do so.
    pub ends: Vec<OrderEnd>,
    /// How near one came to another that did the opposite, as the later of both.
    pub closest: Option<Approach>,
}

impl OrderEdge {
    pub(super) fn new(
        asked: &Asked<'_>,
        held: &OrderedLock<'_>,
        gates: BTreeSet<Arc<str>>,
        is_single_threaded: bool,
    ) -> Self {
        let last = OrderUse {
            at: asked.at,
            session: asked.session,
            label: held.label.map(Into::into),
            held: Arc::clone(held.path),
            wanted: Arc::clone(asked.wanted.path),
        };
        let sessions = BTreeSet::from([asked.session]);
        Self { count: 1, last, sessions, gates, is_single_threaded, ends: Vec::new(), closest: None }
    }

    /// Notes once more; whether that may make a warning of what was none.
    pub(super) fn note(
        &mut self,
        asked: &Asked<'_>,
        held: &OrderedLock<'_>,
        gates: &BTreeSet<Arc<str>>,
        is_single_threaded: bool,
    ) -> bool {
        self.count += 1;
        self.is_single_threaded |= is_single_threaded;
        let is_another = self.add_session(asked.session);
        let before = self.gates.len();
        self.gates.retain(|gate| gates.contains(gate));
        let last = &mut self.last;
        (last.at, last.session) = (asked.at, asked.session);
        if last.label.as_deref() != held.label {
            last.label = held.label.map(Into::into);
        }
        if !Arc::ptr_eq(&last.held, held.path) {
            last.held = Arc::clone(held.path);
        }
        if !Arc::ptr_eq(&last.wanted, asked.wanted.path) {
            last.wanted = Arc::clone(asked.wanted.path);
        }
        is_another || self.gates.len() < before
    }

    fn add_session(&mut self, session: SessionId) -> bool {
        self.sessions.len() < SESSIONS_MAX && self.sessions.insert(session)
    }

    /// Takes in what was another order before their classes became one.
    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        if other.last.at >= self.last.at {
            self.last = other.last;
        }
        other.sessions.into_iter().for_each(|session| {
            self.add_session(session);
        });
        self.gates.retain(|gate| other.gates.contains(gate));
        self.is_single_threaded |= other.is_single_threaded;
        other.ends.into_iter().for_each(|end| self.end(end));
        self.closest = match (self.closest.take(), other.closest) {
            (Some(one), Some(other)) => Some(if other.ms < one.ms { other } else { one }),
            (one, other) => one.or(other),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_texts_and_by_their_numbers() {
        assert_eq!(Nesting::within("/t/1", "/t/2"), Nesting::Forward);
        assert_eq!(Nesting::within("/t/b", "/t/a"), Nesting::Backward);
        assert_eq!(Nesting::within("/t/10", "/t/9"), Nesting::ForwardAsText);
        assert_eq!(Nesting::within("/t/9", "/t/10"), Nesting::BackwardAsText);
        assert_eq!(Nesting::within("/t/007", "/t/7"), Nesting::Forward);
        assert_eq!(by_numbers("/t/7", "/t/7"), Ordering::Equal);
    }

    #[test]
    fn an_order_has_one_opposite_and_its_opposite_is_itself() {
        let key = |nesting| OrderKey { nesting, ..OrderKey::first_of(&"/a".into()) };
        for nesting in
            [Nesting::Apart, Nesting::Forward, Nesting::Backward, Nesting::ForwardAsText, Nesting::BackwardAsText]
        {
            assert_eq!(key(nesting).nesting.opposite().opposite(), nesting);
        }
    }

    #[test]
    fn readers_of_one_class_are_no_opposites() {
        let key = |is_held_shared, is_wanted_shared| OrderKey {
            wanted: "/b".into(),
            is_held_shared,
            is_wanted_shared,
            ..OrderKey::first_of(&"/a".into())
        };
        let opposites = |one: &OrderKey| {
            let modes = [(false, false), (false, true), (true, false), (true, true)];
            let other = |(is_held_shared, is_wanted_shared)| OrderKey {
                held: "/b".into(),
                wanted: "/a".into(),
                is_held_shared,
                is_wanted_shared,
                ..one.clone()
            };
            let others: Vec<OrderKey> = modes.map(other).into_iter().filter(|other| one.opposes(other)).collect();
            assert!(others.iter().all(|other| one.opposites().contains(other) && other.opposes(one)));
            others.len()
        };
        assert_eq!(opposites(&key(false, false)), 4);
        assert_eq!(opposites(&key(true, false)), 2, "only those that want to write what this one reads");
        assert_eq!(opposites(&key(true, true)), 1);
    }
}
