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

/// Between two looks at the counters of directories, as a live sweep takes them.
const COUNT_MS: i64 = 1_000;

/// The ticks between two changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    ticked_at: TimeMs,
    changed_at: TimeMs,
    count_at: TimeMs,
}

impl Pace {
    pub(crate) fn new(now: TimeMs) -> Self {
        Self { ticked_at: now, changed_at: now, count_at: now }
    }

    pub(crate) fn changed(&mut self, now: TimeMs) {
        self.changed_at = now;
    }

    pub(crate) fn ticked(&mut self, now: TimeMs) {
        self.ticked_at = now;
    }

    /// Whether the counters of directories are looked at in the tick of this instant.
    pub(crate) fn counts(&mut self, now: TimeMs) -> bool {
        let is_due = now >= self.count_at;
        if is_due {
            self.count_at = now + COUNT_MS;
        }
        is_due
    }

    /// They are looked at in the next tick, whenever that is.
    pub(crate) fn count_now(&mut self) {
        self.count_at = self.ticked_at;
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

    #[test]
    fn counters_are_looked_at_once_a_second_and_in_the_end() {
        let mut pace = Pace::new(TimeMs(0));
        let looked: Vec<i64> = (0..=3_000).step_by(250).filter(|at| pace.counts(TimeMs(*at))).collect();
        assert_eq!(looked, [0, 1_000, 2_000, 3_000]);
        assert!(!pace.counts(TimeMs(3_100)));
        pace.count_now();
        assert!(pace.counts(TimeMs(3_100)));
    }
}
