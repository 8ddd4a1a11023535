//! What such ranges were wrong by lately, and what that changes of the next ones.
//!
//! A range is taken times a factor at each end. After each wait both factors move a little, up by nine parts or down by
//! one: where nine waits of ten end before the upper end they stay where they are. So whatever a lock's load is, in the
//! long run one wait of ten ends beyond each end (adaptive conformal inference: Gibbs and Candès, 2021; of one quantile:
//! Angelopoulos, Candès and Tibshirani, 2023).

use super::WaitRange;

/// What an end moves by when it was wrong and would never be allowed to be, as a logarithm.
const STEP: f64 = 0.08;
/// The largest factor, as a logarithm: 20.
const FACTOR_MAX: f64 = 3.0;
/// Of ten waits so many may end beyond each end.
const MISSES: f64 = 0.1;

/// How a wait went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// It held after so long.
    Held(i64),
    /// It left after so long, and did not hold by then.
    GaveUp(i64),
}

/// Where a wait ended that did not end within its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// Before it.
    Sooner,
    /// Behind it.
    Later,
}

/// Factors for both ends of a range, as natural logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    low: f64,
    high: f64,
}

impl Correction {
    /// The range that is told.
    #[must_use]
    pub fn of(&self, range: WaitRange) -> WaitRange {
        let high = times(range.high_ms, self.high, f64::ceil);
        let low = times(range.low_ms, self.low, f64::floor).min(high);
        WaitRange { low_ms: low, middle_ms: range.middle_ms.clamp(low, high), high_ms: high }
    }

    /// Learns from a wait of which this range was told. Whoever gave up before its end says nothing.
    pub fn learn(&mut self, told: WaitRange, end: WaitEnd) {
        let Some(miss) = told.judge(end) else { return };
        let moved = |is_missed: bool| STEP * if is_missed { 1.0 - MISSES } else { -MISSES };
        self.high = (self.high + moved(miss == Some(Miss::Later))).clamp(-FACTOR_MAX, FACTOR_MAX);
        self.low = (self.low - moved(miss == Some(Miss::Sooner))).clamp(-FACTOR_MAX, FACTOR_MAX);
    }
}

/// One millisecond is added before and taken away again, so that nothing can be widened as well.
fn times(ms: i64, factor: f64, round: impl Fn(f64) -> f64) -> i64 {
    let scaled = round((ms.max(0) as f64 + 1.0) * factor.exp() - 1.0);
    // Casts of floating-point numbers go to the nearest integer there is.
    (scaled.max(0.0)) as i64
}

impl WaitRange {
    /// Where a wait ended: `Some(None)` is inside. None where that is not known, since it was given up before the end of
    /// the range. One that was given up behind it is beyond it, whenever it would have ended.
    pub fn judge(&self, end: WaitEnd) -> Option<Option<Miss>> {
        match end {
            WaitEnd::Held(ms) if ms < self.low_ms => Some(Some(Miss::Sooner)),
            WaitEnd::Held(ms) if ms > self.high_ms => Some(Some(Miss::Later)),
            WaitEnd::Held(_) => Some(None),
            WaitEnd::GaveUp(ms) if ms > self.high_ms => Some(Some(Miss::Later)),
            WaitEnd::GaveUp(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low_ms: i64, high_ms: i64) -> WaitRange {
        WaitRange { low_ms, middle_ms: (low_ms + high_ms) / 2, high_ms }
    }

    #[test]
    fn whoever_gave_up_within_the_range_says_nothing() {
        let told = range(10, 20);
        assert_eq!(told.judge(WaitEnd::GaveUp(20)), None);
        assert_eq!(told.judge(WaitEnd::GaveUp(21)), Some(Some(Miss::Later)));
        assert_eq!(told.judge(WaitEnd::Held(9)), Some(Some(Miss::Sooner)));
        assert_eq!((told.judge(WaitEnd::Held(10)), told.judge(WaitEnd::Held(20))), (Some(None), Some(None)));
    }

    #[test]
    fn a_range_that_is_always_too_short_grows_until_it_is_right() {
        let (mut correction, mut right) = (Correction::default(), 0);
        for number in 0..1_000 {
            let told = correction.of(range(10, 20));
            let end = WaitEnd::Held(20 + 10 * (number % 10));
            right += i32::from(told.judge(end) == Some(None));
            correction.learn(told, end);
        }
        assert!((750..=950).contains(&right), "{right}");
    }

    #[test]
    fn ends_never_cross_and_stay_within_bounds() {
        let mut correction = Correction::default();
        for _ in 0..10_000 {
            let told = correction.of(range(0, 0));
            assert!(told.low_ms <= told.middle_ms && told.middle_ms <= told.high_ms);
            correction.learn(told, WaitEnd::Held(i64::MAX));
        }
        let widest = correction.of(range(100, 100));
        assert!(widest.high_ms <= 101 * 21 && widest.low_ms <= widest.high_ms, "{widest:?}");
        let far = correction.of(range(0, i64::MAX));
        assert!(far.high_ms >= far.low_ms && far.low_ms >= 0);
    }
}
