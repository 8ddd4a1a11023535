//! The API's own forms of the status, of sessions and of the graph of waiting.

use lockscope_view::api::{AgedAsOf, AgedContender};
use lockscope_view::{
    Cycle, SessionEvent, SessionGroupRow, SessionPage, SessionRow, Sessions, Status, Verdict, WaitBranch, WaitEdge,
    WaitNode, Waits,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::api_as_of::aged_as_of;
use super::api_types::contender;
use lockscope_live::Known;

/// Answer of `/api/v1/status`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusAnswer {
    /// Age of the ensembles' state, ms, as of this answer.
    pub(super) age_ms: i64,
    #[serde(flatten)]
    pub(super) status: Status,
}

/// Answer of `/api/v1/waits`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WaitsAnswer")]
pub(super) struct WaitsJson {
    /// Changes applied to the model so far.
    seq: u64,
    /// How far it can be trusted.
    as_of: AgedAsOf,
    /// Sessions that wait or are waited for.
    nodes: Vec<WaitNode>,
    /// Who waits for whom; one for each pair and lock.
    edges: Vec<WaitEdge>,
    /// Deadlocks, and what looks like some.
    cycles: Vec<Cycle>,
    /// Sessions that wait or are waited for and are not among the nodes.
    left_out: u32,
    /// Locks looked at.
    locks: u32,
    /// Locks in which somebody waits for another.
    contended: u32,
    /// Sessions that wait for another.
    waiting: u32,
    /// Sessions that others wait for and that wait for nobody themselves.
    blocking: u32,
    /// The blocking tree: each session that others wait for, right before those behind it; the roots by the total
    /// waiting time behind them, longest first. At most 24 roots and 64 rows.
    tree: Vec<WaitBranch>,
    /// Blockers that are not among the roots of the tree.
    roots_left_out: u32,
}

/// Answer of `/api/v1/sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionList {
    /// Changes applied to the model so far.
    seq: u64,
    /// How far it can be trusted.
    as_of: AgedAsOf,
    /// Sessions that match, shown or not; where they are grouped, groups.
    total: u32,
    /// All sessions, and those among them that hold or wait.
    session_count: u32,
    /// Those that hold something.
    holding_count: u32,
    /// Those that wait for something.
    waiting_count: u32,
    /// The sessions that match, in order; none where they are grouped.
    sessions: Vec<SessionRow>,
    /// Their groups, in order; none without `group`.
    groups: Vec<SessionGroupRow>,
}

/// Answer of `/api/v1/session`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionDetail {
    /// Changes applied to the model so far.
    seq: u64,
    /// How far it can be trusted.
    as_of: AgedAsOf,
    #[serde(flatten)]
    session: SessionRow,
    /// Its znodes in locks, shown or not.
    spot_count: u32,
    /// What it holds and waits for; holds first.
    spots: Vec<SpotJson>,
    /// What happened to it since this server watches, newest first.
    history: Vec<SessionEvent>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionSpot")]
struct SpotJson {
    /// The lock.
    lock: String,
    /// One word.
    verdict: Verdict,
    /// What it was recognised as, like "Curator InterProcessMutex".
    recipe_label: String,
    /// The znode as one of the lock.
    contender: AgedContender,
}

impl WaitsJson {
    pub(super) fn new(seq: u64, waits: Waits, known: Known, now_ms: i64) -> Self {
        Self {
            seq,
            as_of: aged_as_of(&waits.as_of, known, now_ms),
            nodes: waits.nodes,
            edges: waits.edges,
            cycles: waits.cycles,
            left_out: waits.left_out,
            locks: waits.locks,
            contended: waits.contended,
            waiting: waits.waiting,
            blocking: waits.blocking,
            tree: waits.tree,
            roots_left_out: waits.roots_left_out,
        }
    }
}

impl SessionList {
    pub(super) fn new(seq: u64, sessions: Sessions, known: Known, now_ms: i64) -> Self {
        let head = sessions.head;
        Self {
            seq,
            as_of: aged_as_of(&head.as_of, known, now_ms),
            total: sessions.window.total.max(sessions.groups.total),
            session_count: head.sessions,
            holding_count: head.holding,
            waiting_count: head.waiting,
            sessions: sessions.window.rows,
            groups: sessions.groups.rows,
        }
    }
}

impl SessionDetail {
    pub(super) fn new(seq: u64, page: SessionPage, known: Known, now_ms: i64) -> Self {
        let spot = |row: lockscope_view::SessionLockRow| SpotJson {
            lock: row.lock,
            verdict: row.verdict,
            recipe_label: row.recipe_label,
            contender: contender(&row.contender, now_ms),
        };
        Self {
            seq,
            as_of: aged_as_of(&page.as_of, known, now_ms),
            session: page.row,
            spot_count: page.spots.total,
            spots: page.spots.rows.into_iter().map(spot).collect(),
            history: page.history,
        }
    }
}
