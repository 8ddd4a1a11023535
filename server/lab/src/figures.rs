//! Many latencies as few figures: an HDR histogram of microseconds, and what is shown of it.

use hdrhistogram::Histogram;
use lockscope_view::Spread;

/// Longest latency that is distinguished, µs: an hour. Longer ones count as this.
const LONGEST_US: u64 = 3_600_000_000;
/// Digits of a value that are kept.
const DIGITS: u8 = 3;
const FIRST_BUCKET_US: u64 = 50;
/// Each bucket of what is shown is so much wider than the one before; makes about a hundred up to an hour.
const BUCKET_GROWTH: f64 = 1.2;

/// Latencies, in bounded memory.
#[derive(Clone, Debug)]
pub(super) struct Latencies(Option<Histogram<u64>>);

impl Default for Latencies {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST_US, DIGITS).ok())
    }
}

impl Latencies {
    pub(super) fn record(&mut self, us: u64) {
        if let Some(all) = &mut self.0 {
            all.saturating_record(us.clamp(1, LONGEST_US));
        }
    }

    /// Where most of them are, ms.
    pub(super) fn spread(&self) -> Spread {
        let Some(all) = self.0.as_ref().filter(|all| !all.is_empty()) else { return Spread::default() };
        let ms = |us: u64| thousandths(us.min(all.max()));
        let at = |quantile: f64| ms(all.value_at_quantile(quantile));
        Spread { count: all.len(), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: ms(all.max()) }
    }

    /// [upper bound in µs, count], rising, empty ones left out.
    pub(super) fn buckets(&self) -> Vec<(u64, u64)> {
        let Some(all) = &self.0 else { return Vec::new() };
        let buckets = all.iter_log(FIRST_BUCKET_US, BUCKET_GROWTH);
        let told = buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()));
        told.filter(|(_, count)| *count > 0).collect()
    }
}

/// Microseconds as milliseconds. Exact: no run lasts so long that its microseconds need more than 53 bits.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a run need fewer than 53 bits")]
pub(super) fn thousandths(us: u64) -> f64 {
    us as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_nothing() {
        let none = Latencies::default();
        assert_eq!((none.spread(), none.buckets()), (Spread::default(), Vec::new()));
    }

    #[test]
    fn a_hundred_are_spread_and_bucketed() {
        let mut all = Latencies::default();
        (1..=100).for_each(|ms| all.record(ms * 1_000));
        let spread = all.spread();
        assert_eq!((spread.count, spread.max.round()), (100, 100.0));
        for (told, real) in [(spread.p50, 50.0), (spread.p90, 90.0), (spread.p99, 99.0)] {
            assert!((told - real).abs() / real < 0.01, "{told} {real}");
        }
        let buckets = all.buckets();
        assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), 100);
        assert!(
            buckets.is_sorted() && buckets.iter().all(|(_, count)| *count > 0) && buckets.len() < 40,
            "{buckets:?}"
        );
    }

    #[test]
    fn what_is_too_long_counts_as_the_longest() {
        let mut all = Latencies::default();
        all.record(u64::MAX);
        all.record(0);
        assert_eq!(all.spread().count, 2);
        assert!(all.buckets().len() == 2, "{:?}", all.buckets());
    }
}
