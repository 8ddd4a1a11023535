//! The page of waits in words. Pure.

use crate::format::{count, duration, plural, visible};
use lockscope_view::{RootState, SessionId, Verdict, Waits};

pub(super) const NOT_READ: &str = "Not read yet.";
pub(super) const WAITS_FOR: &str = "waits for ";
pub(super) const HOLDS: &str = "holds ";

pub(super) fn lead(waits: &Waits) -> String {
    if waits.locks == 0 {
        let is_unread = matches!(waits.as_of.state, RootState::Syncing | RootState::Stale);
        return if is_unread { NOT_READ } else { "Nobody waits: there are no locks." }.to_owned();
    }
    if waits.waiting == 0 && waits.cycles.is_empty() {
        let locks = plural(waits.locks.into(), "lock", "locks");
        return format!("Nobody waits. Lockscope watches {locks}.");
    }
    let certain = waits.cycles.iter().filter(|cycle| cycle.verdict == Verdict::Deadlocked).count();
    let deadlocks = match (certain, waits.cycles.len() - certain) {
        (0, 0) => "No deadlock.".to_owned(),
        (0, maybe) => format!("{} that may be a deadlock.", plural(maybe as u64, "circle", "circles")),
        (certain, 0) => format!("{}.", plural(certain as u64, "deadlock", "deadlocks")),
        (certain, maybe) => {
            format!("{}, {} that may be one.", plural(certain as u64, "deadlock", "deadlocks"), count(maybe as u64))
        }
    };
    let wait = plural(waits.waiting.into(), "session waits", "sessions wait");
    let others = match waits.blocking {
        0 => "each other".to_owned(),
        others => plural(others.into(), "other", "others"),
    };
    format!("{deadlocks} {wait} for {others} in {}.", plural(waits.contended.into(), "lock", "locks"))
}

pub(super) fn heading(verdict: Verdict, sessions: usize) -> String {
    let what =
        if verdict == Verdict::Deadlocked { "Deadlock" } else { "Looks like a deadlock, if one thread does both" };
    format!("{what}: {} wait for each other.", plural(sessions as u64, "session", "sessions"))
}

pub(super) fn not_drawn(number: u64) -> String {
    format!("{} more are not drawn.", count(number))
}

/// Why this hold, after its session and lock.
pub(super) fn costs_least(why: &str) -> String {
    format!(" costs least. It {}", visible(why))
}

/// The graph, for who can't see it.
pub(super) fn graph(sessions: u64) -> String {
    let sessions = plural(sessions, "session", "sessions");
    format!("{sessions} wait or are waited for; the tree below shows the same.")
}

/// A box of the graph, for who can't see it.
pub(super) fn card(name: &str, does: &str, cycle: Option<Verdict>) -> String {
    let cycle = match cycle {
        None => "",
        Some(Verdict::Deadlocked) => ", in a deadlock",
        Some(_) => ", in what may be a deadlock",
    };
    format!("{name}: {does}{cycle}")
}

pub(super) fn table_title(chosen: Option<SessionId>) -> String {
    chosen.map_or_else(|| "Who waits for whom, longest first".to_owned(), |session| format!("Waits of {session}"))
}

/// Behind a lock that is in a circle.
pub(super) fn after_lock(cycle: Option<Verdict>) -> &'static str {
    match cycle {
        None => "",
        Some(Verdict::Deadlocked) => " deadlock",
        Some(_) => " maybe a deadlock",
    }
}

/// Those that block less, and are not in the tree.
pub(super) fn other_roots(number: u32) -> String {
    let others = plural(number.into(), "other makes", "others make");
    format!("{others} somebody wait, for less time in all.")
}

/// Before how many are behind a session, for who can't see the tree.
pub(super) fn behind(name: &str) -> String {
    format!("Behind {name}: ")
}

pub(super) fn waits(sessions: u32, is_lower_bound: bool) -> String {
    let sign = if is_lower_bound { "≥ " } else { "" };
    let waits = if sessions == 1 { "waits" } else { "wait" };
    format!("{sign}{} {waits}, ", count(sessions))
}

pub(super) fn in_all(sessions: u32, since_sum_ms: i64, now_ms: i64) -> String {
    if now_ms == 0 { "…".to_owned() } else { duration(i64::from(sessions) * now_ms - since_sum_ms) }
}

pub(super) fn left_out(number: u32) -> String {
    let more = plural(number.into(), "more waits for it and is", "more wait for it and are");
    format!("{more} not listed here.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::{Confidence, Cycle};

    fn waits(waiting: u32, blocking: u32, contended: u32, cycles: &[Verdict]) -> Waits {
        let cycle = |verdict: &Verdict| Cycle {
            sessions: Vec::new(),
            locks: Vec::new(),
            verdict: *verdict,
            sentence: String::new(),
            victim: SessionId(1),
            victim_lock: String::new(),
            victim_node: String::new(),
            victim_why: String::new(),
            confidence: Confidence::High,
            caveat: String::new(),
            since_ms: 0,
        };
        let cycles = cycles.iter().map(cycle).collect();
        Waits { locks: 17, waiting, blocking, contended, cycles, ..Waits::default() }
    }

    #[test]
    fn the_page_in_a_sentence() {
        let deadlock = [Verdict::Deadlocked];
        assert_eq!(lead(&waits(31, 14, 12, &deadlock)), "1 deadlock. 31 sessions wait for 14 others in 12 locks.");
        assert_eq!(lead(&waits(2, 0, 2, &deadlock)), "1 deadlock. 2 sessions wait for each other in 2 locks.");
        assert_eq!(lead(&waits(1, 1, 1, &[])), "No deadlock. 1 session waits for 1 other in 1 lock.");
        assert_eq!(
            lead(&waits(9, 1, 4, &[Verdict::MaybeDeadlocked, Verdict::Deadlocked])),
            "1 deadlock, 1 that may be one. 9 sessions wait for 1 other in 4 locks."
        );
        assert_eq!(lead(&waits(0, 0, 0, &[])), "Nobody waits. Lockscope watches 17 locks.");
    }

    #[test]
    fn a_deadlock_in_a_sentence() {
        assert_eq!(heading(Verdict::Deadlocked, 2), "Deadlock: 2 sessions wait for each other.");
        assert_eq!(
            heading(Verdict::MaybeDeadlocked, 3),
            "Looks like a deadlock, if one thread does both: 3 sessions wait for each other."
        );
    }

    #[test]
    fn waiting_time_is_summed() {
        assert_eq!(in_all(4, 4 * 1_000, 121_000), "8 min 00 s");
        assert_eq!(in_all(4, 4 * 1_000, 0), "…");
    }
}
