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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// How many fell into each bucket, up to the last that is not empty.
    pub buckets: Vec<u32>,
    /// How many were noted.
    pub count: u64,
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

    /// Up to so many durations that are spread as those that were noted, ascending: each of a bucket's lies within it.
    pub fn spread(&self, number_max: usize) -> Vec<i64> {
        let all: u64 = self.buckets.iter().map(|count| u64::from(*count)).sum();
        let number = all.min(number_max as u64);
        let (mut spread, mut below) = (Vec::new(), 0_u64);
        for (count, at) in self.buckets.iter().zip(0_u32..).filter(|(count, _)| **count > 0) {
            let lowest = at.checked_sub(1).map_or(0, |before| upper_edge_ms(before) + 1);
            let width = upper_edge_ms(at) - lowest;
            while let rank = (2 * spread.len() as u64 + 1) * all
                && (spread.len() as u64) < number
                && rank <= 2 * number * (below + u64::from(*count))
            {
                let inside = (rank / (2 * number)).saturating_sub(below).min(u64::from(*count));
                spread.push(lowest + i64::try_from(inside).unwrap_or(0) * width / i64::from(*count).max(1));
            }
            below += u64::from(*count);
        }
        spread
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

/// The largest number of waiters in each past slice, oldest first, up to the last slice in which it was another than
/// before: time alone changes nothing. Empty while nobody ever waited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// The history.
    pub peaks: Vec<u16>,
    /// Number of the slice after the last: slices are counted from the clock's zero.
    pub until_slice: i64,
    /// The largest number of waiters in the slice that is under way.
    pub peak: u32,
}

impl Depth {
    /// Notes the number of waiters now.
    pub fn note(&mut self, waiters: u32) {
        self.peak = self.peak.max(waiters);
    }

    /// Ends the slice of this number; true when its peak is another than that of the slice before.
    pub fn end_slice(&mut self, slice: i64, waiters: u32) -> bool {
        let peak = shown_peak(self.peak.max(waiters));
        self.peak = waiters;
        let last = self.last();
        if peak == last {
            return false;
        }
        if !self.peaks.is_empty() {
            let as_last = usize::try_from(slice.saturating_sub(self.until_slice)).unwrap_or(0).min(DEPTH_SLICES);
            self.peaks.extend(std::iter::repeat_n(last, as_last));
        }
        self.peaks.push(peak);
        self.peaks.drain(..self.peaks.len().saturating_sub(DEPTH_SLICES));
        self.until_slice = slice.saturating_add(1);
        true
    }

    /// The end of a slice changes nothing while so many wait.
    pub(crate) fn is_steady(&self, waiters: u32) -> bool {
        self.peak == waiters && self.last() == shown_peak(waiters)
    }

    fn last(&self) -> u16 {
        self.peaks.last().copied().unwrap_or(0)
    }

    /// The history; it goes on with its last number.
    pub fn peaks(&self) -> &[u16] {
        &self.peaks
    }

    /// The first and the last number of the last [`DEPTH_SLICES`] that ended by then.
    pub fn ends(&self, now: TimeMs) -> Option<(u16, u16)> {
        let last = *self.peaks.last()?;
        let as_last = usize::try_from(now.since(self.until()) / DEPTH_SLICE_MS).unwrap_or(0).min(DEPTH_SLICES);
        let known = self.peaks.len().saturating_sub(DEPTH_SLICES - as_last);
        Some((self.peaks.get(known).copied().unwrap_or(last), last))
    }

    /// Where its last slice ends.
    pub fn until(&self) -> TimeMs {
        TimeMs(self.until_slice.saturating_mul(DEPTH_SLICE_MS))
    }
}

/// As it is kept: more are that many.
fn shown_peak(waiters: u32) -> u16 {
    u16::try_from(waiters).unwrap_or(u16::MAX)
}

/// Slices of the depth history over which hand-offs are counted: 10 s.
const RATE_SLICES: usize = 4;
/// A rate is shown from so many hand-offs in 10 s on: more than one a second …
const RATE_FROM: u32 = 11;
/// … until there are fewer than these.
const RATE_UNTIL: u32 = 8;
/// It moves when it is another by more than one part in so many.
const RATE_PARTS: u32 = 8;

/// How often a lock changes hands. What is shown of it is another at the end of a slice at most, and only where it moved by
/// so much that it is no chance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandOffs {
    /// In each slice, the one under way first.
    pub counts: [u32; RATE_SLICES],
    /// In 10 s, as it is shown; None while there is no more than about one a second.
    pub shown: Option<u32>,
}

impl HandOffs {
    /// Notes one.
    pub fn note(&mut self) {
        let [now, ..] = &mut self.counts;
        *now = now.saturating_add(1);
    }

    /// Ends a slice; true when what is shown is another.
    pub fn end_slice(&mut self) -> bool {
        let in_10_s = self.counted();
        self.counts.rotate_right(1);
        let [now, ..] = &mut self.counts;
        *now = 0;
        let shown = match self.shown {
            None => Some(in_10_s).filter(|count| *count >= RATE_FROM),
            Some(shown) if in_10_s.abs_diff(shown).saturating_mul(RATE_PARTS) <= shown => Some(shown),
            Some(_) => Some(in_10_s).filter(|count| *count >= RATE_UNTIL),
        };
        std::mem::replace(&mut self.shown, shown) != shown
    }

