//! When the model looks at the clock although nothing happens. Close behind a change as often as a live one; else less, but
//! whenever something is due, and often enough that what is shown is never older than it may be.

use lockscope_core::observatory::LIVE_AGE_MAX_MS;
use lockscope_core::time::TimeMs;

/// Between two ticks close behind a change.
const TICK_MS: i64 = 250;
/// So long a change is close.
const ACTIVE_MS: i64 = 3_000;
/// Between two ticks at most.
const IDLE_MS: i64 = LIVE_AGE_MAX_MS;

/// The ticks between two changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    ticked_at: TimeMs,
    changed_at: TimeMs,
}

impl Pace {
    pub(crate) fn new(now: TimeMs) -> Self {
        Self { ticked_at: now, changed_at: now }
    }

    pub(crate) fn changed(&mut self, now: TimeMs) {
        self.changed_at = now;
    }

    pub(crate) fn ticked(&mut self, now: TimeMs) {
        self.ticked_at = now;
    }

    /// The next tick, where something is due at `due`.
    pub(crate) fn next(&self, due: Option<TimeMs>) -> TimeMs {
        let soon = self.ticked_at + TICK_MS;
        if self.ticked_at.since(self.changed_at) < ACTIVE_MS {
            return soon;
        }
        let late = self.ticked_at + IDLE_MS;
        due.map_or(late, |due| due.max(soon).min(late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_close_behind_changes_and_never_further_apart_than_a_view_may_be_old() {
        let mut pace = Pace::new(TimeMs(0));
        let mut ticks = Vec::new();
        while ticks.last().is_none_or(|at| *at < TimeMs(8_000)) {
            let at = pace.next(Some(TimeMs(5_600)).filter(|due| *due > pace.ticked_at));
            pace.ticked(at);
            ticks.push(at);
        }
        assert!(ticks.windows(2).all(|pair| pair[1].since(pair[0]) <= LIVE_AGE_MAX_MS));
        assert_eq!(ticks.iter().filter(|at| **at <= TimeMs(3_000)).count(), 12);
        assert!(ticks.contains(&TimeMs(5_600)), "what is due is looked at then: {ticks:?}");
    }
}
