//! The offset between our clock and the ensemble's, from evidence that costs nothing: a znode can't have been
//! created after its creation event arrived. Each arrival gives `arrival - ctime`, which is the true offset
//! plus the delay of the event; the smallest of many is the best estimate.

use super::time::TimeMs;

/// A smaller estimate replaces a larger one at once; an older one is forgotten after two of these.
const PERIOD_MS: i64 = 300_000;
/// The published offset moves only when the estimate differs by more, so that instants on screen keep still.
const HYSTERESIS_MS: i64 = 25;

/// Estimate of our clock minus the ensemble leader's.
#[derive(Clone, Debug, Default)]
pub struct ClockOffset {
    published_ms: Option<i64>,
    current: Option<i64>,
    previous: Option<i64>,
    period_ends_at: TimeMs,
}

impl ClockOffset {
    /// The offset; None before the first evidence.
    pub fn ms(&self) -> Option<i64> {
        self.published_ms
    }

    /// An instant of the ensemble's clock on ours.
    pub fn to_ours(&self, ensemble_ms: i64) -> TimeMs {
        TimeMs(ensemble_ms.saturating_add(self.published_ms.unwrap_or(0)))
    }

    /// Notes that the creation event of a znode with this ctime arrived now.
    pub fn note(&mut self, arrived_at: TimeMs, ctime_ms: i64) {
        if arrived_at >= self.period_ends_at {
            self.previous = self.current.take();
            self.period_ends_at = arrived_at + PERIOD_MS;
        }
        let sample = arrived_at.0.saturating_sub(ctime_ms);
        self.current = Some(self.current.map_or(sample, |least| least.min(sample)));
        let estimate = self.previous.map_or(sample, |least| least.min(sample)).min(self.current.unwrap_or(sample));
        if self.published_ms.is_none_or(|published| (published - estimate).abs() > HYSTERESIS_MS) {
            self.published_ms = Some(estimate);
        }
    }

    /// The leader may be another one now.
    pub fn forget_evidence(&mut self) {
        self.current = None;
        self.previous = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_smallest_delay_and_keeps_still() {
        let mut offset = ClockOffset::default();
        assert_eq!(offset.to_ours(5), TimeMs(5));
        offset.note(TimeMs(1_500), 1_000);
        offset.note(TimeMs(2_100), 2_000);
        assert_eq!(offset.ms(), Some(100));
        offset.note(TimeMs(3_090), 3_000);
        assert_eq!(offset.ms(), Some(100));
        offset.note(TimeMs(4_900), 4_000);
        assert_eq!(offset.to_ours(4_000), TimeMs(4_100));
    }

    #[test]
    fn a_new_leader_may_be_later_as_well() {
        let mut offset = ClockOffset::default();
        offset.note(TimeMs(1_000), 1_000);
        offset.forget_evidence();
        offset.note(TimeMs(9_000), 2_000);
        assert_eq!(offset.ms(), Some(7_000));
    }
}
