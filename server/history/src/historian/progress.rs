//! How far the recording is: what was lost, and what was written since a checkpoint.

use lockscope_core::time::TimeMs;

use crate::store::{Gap, GapReason, Store};

/// Time that passes is recorded each quarter of a second. Where none was for longer than this nobody looked: the process stood
/// still, or its clock was set forth. Longer than a chunk, so that it lies between two.
pub const SILENCE_MS: i64 = 10_000;

/// A checkpoint is wanted after so long.
pub const CHECKPOINT_MS: i64 = 600_000;
/// A checkpoint is wanted after so many observations.
pub const CHECKPOINT_OBSERVATIONS: u64 = 100_000;
/// A checkpoint is wanted when more than it was written since; not for less than this.
pub const CHECKPOINT_BYTES_MIN: u64 = 1 << 20;
/// But never sooner than this after another, unless it ends a gap or begins a day: making one takes the model's time.
pub const CHECKPOINT_PAUSE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;

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
    /// What was recorded last.
    pub(super) last_at: TimeMs,
    pub(super) observations: u64,
    pub(super) bytes: u64,
    pub(super) checkpoint_bytes: u64,
}

impl Since {
    /// Goes on from the first to the last of some instants. What lies between the last that was recorded, in this chunk, and
    /// the first is a gap where it is too long.
    pub(super) fn go_on(&mut self, first: TimeMs, last: TimeMs, after_seq: u64) -> Option<Gap> {
        let from = std::mem::replace(&mut self.last_at, last);
        (first.since(from) > SILENCE_MS).then_some(Gap { after_seq, from, to: first, why: GapReason::NotRunning })
    }

    /// Whether it is time for the next checkpoint.
    pub(super) fn wants_checkpoint(self, now: TimeMs) -> bool {
        let Self { at, observations, bytes, checkpoint_bytes, last_at: _ } = self;
        let is_paused = now.since(at) < CHECKPOINT_PAUSE_MS && now >= at;
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
