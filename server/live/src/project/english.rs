//! The sentences that views add to those of the model, in English: headlines of problems, why a verdict is what it is, and
//! what is said of circles. Arguments in, a sentence out: another language is another such table.

use lockscope_core::verdict::duration as span;
use lockscope_view::Headline;
use lockscope_view::words::{count, duration, plural};

/// Said of a deadlock that goes through locks outside: that there is one, and nobody's name.
pub(super) const HIDDEN_CIRCLE: &str =
    "Deadlock: a circle of sessions waits for itself here; it goes through locks that you may not see.";
/// The same where that depends on who is behind a session.
pub(super) const HIDDEN_MAYBE: &str = "Looks like a deadlock, if one thread does both: a circle of sessions waits for itself here; it goes through locks that you may not see.";

/// Instead of the sentence on an order of locks of which some may not be seen.
pub(super) const HIDDEN_ORDER: &str = "Different sessions take this lock and others in opposite orders: once they do so at the same time, they wait for each other for ever. Some of these locks you may not see.";

/// Before the age of a hold.
pub(super) fn has_held(who: &str) -> String {
    format!("{who} has held it for")
}

/// Around the age of a wait.
pub(super) fn first_has_waited(who: &str, waiting: &str) -> Headline {
    let after = format!("; since when {who} holds it is not known.{waiting}");
    Headline { before: "The first in line has waited for".to_owned(), after, ..Headline::default() }
}

/// Before the time that somebody looks at a problem.
pub(super) fn looks_at_it(by: &str) -> String {
    format!("{by} has looked at it for")
}

/// Before the age of a client's holds.
pub(super) fn has_held_several(who: &str, locks: u32) -> String {
    format!("{who} has held {} locks for", count(locks))
}

/// Behind that age.
pub(super) fn waiting_behind(waiters: u32) -> String {
    let waiting = if waiters == 1 { "1 waits.".to_owned() } else { format!("{} wait.", count(waiters)) };
    format!(". {waiting}")
}

/// Behind the age of a hold: what is usual.
pub(super) fn usual(hold_ms: Option<i64>) -> String {
    match hold_ms {
        Some(ms @ 0..1_000) => {
            format!("(usually {}).", if ms < 100 { "under 0.1 s".to_owned() } else { format!("0.{} s", ms / 100) })
        }
        Some(ms) => format!("(usually {}).", span(ms)),
        None => "; what is usual is not known yet.".to_owned(),
    }
}

/// Before the age of a conflict.
pub(super) fn hold_at_once(names: &str) -> String {
    format!("{names} hold it at once. This goes on for")
}

/// Before the age of a znode that no session owns.
pub(super) const ORPHAN: &str = "It is held by a znode that no session owns, for";
/// Before the time since its directory went.
pub(super) const NOBODY_HOME: &str = "Its directory has been gone for";

/// Before the age of a circle.
pub(super) fn wait_for_each_other(names: &str, is_certain: bool) -> String {
    let maybe = if is_certain { "" } else { "If one thread does both, " };
    format!("{maybe}{names} have waited for each other for")
}

/// A session that nothing else is known of.
pub(super) fn session(id: impl std::fmt::Display) -> String {
    format!("session {id}")
}

/// Names in a sentence: `a`, `a and b`, `a, b, c and 4 more`.
pub(super) fn listed(mut names: Vec<String>, more: usize) -> String {
    if more > 0 {
        return format!("{} and {} more", names.join(", "), count(more as u64));
    }
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Why a verdict is what it is: what it says, and what is usual here.
pub(super) fn why(says: &str, holds: u64, usual_ms: Option<i64>) -> String {
    match usual_ms {
        Some(usual_ms) => {
            format!("{says} The median of the {} seen here is {}.", plural(holds, "hold", "holds"), duration(usual_ms))
        }
        None => format!(
            "{says} What is usual here is not known yet: {} seen.",
            if holds == 1 { "1 hold was".to_owned() } else { format!("{} holds were", count(holds)) }
        ),
    }
}

/// Why one of a circle costs least to release.
pub(super) fn victim_why(held_ms: i64, held_shortest: bool) -> String {
    let held_for = span(held_ms);
    if held_shortest {
        format!("has held shortest ({held_for} when the deadlock formed), so the least work is lost.")
    } else {
        format!(
            "is in the fewest locks (and had held for {held_for} when the deadlock formed), so the least work is lost."
        )
    }
}

/// What may make a circle no deadlock.
pub(super) fn caveat(is_doubtful: bool) -> &'static str {
    if is_doubtful {
        "If these are different threads of one client, this is no deadlock: one of the sessions is in more locks than the deadlock needs."
    } else {
        "If these are different threads of one client, this is no deadlock."
    }
}
