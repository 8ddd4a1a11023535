//! A member's running clock, which starts somewhere and never jumps, on ours. Members stamp with it when they last
//! answered a client and when a session runs out.

use crate::time::TimeMs;

/// A lower bound that is off by more says that the clock began anew: the member's host was started again. Wall clocks
/// may disagree by as much.
const RESTART_MS: i64 = 600_000;

/// Estimate of our clock minus a member's running clock. An instant in an answer can't be later than the answer, so
/// each gives an upper bound; the smallest is the best. It is too late by the time since that client was last answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunningClock {
    /// The smallest upper bound; None before any answer.
    pub least: Option<i64>,
}

impl RunningClock {
    /// Notes an answer asked for at `asked_at`: for each connection when it was last answered, and since when, on the
    /// member's wall clock, it is there.
    pub(super) fn note(&mut self, asked_at: TimeMs, stamps: impl Iterator<Item = (i64, Option<i64>)>) {
        let (mut newest, mut floor) = (None, None);
        for (answered_ms, established_ms) in stamps {
            newest = newest.max(Some(answered_ms));
            floor = floor.max(established_ms.map(|since| since.saturating_sub(answered_ms)));
        }
        let Some(sample) = newest.map(|newest| asked_at.0.saturating_sub(newest)) else { return };
        let began_anew = self.least.zip(floor).is_some_and(|(least, floor)| floor > least.saturating_add(RESTART_MS));
        self.least = Some(self.least.filter(|_| !began_anew).map_or(sample, |least| least.min(sample)));
    }

    /// An instant of the running clock on ours; None before any answer.
    pub(super) fn to_ours(self, running_ms: i64) -> Option<TimeMs> {
        self.least.map(|least| TimeMs(running_ms.saturating_add(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_freshest_answer_of_all_is_taken_for_now() {
        let mut clock = RunningClock::default();
        assert_eq!(clock.to_ours(5), None);
        clock.note(TimeMs(100_000), [(700, None), (300, None)].into_iter());
        assert_eq!(clock.to_ours(700), Some(TimeMs(100_000)));
        clock.note(TimeMs(105_000), [(5_950, None)].into_iter());
        assert_eq!(clock.to_ours(700), Some(TimeMs(99_750)));
    }

    #[test]
    fn a_silent_client_does_not_move_it_and_a_restarted_host_does() {
        let mut clock = RunningClock::default();
        clock.note(TimeMs(10_000_000), [(9_000_000, Some(9_000_000))].into_iter());
        clock.note(TimeMs(10_090_000), [(9_000_000, Some(9_000_000))].into_iter());
        assert_eq!(clock.to_ours(9_000_000), Some(TimeMs(10_000_000)));
        clock.note(TimeMs(10_200_000), [(50_000, Some(10_190_000))].into_iter());
        assert_eq!(clock.to_ours(50_000), Some(TimeMs(10_200_000)));
    }
}
