//! The pages that the server draws alone, in words. Pure.

use crate::format::{count, plural, visible};
use lockscope_view::guide::TermArea;
use lockscope_view::past::{IncidentEnd, Missing};
use lockscope_view::{AuditKind, AuditPage, EventKind, OtherAuditLog};

pub(super) const NEWER: &str = "Newer";
pub(super) const OLDER: &str = "Older";
pub(super) const WHO: &str = "Who";
pub(super) const LOCK: &str = "Lock";
pub(super) const NEWEST: &str = "Newest";
pub(super) const SESSION: &str = "Session";
pub(super) const EVERYTHING: &str = "everything";
pub(super) const EVERY: &str = "every one";
pub(super) const PAUSE: &str = "Pause";
pub(super) const GO_ON: &str = "Resume";
pub(super) const THEN: &str = "show then";
pub(super) const AS_OF: &str = "As it was at ";
pub(super) const LOOKED_BACK: &str = "Few rows fit, so everything was looked through back to ";
pub(super) const LOOKED_BACK_END: &str =
    " and no further. Older looks on from there; a narrower filter finds more at once.";
pub(super) const NO_PAST_WAITS: &str = "No history is kept here, so waits that are over are not known: set history = \"on\" and a data directory, and restart Lockscope.";
pub(super) const NOTHING_KEPT: &str = "Nothing kept";
pub(super) const REMARK_HINT: &str = "what you checked";
/// Runs of the lab that are one click away: name, and what it is for.
pub(super) const PRESETS: [(&str, &str); 4] = [
    ("8 clients, to see it", "Slow enough to follow each hand-off with the eye."),
    ("50 clients", "49 events against 1\u{202f}225, one strategy after the other."),
    ("500 clients", "499 events against 124\u{202f}750, one strategy after the other."),
    ("50 clients, all strategies", "Three herds and the one that is none, at once."),
];
pub(super) const CLIENTS: &str = "Clients";
pub(super) const ROUNDS: (&str, &str) = ("Rounds", "how often each gets the lock");
pub(super) const HOLD: (&str, &str) = ("Hold", "ms, how long each keeps it");
pub(super) const THINK: (&str, &str) = ("Pause between rounds", "ms, on average");
pub(super) const DURATION: (&str, &str) = ("Ends after", "seconds; empty = until done");
pub(super) const SEED: (&str, &str) = ("Seed", "empty = random");
pub(super) const STRATEGIES: &str = "Strategies";
pub(super) const ENSEMBLE: &str = "Ensemble";

pub(super) const HELP_PARTS: [(&str, &str, TermArea); 8] = [
    ("liveness", "Liveness", TermArea::Liveness),
    ("edges", "Edges", TermArea::Edges),
    ("missing", "What may be missing", TermArea::Missing),
    ("roots", "Roots", TermArea::Roots),
    ("numbers", "Numbers of incidents, waits, alerts and time-outs", TermArea::Numbers),
    ("zookeeper", "Words of ZooKeeper", TermArea::ZooKeeper),
    ("locks", "Words of locks", TermArea::Locks),
    ("lockscope", "Words of Lockscope", TermArea::Lockscope),
];

pub(super) const HELP_PAGES: &str = "Pages beside board, sessions, waits and lab:";
/// Their addresses, what they are called, and what they say.
pub(super) const PAGES: [(&str, &str, &str); 7] = [
    ("/events", "What happened", ": every change of every lock, newest first, also of one lock and as of a moment"),
    ("/incidents", "Incidents", ": when something was wrong, because of whom, who waited, and how it ended"),
    ("/blame", "Blame", ": who made others wait, and for how long"),
    ("/differs", "What differs", ": how some waits differ from the rest"),
    ("/alerts", "Alerts", ": what fires, who looks at it, what is silenced, and by which rules"),
    ("/alerts/test", "Try a rule", ": when a rule would have fired"),
    ("/find", "Find", ": locks, sessions, incidents and alerts by a part of their names"),
];

