//! Who waits for whom across all locks, by session.

use serde::{Deserialize, Serialize};

use super::{Access, AsOf, Confidence, EnsembleTag, SessionId, Verdict};

/// Sessions listed at most: those in deadlocks first, then those that make others wait longest.
pub const WAIT_NODES_MAX: usize = 300;
/// Sessions that are drawn as a graph: of more only the blocking tree can be read.
pub const GRAPH_NODES_MAX: usize = 40;
/// Waits that are drawn as lines of a graph.
pub const GRAPH_EDGES_MAX: usize = 120;
/// Waits in a brief answer that is no graph: those in deadlocks first, then the longest.
pub const BRIEF_EDGES_MAX: usize = 30;
/// Rows of the blocking tree.
pub const TREE_ROWS_MAX: usize = 64;
/// Blockers at the root of the blocking tree.
pub const TREE_ROOTS_MAX: usize = 24;
/// Sessions right behind one of the blocking tree.
pub const TREE_CHILDREN_MAX: usize = 12;
/// Levels of the blocking tree.
pub const TREE_DEPTH_MAX: u32 = 6;

/// Asks who waits for whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WaitsQuery {
    /// Only what a page draws: no lists of znodes, and where the graph is too large to be read only its longest waits.
    pub brief: bool,
}

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
    /// Locks in which somebody waits for another.
    pub contended: u32,
    /// Sessions that wait for another.
    pub waiting: u32,
    /// Sessions that others wait for and that wait for nobody themselves.
    pub blocking: u32,
    /// Waits between the nodes that are not among the edges; only in a brief answer.
    pub edges_left_out: u32,
    /// The blocking tree: each session that others wait for, right before those behind it; the roots by the total
    /// waiting time behind them, longest first.
    pub tree: Vec<WaitBranch>,
    /// Blockers that are not among the roots of the tree.
    pub roots_left_out: u32,
}

/// A session in the blocking tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitBranch {
    /// 0 at a root; else one more than that of the session it waits for, the last one before it with a smaller depth.
    pub depth: u32,
    /// Ensemble.
    pub ensemble: String,
    /// The same with its colour; null for the only one when it has no name.
    pub tag: Option<EnsembleTag>,
    /// The session.
    pub session_id: SessionId,
    /// Who it says it is; never trusted.
    pub label: Option<String>,
    /// The lock it waits for there; null at a root.
    pub waits: Option<LockSince>,
    /// The lock it holds that most others wait for; null where nobody waits for it.
    pub holds: Option<LockSince>,
    /// Other locks it holds that somebody waits for.
    pub more_holds: u32,
    /// Sessions behind it: those that wait for it, those that wait for them, and so on. Each is counted once.
    pub behind: u32,
    /// Sum of the instants since when these wait, ms.
    pub behind_since_sum_ms: i64,
    /// There may be more behind it: they were not counted to the end.
    pub is_lower_bound: bool,
    /// Sessions that wait for it and are not listed.
    pub left_out: u32,
    /// The worst verdict on a cycle it is part of: `deadlocked` or `maybe_deadlocked`; null for who is in none.
    pub cycle_verdict: Option<Verdict>,
}

/// A lock, and since when somebody holds it or waits for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockSince {
    /// The lock.
    pub lock: String,
    /// Since when.
    pub since_ms: i64,
    /// It may have begun earlier.
    pub is_lower_bound: bool,
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
    /// Locks it holds; of a brief answer all that is said of them.
    pub hold_count: u32,
    /// Locks it waits for; the same.
    pub wait_count: u32,
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