    /// The end of a slice changes nothing: it has not changed hands lately, and no rate is shown.
    pub(crate) fn is_steady(&self) -> bool {
        self.shown.is_none() && self.counts.iter().all(|count| *count == 0)
    }

    /// In 10 s, by the slices that have just ended. One after a pause began somewhere in it, and does not count.
    fn counted(&self) -> u32 {
        let busy = self.counts.iter().take_while(|count| **count > 0).count();
        let whole = if busy < RATE_SLICES { busy.saturating_sub(1) } else { busy };
        let sum = self.counts.iter().take(whole).fold(0_u32, |sum, count| sum.saturating_add(*count));
        let slices = u32::try_from(whole.max(1)).unwrap_or(1);
        sum.saturating_mul(RATE_SLICES as u32) / slices
    }

    /// Hand-offs in 10 s; None while there is no more than about one a second.
    pub fn in_10_s(&self) -> Option<u32> {
        self.shown
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    fn the_end_of_a_slice_changes_nothing_of_what_is_steady() {
        let (mut depth, mut hand_offs) = (Depth::default(), HandOffs::default());
        let mut ends_until_steady = Vec::new();
        for (number, waiters) in [0, 3, 3, 70_000, 0].into_iter().enumerate() {
            depth.note(waiters);
            (0..waiters % 7).for_each(|_| hand_offs.note());
            let mut ends = 0;
            while !(depth.is_steady(waiters) && hand_offs.is_steady()) {
                depth.end_slice(10 * number as i64 + ends, waiters);
                hand_offs.end_slice();
                ends += 1;
            }
            let before = (depth.clone(), hand_offs.clone());
            assert!(!depth.end_slice(10 * number as i64 + ends, waiters) && !hand_offs.end_slice());
            assert_eq!(before, (depth.clone(), hand_offs.clone()));
            ends_until_steady.push(ends);
        }
        assert_eq!(ends_until_steady, [0, 4, 4, 1, 2]);
    }

    /// What is shown after slices with so many hand-offs each.
    fn shown(counts: &[u32]) -> Vec<Option<u32>> {
        let mut hand_offs = HandOffs::default();
        let slice = |count: &u32| {
            (0..*count).for_each(|_| hand_offs.note());
            let before = hand_offs.in_10_s();
            assert_eq!(hand_offs.end_slice(), hand_offs.in_10_s() != before);
            hand_offs.in_10_s()
        };
        counts.iter().map(slice).collect()
    }

    #[test]
    fn what_changes_hands_more_than_once_a_second_has_a_rate() {
        assert_eq!(
            shown(&[4, 8, 9, 8, 9]),
            [None, Some(32), Some(32), Some(32), Some(32)],
            "the first slice was no whole one"
        );
        assert_eq!(shown(&[100, 250, 250, 0]), [None, Some(1_000), Some(1_000), None], "it stopped");
        assert_eq!(shown(&[2, 2, 3, 2, 3, 2, 3]), [None; 7], "once a second");
        assert_eq!(shown(&[0, 40, 0, 40, 0]), [None; 5], "now and then");
    }

    #[test]
    fn a_rate_does_not_flicker() {
        let around = shown(&[3, 3, 3, 3, 2, 3, 2, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1]);
        let moves = around.windows(2).filter(|pair| pair.first() != pair.last()).count();
        assert!(moves <= 4, "{around:?}");
        assert_eq!(around.last(), Some(&None));
        let mut counts = vec![25; 8];
        counts.extend([50; 8]);
        let doubled = shown(&counts);
        assert_eq!((doubled[7], doubled[15]), (Some(100), Some(200)), "{doubled:?}");
    }

    #[test]
    fn a_depth_changes_with_who_waits_and_not_with_time() {
        let mut depth = Depth::default();
        assert!(!depth.end_slice(5, 0));
        depth.note(3);
        assert!(depth.end_slice(6, 1));
        assert!(depth.end_slice(7, 1));
        assert_eq!((depth.peaks(), depth.until()), (&[3, 1][..], TimeMs(8 * DEPTH_SLICE_MS)));
        assert!(!depth.end_slice(8, 1) && !depth.end_slice(9, 1), "time alone changes nothing");
        assert!(depth.end_slice(10, 2));
        assert_eq!(depth.peaks(), [3, 1, 1, 1, 2]);
        let slice = |number: i64| TimeMs(number * DEPTH_SLICE_MS);
        assert_eq!(depth.ends(slice(11)), Some((3, 2)));
        assert_eq!(depth.ends(slice(6 + DEPTH_SLICES as i64)), Some((3, 2)));
        assert_eq!(depth.ends(slice(7 + DEPTH_SLICES as i64)), Some((1, 2)));
        assert_eq!(depth.ends(slice(2_000)), Some((2, 2)));
        assert!(!depth.end_slice(999, 0) && depth.end_slice(1_000, 0));
        assert_eq!((depth.peaks().len(), depth.peaks().last()), (DEPTH_SLICES, Some(&0)));
        assert!(depth.end_slice(3, 4), "a clock may be set back");
        assert_eq!((depth.peaks().len(), depth.until()), (DEPTH_SLICES, TimeMs(4 * DEPTH_SLICE_MS)));
    }
}