pub(super) fn audit_kind(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Started => "started",
        AuditKind::SignedIn => "signed in",
        AuditKind::SignedOut => "signed out",
        AuditKind::Refused => "refused",
        AuditKind::ReleaseIntent => "release requested",
        AuditKind::ReleaseOutcome => "release done",
        AuditKind::RevokeIntent => "asked to let go",
        AuditKind::RevokeOutcome => "asking done",
        AuditKind::Approved => "approved",
        AuditKind::LabStarted => "lab started",
        AuditKind::LabEnded => "lab ended",
        AuditKind::AlertAcknowledged => "alert acknowledged",
        AuditKind::AlertsSilenced => "alerts silenced",
        AuditKind::SilenceEnded => "silence ended",
        AuditKind::OrderSnoozed => "lock order snoozed",
        AuditKind::OrderSnoozeEnded => "lock order snooze ended",
        AuditKind::HeadsSeen => "heads of other logs seen",
        AuditKind::HandedOn => "handed on",
    }
}

/// Which logs of other replicas are not in what is shown; None where there are none.
pub(super) fn other_logs(page: &AuditPage) -> Option<String> {
    let replica = page.replica.as_ref()?;
    let one = |other: &OtherAuditLog| {
        let records = other.last_id.map(|last| plural(last, "record", "records"));
        let records = records.unwrap_or_else(|| "how many records is not known".to_owned());
        let gone = if other.is_there { "" } else { ", gone at present" };
        format!("{} ({records}{gone})", visible(&other.replica))
    };
    let named = page.not_shown.iter().map(one).collect::<Vec<_>>().join(", ");
    let trouble = visible(&page.not_shown_trouble);
    let more = if trouble.is_empty() { String::new() } else { format!(" There may be more: {trouble}.") };
    match (named.is_empty(), more.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("This is the log of {} alone.{more}", visible(replica))),
        (false, _) => Some(format!(
            "This is the log of {} alone. Not in it: {named}. Each replica shows its own; lockscope audit verify takes all of them.{more}",
            visible(replica)
        )),
    }
}

/// What happened; None: nothing is known for a while.
pub(super) fn event_kind(kind: Option<EventKind>) -> String {
    match kind {
        None => "gap".to_owned(),
        Some(EventKind::Arrived) => "joined".to_owned(),
        Some(EventKind::Identified) => "owner known".to_owned(),
        Some(EventKind::HolderChanged) => "acquired".to_owned(),
        Some(EventKind::VerdictChanged) => "verdict".to_owned(),
        Some(kind) => kind.name().replace('_', " "),
    }
}

pub(super) fn events_lead(keeps_history: bool) -> &'static str {
    if keeps_history {
        "What happened to locks, sessions and the link, newest first, as far back as every change is kept."
    } else {
        "What happened to locks, sessions and the link, newest first. No history is kept here, so the list is short: the newest 8\u{202f}192 of each ensemble."
    }
}

pub(super) fn no_event(was_given_up: bool, keeps_history: bool) -> &'static str {
    match (was_given_up, keeps_history) {
        (true, _) => "Nothing that fits was found yet.",
        (false, true) => "Nothing that fits is kept.",
        (false, false) => "Nothing that fits happened lately.",
    }
}

