//! What several pages say in the same words. Pure.

use crate::format::{count, middle, visible};
use lockscope_view::{Access, Contender, ContenderRole, Liveness, LockRow, Missing, Recipe, Role, Verdict};

/// Longest text of a filter that is repeated.
const TEXT_CHARS: usize = 60;

#[cfg(feature = "ssr")]
pub(super) const ENSEMBLE: &str = "Ensemble";
pub(super) const OWNER_UNKNOWN: &str = "owner unknown";
pub(super) const SESSION_ID: &str = "session id";
pub(super) const CONNECTED_SINCE: &str = "Connected since";
pub(super) const LAST_HEARD: &str = "Last heard";
pub(super) const LAST_OPERATION: &str = "Last operation";
pub(super) const FENCING_TOKEN: &str = "Fencing token";
pub(super) const LEAST_SINCE_LOOKED: &str = "At least: it was already so when Lockscope first looked";
pub(super) const UTC: &str = "UTC";
pub(super) const LOCAL: &str = "local";
pub(crate) const NOT_COPIED: &str = "Not copied: the browser does not let us. Select the text instead.";

pub(super) const KEYS: [(&str, &str); 13] = [
    ("Ctrl K", "find a lock, a session, a page"),
    ("/", "filter"),
    ("j  k", "next and previous row"),
    ("Enter", "open the chosen lock"),
    ("a", "apply a new order of rows"),
    ("p", "pause and go on"),
    ("g", "group by root"),
    ("w", "wallboard: for a screen on the wall"),
    ("s", "pin the chosen lock on top"),
    ("d", "rows comfortable or compact"),
    ("t", "on a lock: over time"),
    ("?", "this help"),
    ("Esc", "close, clear the filter, deselect"),
];

/// A verdict's name, but for those of several words.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NobodyHome => "nobody home",
        Verdict::MaybeDeadlocked => "maybe deadlocked",
        Verdict::DoubleOwner => "two owners",
        other => other.name(),
    }
}

pub(crate) fn finding_word(code: &str) -> String {
    code.replace('_', " ")
}

/// What a session holds and waits for, in numbers; nothing of what it does not.
pub(crate) fn does(holds: u32, waits: u32) -> String {
    let holds = (holds > 0).then(|| format!("holds {}", count(holds)));
    let waits = (waits > 0).then(|| format!("waits for {}", count(waits)));
    let all: Vec<String> = holds.into_iter().chain(waits).collect();
    all.join(", ")
}

/// How many wait; the least there are where some may be missing, and not known where none can be seen.
pub(crate) fn waiters_text(row: &LockRow) -> String {
    match row.waiter_count {
        _ if matches!(row.recipe, Recipe::Membership | Recipe::Queue) => "–".to_owned(),
        // They stand by, or gather: they wait for no lock.
        Some(1..) if row.oldest_wait_at_ms.is_none() => "–".to_owned(),
        None => "?".to_owned(),
        Some(waiters) if row.is_complete() => count(waiters),
        Some(waiters) => format!("≥ {}", count(waiters)),
    }
}

/// Why a number of waiters is not the whole of them; empty where it is.
pub(crate) fn missing_words(missing: &[Missing]) -> &'static str {
    match missing.first() {
        None => "",
        Some(Missing::UnreadableChildren) => "Some znodes here may not be read: there may be more",
        Some(Missing::Unswept) => "This directory is still being looked through: there may be more",
        Some(Missing::WatchesNotRead) => {
            "Waiters have no znode here, and the servers' tables of watches were not read since the lock changed hands"
        }
        Some(Missing::WaitersWithoutZnodes) => {
            "Waiters have no znode here; clients that poll, or watch a list of children, are in no table of watches"
        }
    }
}

pub(crate) fn role_word(contender: &Contender) -> &'static str {
    match (contender.role, contender.access) {
        (ContenderRole::Holder, Access::Exclusive) => "holds",
        (ContenderRole::Holder, Access::Read) => "reads",
        (ContenderRole::Holder, Access::Write) => "writes",
        (ContenderRole::Holder, Access::Lease) => "holds a lease",
        (ContenderRole::Holder, Access::Leader) => "leads",
        (ContenderRole::Holder, Access::Member) => "is in",
        (ContenderRole::Holder, Access::Item) => "in work",
        (ContenderRole::Waiter, Access::Exclusive) => "waits",
        (ContenderRole::Waiter, Access::Read) => "waits to read",
        (ContenderRole::Waiter, Access::Write) => "waits to write",
        (ContenderRole::Waiter, Access::Lease) => "waits for a lease",
        (ContenderRole::Waiter, Access::Leader) => "stands by",
        (ContenderRole::Waiter, Access::Member) => "gathers",
        (ContenderRole::Waiter, Access::Item) => "item",
    }
}

/// That nothing matches: a text, where that is all that is asked for.
pub(crate) fn no_match(what: &str, text: Option<&str>) -> String {
    match text {
        Some(text) => format!("No {what} matches \"{}\".", middle(&visible(text), TEXT_CHARS)),
        None => format!("No {what} matches the filter."),
    }
}

