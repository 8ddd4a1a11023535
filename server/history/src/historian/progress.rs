//! How far the recording is: what was lost, and what was written since a checkpoint.

use lockscope_core::time::TimeMs;

use crate::store::{GapReason, Store};

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

/// Whether what is written now can't be replayed: what proved to be damaged is the newest checkpoint, or lies behind it.
pub(super) fn is_cut_off(store: &dyn Store) -> bool {
    let Ok(gaps) = store.gaps(TimeMs(0)..TimeMs(i64::MAX)) else { return false };
    let damaged = gaps.iter().filter(|gap| gap.why == GapReason::Damaged).map(|gap| gap.after_seq).max();
    let Some(after_seq) = damaged else { return false };
    let checkpoint = store.checkpoint_before(u64::MAX).ok().flatten();
    checkpoint.is_none_or(|checkpoint| checkpoint.seq <= after_seq.saturating_add(1))
}
