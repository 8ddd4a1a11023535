//! How far the recording is: what was lost, and what was written since a checkpoint.

use lockscope_core::time::TimeMs;

use crate::store::GapReason;

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
    pub(super) observations: u64,
    pub(super) bytes: u64,
    pub(super) checkpoint_bytes: u64,
}

impl Since {
    /// Whether it is time for the next checkpoint.
    pub(super) fn wants_checkpoint(self, now: TimeMs) -> bool {
        let Self { at, observations, bytes, checkpoint_bytes } = self;
        let is_paused = now.since(at) < CHECKPOINT_PAUSE_MS && now >= at;
        let is_much = observations >= CHECKPOINT_OBSERVATIONS || bytes > checkpoint_bytes.max(CHECKPOINT_BYTES_MIN);
        let is_other_day = now.0.div_euclid(DAY_MS) != at.0.div_euclid(DAY_MS);
        is_other_day || now.since(at) >= CHECKPOINT_MS || (is_much && !is_paused)
    }
}
