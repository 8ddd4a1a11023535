//! The API's own forms of sessions and of the graph of waiting.

use app::wire::{SessionEvent, SessionPage, SessionRow, Sessions, Verdict};
use serde::Serialize;

use super::api_types::ContenderJson;

/// A value with the changes applied to the model so far.
#[derive(Debug, Serialize)]
pub(super) struct WithSeq<T> {
    pub(super) seq: u64,
    #[serde(flatten)]
    pub(super) value: T,
}

/// Answer of `/api/v1/waits`.
pub(super) type Waits = WithSeq<app::wire::Waits>;

/// Answer of `/api/v1/sessions`.
#[derive(Debug, Serialize)]
pub(super) struct SessionList {
    seq: u64,
    /// Sessions that match, shown or not.
    total: u32,
    /// All sessions, and those among them that hold or wait.
    session_count: u32,
    holding_count: u32,
    waiting_count: u32,
    sessions: Vec<SessionRow>,
}

/// Answer of `/api/v1/session`.
#[derive(Debug, Serialize)]
pub(super) struct SessionDetail {
    seq: u64,
    #[serde(flatten)]
    session: SessionRow,
    spot_count: u32,
    spots: Vec<SpotJson>,
    history: Vec<SessionEvent>,
}

#[derive(Debug, Serialize)]
struct SpotJson {
    lock: String,
    verdict: Verdict,
    recipe_label: String,
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
