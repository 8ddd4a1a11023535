//! Durations that ended, in bounded memory, and the queue's depth over the last minutes.

use std::collections::VecDeque;

use super::time::TimeMs;
use super::znode::SessionId;

/// Each power of two is split into `1 << STEP_BITS` buckets: a percentile is at most an eighth above the truth.
const STEP_BITS: u32 = 3;
const STEPS: u32 = 1 << STEP_BITS;
/// Largest power of two with a bucket of its own: 2^36 ms, about two years.
const OCTAVES: u32 = 36;

/// A histogram of durations in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    buckets: Vec<u32>,
    count: u64,
}

impl Histogram {
    /// Notes one duration.
    pub fn note(&mut self, ms: i64) {
        let at = bucket_of(ms);
        if self.buckets.len() <= at {
            self.buckets.resize(at + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket = bucket.saturating_add(1);
            self.count += 1;
        }
    }

    /// How many were noted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A duration that `percent` in 100 did not exceed; None when nothing was noted.
    pub fn percentile(&self, percent: u64) -> Option<i64> {
        let wanted = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.buckets.iter().zip(0_u32..).find_map(|(count, at)| {
            seen += u64::from(*count);
            (seen >= wanted && self.count > 0).then(|| upper_edge_ms(at))
        })
    }
}

fn bucket_of(ms: i64) -> usize {
    let ms = u64::try_from(ms).unwrap_or(0);
    if ms < u64::from(STEPS) {
        return ms as usize;
    }
    let octave = ms.ilog2().min(OCTAVES);
    let step = ((ms >> (octave - STEP_BITS)) & u64::from(STEPS - 1)) as u32;
    ((octave - STEP_BITS + 1) * STEPS + step) as usize
}

fn upper_edge_ms(bucket: u32) -> i64 {
    if bucket < STEPS {
        return i64::from(bucket);
    }
    let octave = bucket / STEPS + STEP_BITS - 1;
    let step = i64::from(bucket % STEPS);
    ((i64::from(STEPS) + step + 1) << (octave - STEP_BITS)) - 1
}

/// Slices of the depth history.
pub const DEPTH_SLICES: usize = 48;
/// Length of a slice.
pub const DEPTH_SLICE_MS: i64 = 2_500;

/// The largest number of waiters in each past slice, oldest first. Empty while nobody ever waited.
#[derive(Clone, Debug, Default)]
pub struct Depth {
    slices: Vec<u16>,
    peak: u32,
}

impl Depth {
    /// Notes the number of waiters now.
    pub fn note(&mut self, waiters: u32) {
        self.peak = self.peak.max(waiters);
    }

    /// Ends a slice; true when the history looks different now.
    pub fn end_slice(&mut self, waiters: u32) -> bool {
        let peak = self.peak.max(waiters);
        self.peak = waiters;
        if peak == 0 && self.slices.iter().all(|depth| *depth == 0) {
            let changed = !self.slices.is_empty();
            self.slices = Vec::new();
            return changed;
        }
        if self.slices.len() >= DEPTH_SLICES {
            self.slices.remove(0);
        }
        self.slices.push(u16::try_from(peak).unwrap_or(u16::MAX));
        true
    }

    /// The history.
    pub fn slices(&self) -> &[u16] {
        &self.slices
    }
}

/// Contenders that gave up and are remembered; the oldest goes first.
pub const GAVE_UP_MAX: usize = 32;

/// A contender that left without ever holding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaveUp {
    /// When.
    pub at: TimeMs,
    /// Its session, when it was read in time.
    pub owner: Option<SessionId>,
    /// Who it said it is.
    pub label: Option<Box<str>>,
}

/// Contenders that left without ever holding.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// How many since we watch.
    pub gave_up: u64,
    /// The last of them, newest first.
    pub lately: VecDeque<GaveUp>,
}

impl Attempts {
    /// Notes one.
    pub fn note(&mut self, gave_up: GaveUp) {
        self.gave_up += 1;
        self.lately.truncate(GAVE_UP_MAX - 1);
        self.lately.push_front(gave_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_never_below_the_truth_and_at_most_an_eighth_above() {
        for ms in [0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 1_000, 86_400_000] {
            let mut histogram = Histogram::default();
            histogram.note(ms);
            let found = histogram.percentile(50).unwrap();
            assert!(found >= ms && found <= ms + ms / 8, "{ms} -> {found}");
        }
    }

    #[test]
    fn percentiles_follow_ranks() {
        let mut histogram = Histogram::default();
        (0..99).for_each(|_| histogram.note(1));
        histogram.note(1_000);
        assert_eq!(histogram.percentile(50), Some(1));
        assert_eq!(histogram.percentile(99), Some(1));
        assert!(histogram.percentile(100).unwrap() >= 1_000);
        assert_eq!(Histogram::default().percentile(50), None);
    }

    #[test]
    fn depth_forgets_what_is_long_quiet() {
        let mut depth = Depth::default();
        assert!(!depth.end_slice(0));
        depth.note(3);
        assert!(depth.end_slice(0));
        assert_eq!(depth.slices(), [3]);
        for _ in 0..DEPTH_SLICES {
            depth.end_slice(0);
        }
        depth.end_slice(0);
        assert!(depth.slices().is_empty());
    }
}
