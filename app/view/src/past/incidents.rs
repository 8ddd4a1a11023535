//! When something was wrong with which locks, because of whom.

use serde::{Deserialize, Serialize};

use super::Coverage;
use crate::Verdict;
use crate::name::named_enum;

named_enum! {
    /// How an incident ended.
    #[derive(Default)]
    IncidentEnd {
        /// Whoever held let go.
        Released = "released",
        /// The session of whoever held ended.
        SessionEnded = "session_ended",
        /// Somebody released it through Lockscope.
        Forced = "forced",
        /// Whoever waited gave up.
        GaveUp = "gave_up",
        /// It is held still, and nothing is wrong with it any longer.
        Recovered = "recovered",
        /// Nobody looked when it ended.
        #[default]
        Unknown = "unknown",
        /// It goes on.
        Still = "still",
    }
}

named_enum! {
    /// Who waited for whom in an incident.
    #[derive(Default)]
    WaitShape {
        /// Nobody waited for long.
        #[default]
        Nobody = "nobody",
        /// Whoever waited held nothing meanwhile.
        Line = "line",
        /// Some waited at one of its locks while they held another.
        Chain = "chain",
        /// They waited for each other: a verdict of one of its locks was `deadlocked` or `maybe_deadlocked`.
        Circle = "circle",
    }
}

/// When something was wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incidents {
    /// The ensemble.
    pub ensemble: String,
    /// The newest first: those that overlap the range.
    pub incidents: Vec<Incident>,
    /// Further ones, which are older and not listed.
    pub left_out: usize,
    /// How much of the range is known.
    pub coverage: Coverage,
}

/// Something was wrong with one lock, or with several that were connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Incident {
    /// Names it, with its ensemble.
    pub id: String,
    /// When it began, ms since the epoch.
    pub from_at_ms: i64,
    /// When it ended; null while it goes on.
    pub to_at_ms: Option<i64>,
    /// The worst verdict; `healthy` where findings alone say that something was wrong.
    pub worst: Verdict,
    /// Findings by which somebody was hurt, by their codes.
    pub findings: Vec<String>,
    /// Its locks that may be seen, in the order in which trouble began.
    pub locks: Vec<String>,
    /// The lock that the client held which is charged most of the waiting.
    pub root_lock: String,
    /// Who that said it was; null where nobody did, or where payloads are not shown.
    pub root_client: Option<String>,
    /// The host that it came from.
    pub root_host: Option<String>,
    /// Its session; null where no session owns what was held.
    pub root_session_id: Option<String>,
    /// Sessions that waited 1 s or longer within it.
    pub victims: usize,
    /// The most that waited at once.
    pub victims_peak: usize,
    /// All waiting within it together.
    pub waiting_ms: i64,
    /// There was more waiting: not all who waited were looked at.
    pub is_lower_bound: bool,
    /// How it ended: `released`, `session_ended` (of the holder), `forced` (through Lockscope), `gave_up` (the waiters),
    /// `recovered` (it was held still, or nobody held), `unknown` (nobody looked) or `still`.
    pub ended_by: IncidentEnd,
    /// Whether it can be seen now that it goes on: false while the ensemble is not, and over an autopsy; null where it is over.
    pub is_seen_now: Option<bool>,
    /// Who released it through Lockscope, where that ended it and the caller may know it; null otherwise.
    pub forced_by: Option<String>,
    /// How often its root lock had the same worst verdict in the 30 days before.
    pub seen_before: usize,
    /// What happened, in plain words.
    pub sentence: String,
    /// Who is at its root, as well as that may be said.
    #[serde(skip)]
    pub root: Option<String>,
    /// The finding that says what was wrong, where no verdict does.
    #[serde(skip)]
    pub finding: Option<String>,
}

impl Incident {
    /// How long it lasted, or lasts by now.
    pub fn lasted_ms(&self, now_ms: i64) -> i64 {
        self.to_at_ms.unwrap_or(now_ms).saturating_sub(self.from_at_ms).max(0)
    }

    /// A lock's path, or who is at its root, contains a text.
    pub fn has(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let root = [&self.root_client, &self.root_host, &self.root_session_id];
        self.locks.iter().chain(root.into_iter().flatten()).any(|one| one.to_lowercase().contains(&text))
    }
}

/// One incident, with who was there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneIncident {
    /// The ensemble.
    pub ensemble: String,
    /// What is said of it in a list.
    #[serde(flatten)]
    pub incident: Incident,
    /// Contenders that held or waited at its locks meanwhile, in the order in which they joined.
    pub lives: Vec<IncidentLife>,
    /// Further ones, which held and waited less.
    pub lives_left_out: usize,
    /// When its root lock had the same worst verdict before, the newest first: ten at most.
    pub earlier: Vec<EarlierIncident>,
    /// What those have in common, in plain words; null where there is none.
    pub again: Option<String>,
    /// What it looked like, and incidents that were like it on whatever lock; null where there was no time to look.
    pub alike: Option<AlikeIncidents>,
    /// What was released through Lockscope meanwhile, the oldest first.
    pub releases: Vec<IncidentRelease>,
    /// Alerts at its locks that fired meanwhile or within a minute, the oldest first.
    pub alerts: Vec<IncidentAlert>,
}

