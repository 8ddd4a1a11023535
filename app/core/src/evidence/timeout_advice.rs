//! Whether a session's time-out suits how long its client is ever silent: dead time that a shorter one would save, against
//! sessions that end although their client lives. Pure; what it rests on is in `silence`.

use super::{SessionRecord, Silence};
use crate::time::TimeMs;

/// A session's silences are believed once they are known for so long.
pub const WATCHED_MIN_MS: i64 = 600_000;
/// No shorter time-out is ever advised: pauses of some seconds are rare, and not seen in every day.
pub const ENOUGH_MIN_MS: i64 = 10_000;
/// A session that no answer listed for so long is spoken of no more.
const LISTED_MAX_MS: i64 = 60_000;
/// Clients ping after a third of the time-out in which they sent nothing. What a silence is longer than that is lateness;
/// a time-out is enough when a third of it is twice the lateness.
const THIRDS: i64 = 3;
const LATENESS_TIMES: i64 = 2;
/// A time-out is called long when it is so many times what is enough.
const LONG_TIMES: i64 = 2;
const SECOND_MS: i64 = 1_000;

/// What is wrong with a time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutFit {
    /// A dead client blocks others for longer than it must.
    Long,
    /// The client was silent for nearly all of it.
    Short,
}

/// A time-out that does not suit its session. Durations in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutAdvice {
    /// What is wrong with it.
    pub fit: TimeoutFit,
    /// The negotiated time-out.
    pub timeout_ms: i64,
    /// The longest silence: at most for a long time-out, at least for a short one.
    pub silence_ms: i64,
    /// A time-out that would be enough; in whole seconds.
    pub enough_ms: i64,
    /// Over how long the silence is the longest.
    pub over_ms: i64,
}

/// A session's time-out, what is known of its client's silences, and what follows. Durations in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutAssessment {
    /// The negotiated time-out; None while neither a member nor a log named it.
    pub timeout_ms: Option<i64>,
    /// The longest silence.
    pub longest: Silence,
    /// Over how long it is the longest.
    pub over_ms: i64,
    /// What follows.
    pub outcome: TimeoutOutcome,
}

impl TimeoutAssessment {
    /// Of a session of which no member ever said anything.
    pub const NOT_LISTED: Self = Self {
        timeout_ms: None,
        longest: Silence { at_least_ms: 0, at_most_ms: 0 },
        over_ms: 0,
        outcome: TimeoutOutcome::Unknown(TimeoutUnknown::NotListed),
    };
}

/// Whether a time-out suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutOutcome {
    /// Nothing can be said.
    Unknown(TimeoutUnknown),
    /// It does.
    Suits {
        /// A time-out that would be enough; in whole seconds.
        enough_ms: i64,
    },
    /// It does not.
    Unsuited(TimeoutAdvice),
}

/// Why nothing can be said of a time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutUnknown {
    /// No member listed the session within the last minute: they do not answer, or its client is away.
    NotListed,
    /// The member that lists it does not name its time-out.
    NoTimeout,
    /// The member that lists it does not say when it last answered it.
    NoStamps,
    /// Its silences are not known for long enough yet.
    TooSoon,
    /// The time-out is from a transaction log, which does not say when a client was heard.
    NotInLogs,
    /// A member claims a silence in which the session would have ended, or none at all.
    Implausible,
}

impl SessionRecord {
    /// What can be said of its time-out as of now; `tick_ms`: no server grants less than two ticks.
    pub fn assess_timeout(&self, now: TimeMs, tick_ms: i64) -> TimeoutAssessment {
        let timeout_ms = self.timeout_ms.filter(|ms| *ms > 0);
        let (longest, over_ms) = (self.silences.longest(), self.silences.over_ms(now));
        let is_listed = self.listed_at.is_some_and(|at| now.since(at) <= LISTED_MAX_MS);
        let outcome = match timeout_ms {
            // No round of the members ever spoke of it.
            Some(_) if self.round == 0 => TimeoutOutcome::Unknown(TimeoutUnknown::NotInLogs),
            _ if !is_listed => TimeoutOutcome::Unknown(TimeoutUnknown::NotListed),
            None => TimeoutOutcome::Unknown(TimeoutUnknown::NoTimeout),
            _ if self.silences.since.is_none() => TimeoutOutcome::Unknown(TimeoutUnknown::NoStamps),
            _ if over_ms < WATCHED_MIN_MS => TimeoutOutcome::Unknown(TimeoutUnknown::TooSoon),
            Some(timeout_ms) => judge(timeout_ms, longest, over_ms, tick_ms),
        };
        TimeoutAssessment { timeout_ms, longest, over_ms, outcome }
    }

    /// What is wrong with its time-out, if anything is known to be.
    pub fn timeout_advice(&self, now: TimeMs, tick_ms: i64) -> Option<TimeoutAdvice> {
        match self.assess_timeout(now, tick_ms).outcome {
            TimeoutOutcome::Unsuited(advice) => Some(advice),
            TimeoutOutcome::Unknown(_) | TimeoutOutcome::Suits { .. } => None,
        }
    }
}

fn judge(timeout_ms: i64, longest: Silence, over_ms: i64, tick_ms: i64) -> TimeoutOutcome {
    let least_ms = ENOUGH_MIN_MS.max(tick_ms.saturating_mul(2));
    let enough = |silence_ms: i64| {
        let late_ms = silence_ms.saturating_sub(timeout_ms / THIRDS).max(0);
        whole_seconds(least_ms.max(late_ms.saturating_mul(LATENESS_TIMES * THIRDS)))
    };
    let unsuited = |fit, silence_ms, enough_ms| {
        TimeoutOutcome::Unsuited(TimeoutAdvice { fit, timeout_ms, silence_ms, enough_ms, over_ms })
    };
    let (at_least_ms, at_most_ms) = (i64::from(longest.at_least_ms), i64::from(longest.at_most_ms));
    // No session lives that was silent for longer than this: what a member says then is not believed.
    if at_least_ms > timeout_ms.saturating_add(tick_ms.max(0).saturating_mul(2)) || at_most_ms == 0 {
        return TimeoutOutcome::Unknown(TimeoutUnknown::Implausible);
    }
    if at_least_ms.saturating_mul(4) >= timeout_ms.saturating_mul(3) {
        let enough_ms = whole_seconds(enough(at_least_ms).max(at_least_ms.saturating_mul(2)));
        return unsuited(TimeoutFit::Short, at_least_ms, enough_ms);
    }
    let enough_ms = enough(at_most_ms);
    if timeout_ms / LONG_TIMES >= enough_ms {
        return unsuited(TimeoutFit::Long, at_most_ms, enough_ms);
    }
    TimeoutOutcome::Suits { enough_ms }
}

fn whole_seconds(ms: i64) -> i64 {
    ms.saturating_add(SECOND_MS - 1) / SECOND_MS * SECOND_MS
}
