//! How far the recording is: what was lost, and what was written since a checkpoint.

use lockscope_core::time::TimeMs;

use crate::store::GapReason;

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
