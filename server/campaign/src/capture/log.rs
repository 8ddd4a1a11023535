//! What a capture keeps: everything so far, and what each view shows now. Pure.

use std::collections::BTreeSet;

use judge::{Capture as Captured, Gone};
use serde_json::Value;

use crate::shown::{Claims, LIVE_AGE_MAX_MS, head_claims};

/// What a capture keeps.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) captured: Vec<Captured>,
    pub(super) held: Vec<Option<Held>>,
    /// Frames that lead nowhere: a gap in the numbers, or an error of the server's.
    pub(super) broken: Vec<String>,
    pub(super) frames: u64,
    pub(super) closings: Vec<String>,
}

/// What a view shows.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) epoch: String,
    pub(super) seq: u64,
    pub(super) body: Value,
    pub(super) claims: Claims,
    /// Up to when it is known to be true, where the server reports it.
    pub(super) known_at_ms: Option<i64>,
    pub(super) arrived_at_ms: i64,
    /// It is not shown as LIVE until something arrives: the socket is new, or was silent.
    pub(super) is_dark: bool,
}

impl Log {
    /// What a view shows as LIVE is so no longer than the document allows: notes when that was over, if it was by now.
    pub(super) fn grow_old(&mut self, first_socket: u32, only: usize, now_ms: i64) {
        for (socket, (view, held)) in (first_socket..).zip(self.held.iter_mut().enumerate()) {
            let Some(held) = held.as_mut().filter(|held| (only == usize::MAX || only == view) && !held.is_dark) else {
                continue;
            };
            let Some(over_at_ms) = held.known_at_ms.map(|known_at_ms| known_at_ms + LIVE_AGE_MAX_MS + 1) else {
                continue;
            };
            if over_at_ms < now_ms {
                held.is_dark = true;
                let arrived_at_ms = over_at_ms.max(held.arrived_at_ms);
                self.captured.push(Captured::NotLive { socket, arrived_at_ms, lock: None });
            }
        }
    }

    pub(super) fn darken(&mut self) {
        for held in self.held.iter_mut().flatten() {
            held.is_dark = true;
        }
    }
}

/// Locks that were on the board and are no more, where all of it is shown.
pub(super) fn vanished(before: Option<&Held>, after: &Claims, body: &Value) -> Vec<Gone> {
    let is_whole = body["kind"] == "board" && body["window"]["total"].as_u64() == u64::try_from(after.shown.len()).ok();
    let Some(before) = before.filter(|_| is_whole) else { return Vec::new() };
    let there: BTreeSet<&str> = after.shown.iter().map(|shown| shown.lock.as_str()).collect();
    let gone = before.claims.shown.iter().filter(|shown| !there.contains(shown.lock.as_str()));
    let (is_live, zxid) = head_claims(body);
    gone.map(|shown| Gone { lock: shown.lock.clone(), is_live, zxid, ..Gone::default() }).collect()
}
