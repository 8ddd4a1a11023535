//! Whether a session's time-out suits its client.

use serde::{Deserialize, Serialize};

use super::name::named_enum;

named_enum! {
    /// Why nothing can be said of a session's time-out.
    TimeoutUnknownReason {
        /// No member listed the session within the last minute.
        NotListed = "not_listed",
        /// The member that lists it does not name its time-out.
        NoTimeout = "no_timeout",
        /// The member that lists it does not say when it last answered it.
        NoStamps = "no_stamps",
        /// Its silences are known for less than ten minutes.
        TooSoon = "too_soon",
        /// What a member says of its silences can't be.
        Implausible = "implausible",
        /// The time-out is from a transaction log, which does not say when a client was heard.
        NotInLogs = "not_in_logs",
    }
}

/// What follows from a session's time-out and its client's silences. Durations in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutOutcome {
    /// It suits.
    Suits {
        /// A time-out that would be enough.
        enough_ms: i64,
    },
    /// A dead client would block others for longer than it must.
    Long {
        /// A time-out that would be enough.
        enough_ms: i64,
    },
    /// The client was silent for nearly all of it.
    Short {
        /// A time-out that would be enough.
        enough_ms: i64,
    },
    /// Nothing can be said.
    Unknown(TimeoutUnknownReason),
}

/// A session's time-out beside how long its client was silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTimeout {
    /// The instant that it describes, ms since the epoch.
    pub at_ms: i64,
    /// The negotiated time-out; None while neither a member nor a log named it.
    pub timeout_ms: Option<i64>,
    /// The longest silence was at least so long, ms.
    pub silence_at_least_ms: i64,
    /// The longest silence was at most so long, ms; 0 where none is known.
    pub silence_at_most_ms: i64,
    /// Over how long it is the longest, ms.
    pub over_ms: i64,
    /// What follows.
    pub outcome: TimeoutOutcome,
}
