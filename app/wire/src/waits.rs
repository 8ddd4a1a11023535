//! Who waits for whom across all locks, by session.

use serde::{Deserialize, Serialize};

use super::{Access, AsOf, Confidence, EnsembleTag, SessionId, Verdict};

/// Sessions drawn at most: those in deadlocks first, then those that make most others wait.
pub const WAIT_NODES_MAX: usize = 300;

/// Body of the live view `waits` and, with `seq`, the answer of `/api/v1/waits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waits {
    /// How far it can be trusted.
    pub as_of: AsOf,
    /// Sessions that wait or are waited for.
    pub nodes: Vec<WaitNode>,
    /// Who waits for whom; one for each pair and lock.
    pub edges: Vec<WaitEdge>,
    /// Deadlocks, and what looks like some.
    pub cycles: Vec<Cycle>,
    /// Sessions that wait or are waited for and are not among the nodes.
    pub left_out: u32,
    /// Locks looked at.
    pub locks: u32,
}

/// One session in the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitNode {
    /// Ensemble.
    pub ensemble: String,
    /// The same with its colour; null for the only one when it has no name.
    pub tag: Option<EnsembleTag>,
    /// The session.
    pub session_id: SessionId,
    /// Who it says it is; never trusted.
    pub label: Option<String>,
    /// What it holds.
    pub holds: Vec<SessionLock>,
    /// What it waits for.
    pub waits: Vec<SessionLock>,
    /// It is part of a cycle.
    pub in_cycle: bool,
    /// The worst verdict on a cycle it is part of: `deadlocked` or `maybe_deadlocked`; null for who is in none.
    pub cycle_verdict: Option<Verdict>,
    /// 0: it waits for nobody; else one more than the nearest it waits for. In a circle the smallest that fits.
    pub layer: u32,
}

/// One znode of a session in one lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionLock {
    /// The lock.
    pub lock: String,
    /// The znode's full path.
    pub node: String,
    /// What it wants or has.
    pub access: Access,
    /// Since when.
    pub since_ms: i64,
}

/// One session waits for another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitEdge {
    /// Who waits.
    pub from: SessionId,
    /// Who holds what it waits for.
    pub to: SessionId,
    /// The lock.
    pub lock: String,
    /// Since when it waits.
    pub since_ms: i64,
    /// It is part of a cycle.
    pub in_cycle: bool,
    /// The worst verdict on a cycle it is part of: `deadlocked` or `maybe_deadlocked`; null for who is in none.
    pub cycle_verdict: Option<Verdict>,
}

/// Sessions that wait for each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cycle {
    /// The sessions, each waiting for the next and the last for the first.
    pub sessions: Vec<SessionId>,
    /// The locks they wait for, in the same order.
    pub locks: Vec<String>,
    /// `deadlocked`, or `maybe_deadlocked` while some session in it may serve threads that do not wait for each other.
    pub verdict: Verdict,
    /// It in words.
    pub sentence: String,
    /// Whose hold is cheapest to release.
    pub victim: SessionId,
    /// In which lock.
    pub victim_lock: String,
    /// By which znode.
    pub victim_node: String,
    /// Why that one: goes on after the words "session 0x…".
    pub victim_why: String,
    /// How sure it is that this is one.
    pub confidence: Confidence,
    /// What may make it none; never empty.
    pub caveat: String,
    /// When it was found.
    pub since_ms: i64,
}
