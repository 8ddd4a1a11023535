//! How far the recording is: what was lost, and what was written since a checkpoint.

use lockscope_core::time::TimeMs;

use crate::codec::Chunk;
use crate::store::{Gap, GapReason, Store};

/// Time that passes is recorded each quarter of a second. Where none was for longer than this nobody looked: the process stood
/// still, or its clock was set forth. Longer than a chunk, so that it lies between two.
pub const SILENCE_MS: i64 = 10_000;

/// Bytes of complete chunks that are stored at once; fewer wait until what is under way is stored.
pub(super) const STORE_BYTES: usize = 1 << 20;

pub const CHECKPOINT_MS: i64 = 600_000;
/// A checkpoint is wanted after so many observations: as many as are replayed within a second, along with a checkpoint of
/// 100,000 znodes.
pub const CHECKPOINT_OBSERVATIONS: u64 = 75_000;
/// A checkpoint is wanted when more than it was written since; not for less than this.
pub const CHECKPOINT_BYTES_MIN: u64 = 1 << 20;
/// But never sooner than this after another, unless it ends a gap or begins a day: one that is small may follow soon, so that
/// replays stay short at a high rate, and large ones come seldom, so that they do not fill the store.
pub const CHECKPOINT_PAUSE_MS: std::ops::RangeInclusive<i64> = 5_000..=60_000;
/// Bytes of checkpoints in a millisecond, at most, between these.
const CHECKPOINT_BYTES_A_MS: u64 = 140;
const DAY_MS: i64 = 86_400_000;

pub(super) fn sum_bytes(chunks: &[Chunk]) -> usize {
    chunks.iter().map(|chunk| chunk.body.len()).sum()
}

/// What was lost and is not stored as a gap up to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    pub(super) after_seq: u64,
    pub(super) from: Option<TimeMs>,
    pub(super) why: GapReason,
}

/// What was written since a checkpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Since {
    pub(super) at: TimeMs,
    pub(super) last_at: TimeMs,
    pub(super) observations: u64,
    pub(super) bytes: u64,
    pub(super) checkpoint_bytes: u64,
}

impl Since {
    /// Goes on with an instant. What lies between the last that was recorded, in this chunk, and this is a gap where it is
    /// too long.
    pub(super) fn go_on(&mut self, now: TimeMs, after_seq: u64) -> Option<Gap> {
        let from = std::mem::replace(&mut self.last_at, now);
        (now.since(from) > SILENCE_MS).then_some(Gap { after_seq, from, to: now, why: GapReason::NotRunning })
    }

    pub(super) fn wants_checkpoint(self, now: TimeMs) -> bool {
        let Self { at, observations, bytes, checkpoint_bytes, last_at: _ } = self;
        let pause_ms = i64::try_from(checkpoint_bytes / CHECKPOINT_BYTES_A_MS).unwrap_or(i64::MAX);
        let pause_ms = pause_ms.clamp(*CHECKPOINT_PAUSE_MS.start(), *CHECKPOINT_PAUSE_MS.end());
        let is_paused = now.since(at) < pause_ms && now >= at;
        let is_much = observations >= CHECKPOINT_OBSERVATIONS || bytes > checkpoint_bytes.max(CHECKPOINT_BYTES_MIN);
        let is_other_day = now.0.div_euclid(DAY_MS) != at.0.div_euclid(DAY_MS);
        is_other_day || now.since(at) >= CHECKPOINT_MS || (is_much && !is_paused)
    }
}

/// Whether what is written now can't be replayed: what proved to be damaged is the newest checkpoint, or lies behind it.
pub(super) fn is_cut_off(store: &dyn Store) -> bool {
    let Ok(gaps) = store.gaps(TimeMs(0)..TimeMs(i64::MAX)) else { return false };
    let damaged = gaps.iter().filter(|gap| gap.why == GapReason::Damaged).map(|gap| gap.after_seq).max();
    let Some(after_seq) = damaged else { return false };
    let checkpoint = store.checkpoint_before(u64::MAX).ok().flatten();
    checkpoint.is_none_or(|checkpoint| checkpoint.seq <= after_seq.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_checkpoints_follow_soon_and_large_ones_seldom() {
        let after = |ms: i64, observations, checkpoint_bytes| {
            let at = TimeMs(1_790_000_000_000);
            Since { at, observations, bytes: 0, checkpoint_bytes, last_at: at }.wants_checkpoint(at + ms)
        };
        let much = CHECKPOINT_OBSERVATIONS;
        assert!(!after(599_999, much - 1, 0) && after(600_000, 0, 0));
        assert!(!after(4_999, much, 0) && after(5_000, much, 0));
        assert!(!after(19_999, much, 2_800_000) && after(20_000, much, 2_800_000));
        assert!(!after(59_999, much, u64::MAX) && after(60_000, much, u64::MAX));
        // A clock that was set back keeps nobody waiting.
        assert!(after(-1, much, u64::MAX));
    }
}