pub(super) const INCIDENTS_WAY: &str = "Incidents: when something was wrong, and because of whom";
pub(super) const INCIDENTS_LEAD: &str = "When something was wrong with locks, because of whom, who waited, and how it ended. Locks are one incident where whoever holds one of them holds or waits for another.";
/// What stands below numbers of the list; names of numbers go between.
pub(super) const BELOW_LOCK: &str = "Below a lock stand ";
pub(super) const OTHER_LOCKS: &str = "other locks";
pub(super) const BELOW_AND: &str = " of the incident, and how often it was ";
pub(super) const SEEN_BEFORE: &str = "so before";
pub(super) const BELOW_WAITING: &str = "; below all waiting, ";
pub(super) const WHO_WAITED: &str = "how many sessions waited for long";
pub(super) const INCIDENT_ENDED: &str = "Ended";
pub(super) const LANE_WAITED: &str = "Waited";
pub(super) const LANE_HELD: &str = "Held";
pub(super) const DEPTH: &str = "How many waited";
pub(super) const INCIDENT_VICTIMS: &str = "Sessions that waited 1 s or longer";
pub(super) const INCIDENT_WAITING: &str = "Waiting in all";
pub(super) const INCIDENT_SEEN: &str = "Before, in 30 days";
pub(super) const INCIDENT_LOCKS: &str = "Locks, as they were when it began";
pub(super) const INCIDENT_LANES: &str = "Who held, who waited";
pub(super) const INCIDENT_LANES_LEAD: &str =
    "Pale: waited. Dark: held. Red: held, and made the others wait. Drawn from";
pub(super) const INCIDENT_ROOT: &str = "made the others wait";
pub(super) const INCIDENT_FACTS: &str = "What else happened";
pub(super) const INCIDENT_BEFORE: &str = "The same lock in the same trouble before";

pub(super) const INCIDENTS_ALIKE: &str = "Like it, on any lock";
pub(super) const LIKEWISE: &str = ", as this one did";
pub(super) const INCIDENT_OF: &str = "its incident";
pub(super) fn depth(most: u32, is_least: bool) -> String {
    let of_all = if is_least { " Not all who came and went were looked at." } else { "" };
    format!(", over the same time: {most} at once at most.{of_all}")
}

pub(super) const LOCK_OR_WHO: &str = "Lock or who";
pub(super) const AT_LEAST: &str = "Lasted at least";
pub(super) const ANY_LENGTH: &str = "any time";
pub(super) const ZOOM: &str = "Click or drag for that part of the time";
pub(super) const INCIDENT_ACTS: &str = "Releases and alerts";

pub(super) fn by(who: &str) -> String {
    format!("by {who}")
}

pub(super) fn released(by: Option<&str>) -> String {
    format!("{} released it through Lockscope", by.unwrap_or("somebody"))
}

/// Of a time of which nothing is known.
pub(super) fn nothing_known(gap: &Missing) -> String {
    format!("Nothing is known of {} ms: {}.", gap.to_ms - gap.from_ms, gap.why)
}

pub(super) fn alert_fired(rule: &str, lasted: Option<&str>, sentence: &str) -> String {
    let until = lasted.map_or(", and has not ended".to_owned(), |lasted| format!(" for {lasted}"));
    format!("the alert {rule} fired{until}: {sentence}")
}

pub(super) fn not_shown(why: &str) -> String {
    format!("This can't be shown now: {}.", visible(why))
}

pub(super) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "< 0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

/// The same of what is not all of it.
pub(super) fn percent_below(part: f64) -> String {
    percent((part * 1_000.0).floor() / 1_000.0)
}

/// How much of a range is recorded, never more than it is; `rest`: what that means for what is not.
pub(super) fn recorded(part: f64, rest: &str) -> String {
    match part {
        1.0.. => "All of it is recorded.".to_owned(),
        part if part <= 0.0 => "Nothing of it is recorded.".to_owned(),
        part => format!("{} of it is recorded{rest}.", percent_below(part)),
    }
}

/// Of who held or waited without one.
pub(super) const NO_SESSION: &str = "no session";

/// Of an incident that went on when it could be seen last.
pub(super) const NOT_SEEN: &str = "not seen now";

pub(super) fn ended(by: IncidentEnd) -> &'static str {
    match by {
        IncidentEnd::Released => "let go",
        IncidentEnd::SessionEnded => "session ended",
        IncidentEnd::Forced => "released through Lockscope",
        IncidentEnd::GaveUp => "waiters gave up",
        IncidentEnd::Recovered => "recovered",
        IncidentEnd::Unknown => "not known",
        IncidentEnd::Still => "goes on",
    }
}