/// How many are not named.
pub(crate) fn and_more(number: u32) -> String {
    format!("and {} more", count(number))
}

/// Why a hold may be longer than it looks.
pub(crate) fn hold_least(is_lower_bound: bool) -> Option<&'static str> {
    is_lower_bound.then_some("At least: it was already held when we first looked")
}

/// Why a wait may be longer than it looks.
pub(crate) fn wait_least(is_lower_bound: bool) -> Option<&'static str> {
    is_lower_bound.then_some("At least: it may have waited before it was first seen, or others longer")
}

pub(super) fn liveness_meaning(liveness: Liveness) -> &'static str {
    match liveness {
        Liveness::Connected => "A member lists its connection, and heard from it lately.",
        Liveness::Silent => {
            "Its client was silent for more than a third of its session timeout: the server that lists it received nothing, or the leader's date of its end stands still."
        }
        Liveness::Disconnected => {
            "Every server was asked who is connected, and none lists it. Its session ends when its timeout has passed."
        }
        Liveness::Persistent => "No session owns this znode: it stays until somebody deletes it.",
        Liveness::Unknown => {
            "No evidence: no member ever listed it, or not every member reported lately who is connected. See the status page."
        }
    }
}

pub(super) fn end_meaning(is_told: bool) -> &'static str {
    if is_told {
        "The leader reports when the session runs out if its client stays silent."
    } else {
        "At the latest: no leader reports it, so this is its session timeout, from when no server listed it any more."
    }
}

/// Before the time until a session runs out, and how that is known.
pub(super) fn runs_out_in(is_told: bool) -> (&'static str, &'static str) {
    if is_told {
        ("session runs out in ", "As the leader reports it")
    } else {
        (
            "session runs out at the latest in ",
            "No leader reports it: its session timeout, from when no server listed it any more",
        )
    }
}

pub(super) fn client_and_server(is_gone: bool) -> (&'static str, &'static str) {
    if is_gone { ("Last client", "Last server") } else { ("Client", "Server") }
}

/// An operation in words, which servers name by four letters; one that is not known stays as it is.
pub(super) fn operation(name: &str) -> String {
    let words = match name {
        "PING" => "ping",
        "SESS" => "open session",
        "CLOS" => "close session",
        "CREA" => "create",
        "DELE" => "delete",
        "EXIS" => "exists",
        "GETD" => "get data",
        "SETD" => "set data",
        "GETC" => "list children",
        "GETACN" => "count children",
        "GETE" => "list ephemerals",
        "GETA" => "get ACL",
        "SETA" => "set ACL",
        "CHEC" => "check version",
        "MULT" => "multi",
        "SYNC" => "sync",
        "SETW" | "STW2" => "set watches",
        "ADDW" => "add watch",
        "REMW" => "remove watches",
        "AUTH" | "SASL" => "authenticate",
        "RECO" => "reconfigure",
        "WHOA" => "who am I",
        "NA" => "none",
        other => other,
    };
    words.to_owned()
}

pub(super) fn only_on(members: &str) -> String {
    format!("only on {}", visible(members))
}

pub(super) fn not_on_every(only_on: &str) -> String {
    format!("Not on every member: {only_on}. The others do not have its znode.")
}

pub(super) fn news_of(lock: &str, what: &str) -> String {
    format!("{lock} {what}")
}

/// What is new, for who can't see it: `New: /a stuck, /b two owners`.
pub(super) fn news(problems: &[String]) -> String {
    format!("New: {}", problems.join(", "))
}

pub(super) fn named(name: &str, role: Role) -> String {
    format!("{name}, {role}")
}

pub(super) fn previous(rows: u32) -> String {
    format!("Previous {rows}")
}

pub(super) fn next(rows: u32) -> String {
    format!("Next {rows}")
}

pub(super) fn pause(is_paused: bool) -> &'static str {
    if is_paused { "Resume" } else { "Pause" }
}

pub(super) fn ensemble(name: &str) -> String {
    format!("Ensemble {}", visible(name))
}

pub(super) fn theme(name: &str) -> String {
    format!("Theme: {name}")
}

pub(super) fn theme_switch(name: &str, next: &str) -> String {
    format!("Theme: {name}. Switch to {next}")
}

pub(super) fn utc(instant: &str) -> String {
    format!("{instant} UTC")
}

pub(super) fn zone_switch(zone: &str, is_utc: bool) -> String {
    let other = if is_utc { "local time" } else { UTC };
    format!("Times are in {zone}. Switch to {other}")
}

pub(crate) fn copy(what: &str) -> String {
    format!("Copy {what}")
}

pub(crate) fn copied(text: &str) -> String {
    format!("Copied: {text}")
}

/// The worst of all locks, for a title.
pub(crate) fn locks_are(verdict: Verdict, locks: u32) -> String {
    let many = if locks != 1 && matches!(verdict, Verdict::Orphan) { "s" } else { "" };
    format!("{} {}{many}", count(locks), verdict_word(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_read_well() {
        assert_eq!(
            ["EXIS", "GETC", "CREA", "PING", "NEWX"].map(operation),
            ["exists", "list children", "create", "ping", "NEWX"]
        );
    }
}
