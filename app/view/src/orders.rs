//! In which order sessions take locks, and where that may end in a deadlock.

use serde::{Deserialize, Serialize};

use super::{Confidence, SessionId};

/// Answer of `/api/v1/orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockOrders {
    /// Which lock was asked for while which was held.
    pub edges: Vec<LockOrder>,
    /// Deadlocks that may come: sessions take the same locks in opposite orders, or in a circle.
    pub warnings: Vec<OrderWarning>,
    /// Warnings that are silenced, those that are not given at present as well.
    pub snoozes: Vec<OrderSnooze>,
}

/// A warning that an operator silenced. It says nothing of other warnings, of the same locks neither.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderSnooze {
    /// Its number.
    pub id: u64,
    /// The ensemble.
    pub ensemble: String,
    /// The classes of the warning, as `a`, `b` and `through` name them; one where all its locks are of one class.
    pub classes: Vec<String>,
    /// Who silenced it.
    pub by: String,
    /// When, ms since the epoch.
    pub at_ms: i64,
    /// Until when, ms since the epoch; null: for good.
    pub until_at_ms: Option<i64>,
    /// Why.
    pub reason: String,
}

/// Sessions held a lock of one class and asked for one of another. A class is a lock's path; where more than 32 locks in
/// orders differ at one place of their paths, that place is `*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockOrder {
    /// The ensemble.
    pub ensemble: String,
    /// The class of the lock that was held.
    pub held: String,
    /// The class of the lock that was asked for.
    pub wanted: String,
    /// How often that was seen.
    pub count: u64,
    /// By how many sessions; more than 16 that did so in the same way are not told apart.
    pub sessions: u32,
    /// When it was seen last, ms since the epoch.
    pub last_at_ms: i64,
}

/// A deadlock that may come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderWarning {
    /// The ensemble.
    pub ensemble: String,
    /// The first class of the circle.
    pub a: String,
    /// The second one; the same where different sessions take locks of one class in opposite orders.
    pub b: String,
    /// The classes of a longer circle behind these two.
    pub through: Vec<String>,
    /// How often its orders were seen.
    pub count: u64,
    /// By how many sessions in all.
    pub sessions: u32,
    /// How near two of them came to each other: the shortest time between a stretch in which one held the first and asked
    /// for the second, and a stretch in which another did the opposite with the same two locks; 0 when they overlapped.
    /// Null while that was not seen, and for longer circles.
    pub closest_ms: Option<i64>,
    /// When that was.
    pub closest_at_ms: Option<i64>,
    /// How sure it is. Lower where a session seems to serve several threads, and where a class stands for many locks.
    pub confidence: Confidence,
    /// What is wrong.
    pub sentence: String,
    /// Since when it is known, ms since the epoch.
    pub since_ms: i64,
    /// Each of its orders as it was seen last.
    pub last: Vec<OrderSeen>,
    /// By which it is silenced: its locks have no finding of it then. Null while it is not.
    pub snoozed_by: Option<OrderSnooze>,
}

impl OrderWarning {
    /// Its classes in order, from the smallest on, each once: what a snooze of it names.
    pub fn classes(&self) -> Vec<String> {
        let mut classes: Vec<String> = [&self.a, &self.b].into_iter().chain(&self.through).cloned().collect();
        classes.dedup();
        let first = (0..classes.len()).min_by_key(|at| classes.get(*at)).unwrap_or(0);
        classes.rotate_left(first);
        classes
    }
}

/// One order of a circle, as it was seen last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderSeen {
    /// The lock that was held.
    pub held: String,
    /// The lock that was asked for.
    pub wanted: String,
    /// By whom.
    pub session_id: SessionId,
    /// Who its client said it was.
    pub label: Option<String>,
    /// How often the order was seen.
    pub count: u64,
    /// When, ms since the epoch.
    pub at_ms: i64,
}