/// How somebody left who held or waited in an incident.
pub(super) fn left(how: &str) -> &'static str {
    match how {
        "still" => "there still",
        "released" => "let go",
        "gave_up" => "gave up",
        "session_ended" => "session ended",
        "forced" => "released through Lockscope",
        _ => "not known",
    }
}

pub(super) fn no_incident(is_filtered: bool, part_known: f64) -> &'static str {
    match (is_filtered, part_known >= 1.0) {
        (true, _) => "No incident fits.",
        (false, true) => "Nothing was wrong with any lock.",
        (false, false) if part_known > 0.0 => "Nothing was wrong with any lock while it was looked at.",
        (false, false) => "Nothing of that time is kept.",
    }
}

pub(super) fn part_known(part: f64) -> String {
    let percent = (part * 1_000.0).floor() / 10.0;
    format!("{percent} % of that time is known; of the rest nothing is kept.")
}

pub(super) fn incidents_left_out(number: usize) -> String {
    format!(
        "{} older than these; a shorter range shows them.",
        plural(number as u64, "further one is", "further ones are")
    )
}

pub(super) fn and_others(number: usize) -> String {
    format!("and {}", plural(number as u64, "other lock", "other locks"))
}

pub(super) fn seen_before(number: usize) -> String {
    format!("{} before, in 30 days", plural(number as u64, "time", "times"))
}

pub(super) fn waiters(number: usize) -> String {
    plural(number as u64, "session", "sessions")
}

pub(super) fn victims(number: usize, peak: usize) -> String {
    if number == 0 { "none".to_owned() } else { format!("{}, {} at once", count(number as u64), count(peak as u64)) }
}

pub(super) fn further(number: usize) -> String {
    format!("{} not shown.", plural(number as u64, "further one is", "further ones are"))
}

pub(super) fn no_record(total: u64) -> &'static str {
    if total == 0 { "Nothing was done yet." } else { "No record fits this filter." }
}

pub(super) fn audit_trouble(why: &str) -> String {
    format!("Nothing can be recorded now, so nothing can be released: {}", visible(why))
}

pub(super) fn webhook_trouble(why: &str) -> String {
    format!("The webhook is behind: {}", visible(why))
}

pub(super) fn open_requests(number: u64) -> Option<String> {
    match number {
        0 => None,
        1 => Some("1 request has no outcome on record yet.".to_owned()),
        many => Some(format!("{} requests have no outcome on record yet.", count(many))),
    }
}

pub(super) fn records(total: u64) -> String {
    format!("{} records, each chained to the one before", count(total))
}

pub(super) fn by_and_from(by: &str, address: Option<&str>, through: Option<&str>) -> String {
    let from = address.map_or_else(String::new, |address| format!(", from {}", visible(address)));
    let through = through.map_or_else(String::new, |replica| format!(", through the replica {}", visible(replica)));
    format!("{}{from}{through}", visible(by))
}

pub(super) fn hash(hash: &str) -> String {
    format!("SHA-256 {}", visible(hash))
}

pub(super) fn for_record(id: u64) -> String {
    format!("for #{id}")
}

pub(super) fn approved(by: &str) -> String {
    format!("Approved by {}. Who planned it can release it now, until the plan runs out.", visible(by))
}

/// Why a preset can't be ordered.
pub(super) fn allowed(clients: u32) -> String {
    format!("Allowed here: {clients} clients a strategy.")
}

pub(super) fn per_strategy(clients: u32) -> String {
    format!("per strategy (max {clients})")
}

pub(super) fn order(in_turn: bool) -> &'static str {
    if in_turn { "one after the other, to measure them" } else { "all at once, to see them" }
}

/// What those read who may only look.
pub(super) fn who_may_run(can_sign_in: bool) -> &'static str {
    if can_sign_in {
        "Operators may start a run. "
    } else {
        "Operators may start a run, and nobody can sign in here; `lockscope token new` makes a token."
    }
}
