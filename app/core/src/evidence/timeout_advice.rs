//! Whether a session's time-out suits how long its client is ever silent: dead time that a shorter one would save, against
//! sessions that end although their client lives. Pure; what it rests on is in `silence`.

use super::SessionRecord;
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

impl SessionRecord {
    /// What can be said of its time-out as of now; `tick_ms`: no server grants less than two ticks.
    pub fn timeout_advice(&self, now: TimeMs, tick_ms: i64) -> Option<TimeoutAdvice> {
        let timeout_ms = self.timeout_ms.filter(|ms| *ms > 0)?;
        let over_ms = self.silences.over_ms(now);
        let is_listed = self.listed_at.is_some_and(|at| now.since(at) <= LISTED_MAX_MS);
        if !is_listed || over_ms < WATCHED_MIN_MS {
            return None;
        }
        let longest = self.silences.longest();
        let least_ms = ENOUGH_MIN_MS.max(tick_ms.saturating_mul(2));
        let enough = |silence_ms: i64| {
            let late_ms = silence_ms.saturating_sub(timeout_ms / THIRDS).max(0);
            whole_seconds(least_ms.max(late_ms.saturating_mul(LATENESS_TIMES * THIRDS)))
        };
        let advice = |fit, silence_ms, enough_ms| TimeoutAdvice { fit, timeout_ms, silence_ms, enough_ms, over_ms };
        let (at_least_ms, at_most_ms) = (i64::from(longest.at_least_ms), i64::from(longest.at_most_ms));
        // No session lives that was silent for longer than this: what a member says then is not believed.
        let is_possible = at_least_ms <= timeout_ms.saturating_add(tick_ms.max(0).saturating_mul(2));
        if is_possible && at_least_ms.saturating_mul(4) >= timeout_ms.saturating_mul(3) {
            let enough_ms = whole_seconds(enough(at_least_ms).max(at_least_ms.saturating_mul(2)));
            return Some(advice(TimeoutFit::Short, at_least_ms, enough_ms));
        }
        let enough_ms = enough(at_most_ms);
        (at_most_ms > 0 && timeout_ms / LONG_TIMES >= enough_ms)
            .then(|| advice(TimeoutFit::Long, at_most_ms, enough_ms))
    }
}

fn whole_seconds(ms: i64) -> i64 {
    ms.saturating_add(SECOND_MS - 1) / SECOND_MS * SECOND_MS
}