/// An earlier incident of the same lock with the same worst verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierIncident {
    /// Names it.
    pub id: String,
    /// When it began, ms since the epoch.
    pub from_at_ms: i64,
    /// How long it lasted.
    pub lasted_ms: i64,
    /// How it ended, as above.
    pub ended_by: IncidentEnd,
    /// Who was at its root, as well as that may be said.
    #[serde(skip)]
    pub root: Option<String>,
}

/// Somebody who held or waited.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentLife {
    /// The lock.
    pub lock: String,
    /// The session.
    pub session_id: Option<String>,
    /// Who it said it was; null where payloads are not shown.
    pub label: Option<String>,
    /// The host that it came from.
    pub host: Option<String>,
    /// When it came, ms since the epoch.
    pub joined_at_ms: i64,
    /// When it held first; null when it never did.
    pub held_at_ms: Option<i64>,
    /// When it left; null while it is there.
    pub left_at_ms: Option<i64>,
    /// How it ended, as in `/api/v1/history/holds`, or `still`.
    pub how: &'static str,
    /// It made the others wait.
    #[serde(skip)]
    pub is_root: bool,
    /// It waits for something that somebody should let go.
    #[serde(skip)]
    pub is_waiting: bool,
}

/// What an incident looked like: by it others are found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentSignature {
    /// The recipe of the root's lock; null where nobody was at it.
    pub recipe: Option<String>,
    /// The worst verdict.
    pub worst: Verdict,
    /// Findings by which somebody was hurt.
    pub findings: Vec<String>,
    /// Who waited for whom: `nobody` for long, a `line`, a `chain` over several locks, or a `circle`.
    pub shape: WaitShape,
    /// How many locks: 1, 2, or 3 for more.
    pub locks: usize,
    /// The application of who was at the root; null where that is not known, or where payloads are not shown.
    pub application: Option<String>,
    /// How it ended.
    pub ended_by: IncidentEnd,
}

impl IncidentSignature {
    /// Everything but how it ended is the same.
    pub fn is_like(&self, other: &Self) -> bool {
        let ended_by = other.ended_by;
        Self { ended_by, ..self.clone() } == *other
    }

    /// How it ended is the same as well; of what goes on that is not known yet.
    pub fn ended_like(&self, other: &Self) -> bool {
        self.is_like(other) && self.ended_by == other.ended_by && self.ended_by != IncidentEnd::Still
    }
}

/// Incidents of the 30 days before that were like it, on whatever lock.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlikeIncidents {
    /// What is the same in all of them, but for how they ended.
    pub signature: IncidentSignature,
    /// How many there are.
    pub count: usize,
    /// How many of them ended as this one did.
    pub ended_likewise: usize,
    /// There may be more: older ones were not looked at.
    pub is_lower_bound: bool,
    /// The newest first: ten at most.
    pub incidents: Vec<AlikeIncident>,
    /// The same in plain words.
    #[serde(skip)]
    pub sentence: String,
}

/// An incident like another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlikeIncident {
    /// Names it.
    pub id: String,
    /// When it began, ms since the epoch.
    pub from_at_ms: i64,
    /// How long it lasted.
    pub lasted_ms: i64,
    /// The root's lock.
    pub root_lock: String,
    /// How it ended.
    pub ended_by: IncidentEnd,
    /// As the other one did.
    #[serde(skip)]
    pub is_likewise: bool,
}

/// A release through Lockscope.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentRelease {
    /// When the contender was gone, ms since the epoch.
    pub at_ms: i64,
    /// The lock.
    pub lock: String,
    /// Who released it; null where that is not kept, or for those who may not read the audit log.
    pub by: Option<String>,
    /// The number of its outcome in the audit log; null likewise.
    pub record: Option<u64>,
}

/// An alert.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncidentAlert {
    /// Which it is, as in `/api/v1/alerts`.
    pub key: String,
    /// The rule's name.
    pub rule: String,
    /// The lock.
    pub lock: String,
    /// How bad.
    pub severity: &'static str,
    /// When it fired, ms since the epoch.
    pub fired_at_ms: i64,
    /// When it was over; null before.
    pub resolved_at_ms: Option<i64>,
    /// Who looks at it; null when nobody does.
    pub acked_by: Option<String>,
    /// What is wrong.
    pub sentence: String,
}
