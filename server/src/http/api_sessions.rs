//! The API's own forms of sessions and of the graph of waiting.

use app::wire::{SessionEvent, SessionPage, SessionRow, Sessions, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::api_types::ContenderJson;

/// A value with the changes applied to the model so far.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Answer")]
pub(super) struct WithSeq<T> {
    /// Changes applied to the model so far.
    pub(super) seq: u64,
    #[serde(flatten)]
    pub(super) value: T,
}

/// Answer of `/api/v1/waits`.
pub(super) type Waits = WithSeq<app::wire::Waits>;

/// Answer of `/api/v1/sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionList {
    /// Changes applied to the model so far.
    seq: u64,
    /// Sessions that match, shown or not.
    total: u32,
    /// All sessions, and those among them that hold or wait.
    session_count: u32,
    /// Those that hold something.
    holding_count: u32,
    /// Those that wait for something.
    waiting_count: u32,
    /// The sessions that match, in order.
    sessions: Vec<SessionRow>,
}

/// Answer of `/api/v1/session`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionDetail {
    /// Changes applied to the model so far.
    seq: u64,
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
    contender: ContenderJson,
}

impl SessionList {
    pub(super) fn new(seq: u64, sessions: Sessions) -> Self {
        let head = sessions.head;
        Self {
            seq,
            total: sessions.window.total,
            session_count: head.sessions,
            holding_count: head.holding,
            waiting_count: head.waiting,
            sessions: sessions.window.rows,
        }
    }
}

impl SessionDetail {
    pub(super) fn new(seq: u64, page: SessionPage, now_ms: i64) -> Self {
        let spot = |row: app::wire::SpotRow| SpotJson {
            lock: row.lock,
            verdict: row.verdict,
            recipe_label: row.recipe_label,
            contender: ContenderJson::new(&row.contender, now_ms),
        };
        Self { seq, session: page.row, spot_count: page.spots.total, spots: page.spots.rows.into_iter().map(spot).collect(), history: page.history }
    }
}
