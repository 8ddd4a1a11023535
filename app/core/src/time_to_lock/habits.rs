//! How a lock was held and waited for so far.

use super::{Correction, NoEstimate};
use crate::tally::Histogram;

/// Holds that are known, at most. Overflow policy: of a histogram so many that are spread as all of them.
pub const HOLDS_KEPT_MAX: usize = 512;
/// Fewer ended holds say nothing of the rare ones: of 20, two are expected outside the central 80 % at each end.
pub const HOLDS_MIN: usize = 20;
/// So many holds have to have been longer than one that goes on. Of fewer, none says when it will end.
const LONGER_MIN: usize = 3;

/// Durations of holds, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HoldTimes(Vec<i64>);

impl HoldTimes {
    /// The first [`HOLDS_KEPT_MAX`] of these.
    pub fn of(ms: impl Iterator<Item = i64>) -> Self {
        let mut all: Vec<i64> = ms.take(HOLDS_KEPT_MAX).map(|ms| ms.max(0)).collect();
        all.sort_unstable();
        Self(all)
    }

    /// Those of a histogram.
    pub fn of_histogram(histogram: &Histogram) -> Self {
        Self(histogram.spread(HOLDS_KEPT_MAX))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// For how long one that goes on since so long may last, in as many parts of equal weight as the slice has places.
    pub(super) fn remaining(&self, age_ms: i64, parts: &mut [i64]) -> Result<(), NoEstimate> {
        let age_ms = age_ms.max(0);
        let longer = self.0.get(self.0.partition_point(|ms| *ms < age_ms)..).unwrap_or_default();
        if self.0.len() < HOLDS_MIN {
            return Err(NoEstimate::TooFewHolds);
        }
        if longer.len() < LONGER_MIN {
            return Err(NoEstimate::HolderBeyondSeen);
        }
        let number = parts.len();
        for (at, part) in parts.iter_mut().enumerate() {
            *part = quantile(longer, 2 * at + 1, 2 * number).saturating_sub(age_ms).max(0);
        }
        Ok(())
    }
}

/// What `part` of `parts` of ascending values do not exceed, between two of them in proportion.
fn quantile(ascending: &[i64], part: usize, parts: usize) -> i64 {
    // In halves of a value: the first value is the middle of the first of as many equal parts as there are values.
    let at = (2 * part * ascending.len()).saturating_sub(parts);
    let (index, rest) = (at / (2 * parts), at % (2 * parts));
    let low = ascending.get(index).or(ascending.last()).copied().unwrap_or(0);
    let high = ascending.get(index + 1).copied().unwrap_or(low);
    // Rounded to the nearest: rounded down, half a millisecond would be missing from each of 10,000 holds.
    let between = (i128::from(high.saturating_sub(low)) * rest as i128 + parts as i128) / (2 * parts) as i128;
    low.saturating_add(i64::try_from(between).unwrap_or(0))
}

/// What is known of how a lock is used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Habits {
    /// How long it was held.
    pub holds: HoldTimes,
    /// From the end of a hold to the beginning of the next, while somebody waited.
    pub hand_off_ms: i64,
    /// How many waiters give up in a millisecond of waiting: those that gave up, by all waiting together.
    pub give_up_rate: f64,
    /// By how much such ranges were wrong lately.
    pub correction: Correction,
}

impl Habits {
    /// Those of the model alone, where nothing is recorded: nobody counts as giving up, and nothing is corrected.
    pub fn of_histogram(holds: &Histogram) -> Self {
        Self { holds: HoldTimes::of_histogram(holds), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_of_those_that_were_longer() {
        let holds = HoldTimes::of((1..=100).map(|number| number * 10));
        let mut parts = [0; 10];
        holds.remaining(0, &mut parts).unwrap();
        assert_eq!((parts[0], parts[9]), (55, 955));
        holds.remaining(900, &mut parts).unwrap();
        assert!(parts[0] < 10 && parts[9] > 90 && parts[9] <= 100, "{parts:?}");
        assert_eq!(holds.remaining(981, &mut parts), Err(NoEstimate::HolderBeyondSeen));
        assert_eq!(HoldTimes::of(0..19).remaining(0, &mut parts), Err(NoEstimate::TooFewHolds));
        holds.remaining(-5, &mut parts).unwrap();
        assert_eq!(parts[0], 55, "a clock that was set back makes nobody younger than new");
    }

    #[test]
    fn all_the_same_is_no_range() {
        let mut parts = [7; 8];
        HoldTimes::of(std::iter::repeat_n(0, 30)).remaining(0, &mut parts).unwrap();
        assert_eq!(parts, [0; 8]);
    }

    #[test]
    fn a_histogram_is_spread_as_what_was_noted() {
        let mut histogram = Histogram::default();
        (0..10_000).for_each(|number| histogram.note(number % 1_000));
        let (HoldTimes(spread), mut few) = (HoldTimes::of_histogram(&histogram), Histogram::default());
        assert!(spread.len() == HOLDS_KEPT_MAX && spread.is_sorted());
        for (at, ms) in spread.iter().enumerate() {
            let truth = at as i64 * 1_000 / HOLDS_KEPT_MAX as i64;
            assert!((ms - truth).abs() <= truth / 8 + 2, "{ms} for {truth}");
        }
        [5, 5, 700].into_iter().for_each(|ms| few.note(ms));
        let HoldTimes(few) = HoldTimes::of_histogram(&few);
        assert!(few.len() == 3 && few[..2] == [5, 5] && (640..=703).contains(&few[2]), "{few:?}");
        assert_eq!(HoldTimes::of_histogram(&Histogram::default()).count(), 0);
    }
}
