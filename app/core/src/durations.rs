//! Durations of a whole ensemble, counted by edges that never change: what can be added up over servers and compared
//! over weeks. A lock's own percentiles are in `tally`.

/// Upper edges of the buckets, in milliseconds; what is longer is in one more bucket.
pub const EDGES_MS: [i64; 16] =
    [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000];

/// How many lasted how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// How many fell into each bucket.
    pub buckets: [u64; EDGES_MS.len() + 1],
    /// All of them together, in milliseconds.
    pub sum_ms: u64,
}

impl Durations {
    /// Notes one. An instant of another clock may make it negative: then it counts as nothing.
    pub fn note(&mut self, ms: i64) {
        let at = EDGES_MS.partition_point(|edge| *edge < ms);
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket += 1;
        }
        self.sum_ms = self.sum_ms.saturating_add(u64::try_from(ms).unwrap_or(0));
    }

    /// How many were noted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// All of them together, in milliseconds.
    pub fn sum_ms(&self) -> u64 {
        self.sum_ms
    }
}

/// Durations of all locks together, gone ones included: they only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Waits that ended in a hold.
    pub waits: Durations,
    /// Holds seen from beginning to end.
    pub holds: Durations,
    /// From the moment an event reached us to the moment it was taken in.
    pub lag: Durations,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_belongs_to_the_bucket_below_it() {
        let mut durations = Durations::default();
        [-7, 0, 1, 2, 5, 6, 1_800_000, 1_800_001].into_iter().for_each(|ms| durations.note(ms));
        assert_eq!(durations.buckets.get(..3), Some(&[3, 2, 1][..]));
        assert_eq!((durations.buckets.last(), durations.count(), durations.sum_ms()), (Some(&1), 8, 3_600_015));
    }

    #[test]
    fn edges_rise() {
        assert!(EDGES_MS.is_sorted_by(|a, b| a < b));
    }
}
