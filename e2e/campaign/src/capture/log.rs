//! What a capture keeps: everything so far, and what each view shows now. Pure.

use std::collections::BTreeSet;

use lockscope_judge::{Capture as Captured, Gone};
use serde_json::Value;

use crate::disconnects::DisconnectClaim;
use crate::shown::{Claims, LIVE_AGE_MAX_MS, head_claims};

/// What a capture keeps.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) captured: Vec<Captured>,
    pub(super) dead: Vec<DisconnectClaim>,
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
    /// Locks that were on it and are not, where their absence says that they are no more.
    pub(super) gone: BTreeSet<String>,
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

/// What a board that came says of locks that are not on it. They are no more where all of it is shown. Where its window
/// ends before, they may stand behind it: nothing is claimed of them, nor of those that were gone before. Gives the locks
/// that are claimed to be gone from now on, and what is claimed no more.
pub(super) fn left(
    socket: u32,
    arrived_at_ms: i64,
    before: Option<&Held>,
    after: &mut Claims,
    body: &Value,
) -> (BTreeSet<String>, Vec<Captured>) {
    let Some(before) = before.filter(|_| body["kind"] == "board") else { return Default::default() };
    let there: BTreeSet<&str> = after.shown.iter().map(|shown| shown.lock.as_str()).collect();
    let is_away = |lock: &&String| !there.contains(lock.as_str());
    let left = before.claims.shown.iter().map(|shown| &shown.lock).filter(is_away).cloned();
    let stay_gone = before.gone.iter().filter(is_away).cloned();
    if body["window"]["total"].as_u64() == u64::try_from(after.shown.len()).ok() {
        let (is_live, zxid) = head_claims(body);
        let left: Vec<String> = left.collect();
        let gone = stay_gone.chain(left.iter().cloned()).collect();
        after.gone.extend(left.into_iter().map(|lock| Gone { lock, is_live, zxid, ..Gone::default() }));
        return (gone, Vec::new());
    }
    let unclaimed = stay_gone.chain(left).map(|lock| Captured::NotLive { socket, arrived_at_ms, lock: Some(lock) });
    (BTreeSet::new(), unclaimed.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::shown::claims;

    fn board(paths: &[&str], total: usize) -> Value {
        let rows: Vec<Value> = paths.iter().map(|path| json!({"path": path, "state": "live"})).collect();
        json!({"kind": "board", "head": {"as_of": {"state": "live", "zxid": "0x7"}}, "window": {"rows": rows, "total": total}})
    }

    fn held(body: Value, gone: &[&str]) -> Held {
        let (claims, gone) = (claims(&body, None), gone.iter().map(|&lock| lock.to_owned()).collect());
        Held { epoch: String::new(), seq: 1, body, claims, gone, known_at_ms: None, arrived_at_ms: 0, is_dark: false }
    }

    fn unclaimed(lock: &str) -> Captured {
        Captured::NotLive { socket: 4, arrived_at_ms: 20, lock: Some(lock.to_owned()) }
    }

    #[test]
    fn a_lock_that_left_the_window_may_be_behind_it_and_so_may_one_that_was_gone() {
        let before = held(board(&["/a", "/c"], 2), &["/b", "/d"]);
        let body = board(&["/a", "/b"], 3);
        let mut after = claims(&body, None);
        let left = left(4, 20, Some(&before), &mut after, &body);
        assert_eq!(left, (BTreeSet::new(), vec![unclaimed("/d"), unclaimed("/c")]));
        assert_eq!(after.gone, []);
    }

    #[test]
    fn a_lock_that_left_a_whole_board_is_gone_until_it_is_back() {
        let before = held(board(&["/a", "/c"], 2), &["/b", "/d"]);
        let body = board(&["/a", "/b"], 2);
        let mut after = claims(&body, None);
        let left = left(4, 20, Some(&before), &mut after, &body);
        assert_eq!(left, (["/c", "/d"].map(str::to_owned).into(), Vec::new()));
        assert_eq!(after.gone, [Gone { lock: "/c".to_owned(), is_live: true, zxid: 7, ..Gone::default() }]);
    }
}
