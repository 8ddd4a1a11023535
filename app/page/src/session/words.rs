//! A session in words. Pure.

use crate::format::plural;
use lockscope_view::{Happened, SessionId, SessionRow, Verdict};

pub(super) const SESSION: &str = "Session";
/// Instead of a session: the address names none, there is none, nothing was read.
pub(super) const WHICH: &str = "Which session?";
pub(super) const NO_SESSION: &str = "No such session";
pub(super) const NOT_READ: &str = "Not read yet";
pub(super) const NOTHING: &str = "It owns nothing under the watched roots, and nothing it did there is remembered. \
    If it takes or awaits a lock, this page shows it at once.";
pub(super) const SESSION_ID: &str = "session id";
pub(super) const NO_ZNODE: &str = "no znode";
pub(super) const PREVIOUS: &str = "Previous";
pub(super) const NEXT: &str = "Next";

pub(super) fn session(id: SessionId) -> String {
    format!("Session {id}")
}

pub(super) fn before_name(id: SessionId) -> String {
    format!("Session {id} ")
}

pub(super) fn places(number: u32) -> String {
    match number {
        0 => "No locks now".to_owned(),
        number => format!("In {}", plural(number.into(), "place", "places")),
    }
}

/// Of one that waits in a circle, before a link.
pub(super) fn in_circle(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Deadlocked => "It waits in a circle with others: none of them goes on until one gives up or lets go. ",
        _ => "It waits in a circle with others. If these are different threads of one client, this is no deadlock. ",
    }
}

pub(super) fn sentence(row: &SessionRow) -> String {
    let held = plural(row.holds.into(), "lock", "locks");
    let behind = match row.blocks {
        0 => "nobody waits for it".to_owned(),
        blocked => format!("blocks {}", crate::format::count(blocked)),
    };
    match (row.holds, row.waits, row.ephemerals) {
        (0, 0, _) if row.stands_by > 0 => stands_by(row.stands_by),
        (0, 0, 0) => "It owns nothing now.".to_owned(),
        (0, 0, znodes) => format!(
            "Owns {} under the watched roots, none of them in a lock.",
            plural(znodes.into(), "znode", "znodes")
        ),
        (0, waits, _) => format!("Waits for {}.", plural(waits.into(), "lock", "locks")),
        (_, 0, _) => format!("Holds {held}; {behind}."),
        (_, waits, _) => format!("Holds {held} and waits for {}; {behind}.", crate::format::count(waits)),
    }
}

/// Of a session that is only where nobody waits for a lock.
fn stands_by(places: u32) -> String {
    let places = plural(places.into(), "election, barrier, queue or group", "elections, barriers, queues or groups");
    format!("Is in {places}, and neither holds nor waits for a lock.")
}

/// What happened, after "It".
pub(super) fn happened(what: Happened) -> &'static str {
    match what {
        Happened::Joined => "queued up",
        Happened::Held => "took the lock",
        Happened::Released => "released it",
        Happened::Left => "left without having held",
        Happened::SessionEnded => "went with the session",
        Happened::GoneInGap => "was gone after a gap in our view",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::Liveness;

    fn said(holds: u32, waits: u32, blocks: u32, ephemerals: u32) -> String {
        sentence(&row(holds, waits, blocks, ephemerals))
    }

    fn row(holds: u32, waits: u32, blocks: u32, ephemerals: u32) -> SessionRow {
        SessionRow {
            key: String::new(),
            tag: None,
            ensemble: String::new(),
            session_id: SessionId(1),
            label: None,
            client: None,
            liveness: Liveness::Unknown,
            runs_out: None,
            holds,
            waits,
            ephemerals,
            oldest_hold_at_ms: None,
            oldest_wait_at_ms: None,
            blocks,
            locks: Vec::new(),
            in_cycle: false,
            cycle_verdict: None,
            stands_by: 0,
        }
    }

    #[test]
    fn a_session_in_a_sentence() {
        assert_eq!(said(2, 1, 14, 3), "Holds 2 locks and waits for 1; blocks 14.");
        assert_eq!(said(1, 0, 1, 1), "Holds 1 lock; blocks 1.");
        assert_eq!(said(1, 0, 0, 1), "Holds 1 lock; nobody waits for it.");
        assert_eq!(said(0, 200, 0, 200), "Waits for 200 locks.");
        assert_eq!(said(0, 0, 0, 2), "Owns 2 znodes under the watched roots, none of them in a lock.");
        assert_eq!(said(0, 0, 0, 0), "It owns nothing now.");
    }

    #[test]
    fn a_standby_waits_for_no_lock() {
        let standby = |stands_by| sentence(&SessionRow { stands_by, ..row(0, 0, 0, stands_by) });
        assert_eq!(standby(1), "Is in 1 election, barrier, queue or group, and neither holds nor waits for a lock.");
        assert!(standby(2).starts_with("Is in 2 elections, barriers, queues or groups, and"), "{}", standby(2));
    }
}
