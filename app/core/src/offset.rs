//! The offset between our clock and the ensemble's, from evidence that costs nothing: a znode can't have been
//! created after its creation event arrived. Each arrival gives `arrival - ctime`, which is the true offset
//! plus the delay of the event; the smallest of many is the best estimate. From below it is bounded by `sync`: a
//! creation that is reported only after the answer was stamped after the request was sent.

use std::collections::VecDeque;

use super::time::TimeMs;

/// A smaller estimate replaces a larger one at once; an older one is forgotten after two of these.
const PERIOD_MS: i64 = 300_000;
/// The published offset moves only when the estimate differs by more, so that instants on screen keep still.
const HYSTERESIS_MS: u64 = 25;

/// Answers remembered: a znode is read a while after its creation was reported, rarely after so many of them.
const SYNCED_MAX: usize = 8;

/// Estimate of our clock minus the ensemble leader's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// The offset that is shown.
    pub published_ms: Option<i64>,
    /// What this period's evidence allows.
    pub current: Bounds,
    /// What the evidence of the period before allows.
    pub previous: Bounds,
    /// When this period ends.
    pub period_ends_at: TimeMs,
    /// The last requests whose answer proved all before them: when the answer came, when it was asked.
    pub synced: VecDeque<(TimeMs, TimeMs)>,
}

/// What the evidence of one period allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// It is not more than this.
    pub most: Option<i64>,
    /// It is not less than this.
    pub least: Option<i64>,
}

impl Bounds {
    fn and(self, other: Self) -> Self {
        let most = self.most.into_iter().chain(other.most).min();
        Self { most, least: self.least.max(other.least) }
    }

    /// No offset fits.
    fn is_absurd(self) -> bool {
        self.least.zip(self.most).is_some_and(|(least, most)| least > most.saturating_add(1))
    }
}

impl ClockOffset {
    /// The offset; None before the first evidence.
    pub fn ms(&self) -> Option<i64> {
        self.published_ms
    }

    /// By how much the offset may be less, or more, than [`ClockOffset::ms`] says; None while nothing bounds it from
    /// below.
    pub fn error_ms(&self) -> Option<i64> {
        let bounds = self.current.and(self.previous);
        let (published, most, least) = (self.published_ms?, bounds.most?, bounds.least?);
        Some(published.saturating_sub(least).max(most.saturating_sub(published)).max(1))
    }

    /// An instant of the ensemble's clock on ours.
    pub fn to_ours(&self, ensemble_ms: i64) -> TimeMs {
        TimeMs(ensemble_ms.saturating_add(self.published_ms.unwrap_or(0)))
    }

    /// How long ago this was on the ensemble's clock, at least; None while nothing bounds it.
    pub fn age_at_least_ms(&self, now: TimeMs, ensemble_ms: i64) -> Option<i64> {
        let most = self.published_ms.or(self.current.most)?;
        Some(now.0.saturating_sub(ensemble_ms).saturating_sub(most).max(0))
    }

    /// Notes a ctime that was read by now: it was stamped before. It bounds ages while the offset is not known.
    pub fn bound(&mut self, now: TimeMs, ctime_ms: i64) {
        if self.published_ms.is_none() {
            self.current.most = self.current.most.into_iter().chain([now.0.saturating_sub(ctime_ms)]).min();
        }
    }

    /// All that was committed at `sent_at` has arrived now: what arrives from here on was stamped later.
    pub fn synced(&mut self, now: TimeMs, sent_at: TimeMs) {
        self.synced.truncate(SYNCED_MAX - 1);
        self.synced.push_front((now, sent_at));
    }

    /// Notes that the creation event of a znode with this ctime arrived.
    pub fn note(&mut self, arrived_at: TimeMs, ctime_ms: i64) {
        let synced = self.synced.iter().find(|(told_at, _)| *told_at < arrived_at).map(|(_, sent_at)| *sent_at);
        self.take_in(arrived_at, ctime_ms, synced);
    }

    /// Notes the ctime of a znode of our own, whose creation was sent and answered at these instants.
    pub fn read(&mut self, sent_at: TimeMs, told_at: TimeMs, ctime_ms: i64) {
        self.take_in(told_at, ctime_ms, Some(sent_at));
    }

    /// A stamp that was made not after `before`, and not before `after`.
    fn take_in(&mut self, before: TimeMs, ctime_ms: i64, after: Option<TimeMs>) {
        if self.published_ms.is_none() {
            // Stamps that were made long before they were read say little once there is a better one.
            self.current = Bounds::default();
        }
        if before >= self.period_ends_at {
            self.previous = std::mem::take(&mut self.current);
            self.period_ends_at = before + PERIOD_MS;
        }
        // A ctime is cut to whole milliseconds.
        let least = after.map(|after| after.0.saturating_sub(ctime_ms).saturating_sub(1));
        let sample = Bounds { most: Some(before.0.saturating_sub(ctime_ms)), least };
        let mut bounds = self.current.and(sample);
        // A clock was set: what was known before is of another time.
        if bounds.is_absurd() {
            (self.previous, bounds) = (Bounds::default(), sample);
        } else if bounds.and(self.previous).is_absurd() {
            self.previous = Bounds::default();
        }
        self.current = bounds;
        // Delays are mostly short, so the truth is nearer to the upper bound; the lower one says how near.
        let Some(estimate) = self.current.and(self.previous).most else { return };
        if self.published_ms.is_none_or(|published| published.abs_diff(estimate) > HYSTERESIS_MS) {
            self.published_ms = Some(estimate);
        }
    }

    /// The leader may be another one now.
    pub fn forget_evidence(&mut self) {
        self.current = Bounds::default();
        self.previous = Bounds::default();
        self.synced.clear();
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
    fn a_sync_before_the_creation_bounds_the_error() {
        let mut offset = ClockOffset::default();
        offset.note(TimeMs(1_000), 900);
        assert_eq!(offset.error_ms(), None, "nothing bounds it from below");
        offset.synced(TimeMs(1_995), TimeMs(1_990));
        offset.synced(TimeMs(2_030), TimeMs(2_020));
        offset.note(TimeMs(2_010), 1_900);
        assert_eq!((offset.ms(), offset.error_ms()), (Some(100), Some(11)));
        offset.synced(TimeMs(9_005), TimeMs(9_000));
        offset.note(TimeMs(9_100), 4_000);
        assert_eq!(offset.ms(), Some(5_100), "somebody set a clock");
    }

    #[test]
    fn an_ephemeral_of_our_own_bounds_it_without_any_event() {
        let mut offset = ClockOffset::default();
        offset.read(TimeMs(3_600_000), TimeMs(3_600_004), 1_000);
        assert_eq!((offset.ms(), offset.error_ms()), (Some(3_599_004), Some(5)), "an hour apart");
        offset.read(TimeMs(3_601_000), TimeMs(3_601_001), 1_999);
        assert_eq!(offset.error_ms(), Some(4));
    }

    #[test]
    fn a_clock_that_was_set_is_known_by_the_first_evidence_of_a_period() {
        let mut offset = ClockOffset::default();
        offset.read(TimeMs(1_000), TimeMs(1_000), 1_000);
        offset.read(TimeMs(1_000 + PERIOD_MS), TimeMs(1_000 + PERIOD_MS), PERIOD_MS);
        assert_eq!((offset.ms(), offset.error_ms()), (Some(1_000), Some(1)));
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
