//! What the section on lock orders says. Pure.

use crate::format::{count, duration, plural, visible};
use lockscope_view::{Confidence, LockOrders, OrderWarning};

pub(super) const TITLE: &str = "Lock orders";
/// What stands where the fragment can't be fetched.
pub(super) const NOT_FETCHED: &str =
    "This could not be loaded: the server may be gone or busy. Reload the page to try again.";
pub(super) const THE_REST: &str = "All of them, as JSON";

pub(super) fn lead(orders: &LockOrders) -> String {
    if orders.edges.is_empty() {
        return "No session was seen to ask for a lock while it held another.".to_owned();
    }
    let silent = orders.warnings.iter().filter(|warning| warning.snoozed_by.is_some()).count();
    match (orders.warnings.len() - silent) as u64 {
        0 if silent > 0 => format!(
            "Nothing to warn of but {}.",
            plural(silent as u64, "deadlock that is snoozed", "deadlocks that are snoozed")
        ),
        0 => "Nothing to warn of: no two sessions took the same locks in opposite orders without one lock around both."
            .to_owned(),
        number => format!(
            "{} may come: different sessions take the same locks in opposite orders, or in a circle.",
            plural(number, "deadlock", "deadlocks")
        ),
    }
}

pub(super) const SNOOZE: &str = "Snooze";
pub(super) const SNOOZED: &str = "Snoozed by ";
pub(super) const FOR_GOOD: &str = " for good";
pub(super) const BECAUSE: &str = ": ";
pub(super) const REASON: &str = "Why";
pub(super) const MEANS: &str = "Everybody reads it, and it stands in the audit log. The locks have no finding of this warning until then; \
     any other warning of them is given.";
pub(super) const HOW_LONG: &str = "For";
pub(super) const LENGTHS: [(&str, &str); 5] = [
    ("604800000", "a week"),
    ("3600000", "an hour"),
    ("86400000", "a day"),
    ("2592000000", "30 days"),
    ("for_good", "good"),
];

/// Which warning, for who does not see where a button stands.
pub(super) fn of_snooze(classes: &[String]) -> String {
    format!(" the warning of {}", visible(&classes.join(", ")))
}

/// Snoozes without a warning.
pub(super) fn others(number: usize) -> String {
    format!("Snoozed, and not warned of at present: {}", count(number as u64))
}

/// How often, and by whom.
pub(super) fn seen(warning: &OrderWarning) -> String {
    let sessions = plural(u64::from(warning.sessions), "session", "sessions");
    format!("Seen {} by {sessions}. ", times(warning.count))
}

/// How sure it is, behind the name of that.
pub(super) fn confidence(warning: &OrderWarning) -> &'static str {
    match warning.confidence {
        Confidence::Low => "not sure: it may be threads that share a session, or never the same locks.",
        Confidence::Medium => "fairly sure: it may be threads that share a session, or never the same locks.",
        Confidence::High => "sure.",
    }
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", count(more)),
    }
}

pub(super) const TIMES: &str = "Times";
pub(super) const SESSIONS: &str = "Sessions";
pub(super) const LAST: &str = "Last";
pub(super) const SURE: &str = "How sure";
pub(super) const SNOOZED_UNTIL: &str = "until";
pub(super) const CLOSEST: &str = "Closest approach";

/// How near two came; the instant follows.
pub(super) fn closest(ms: i64) -> String {
    match ms {
        0 => "Two of them met on ".to_owned(),
        ms => format!("Two of them passed each other by {} on ", duration(ms)),
    }
}

/// How often an order was seen; the instant follows.
pub(super) fn last(number: u64) -> String {
    format!(" {}, last on ", times(number))
}

/// How many orders are folded.
pub(super) fn every(number: usize) -> String {
    format!("Every order seen: {}", count(number as u64))
}

pub(super) fn more(number: usize) -> String {
    format!("{} more are not shown.", count(number as u64))
}
