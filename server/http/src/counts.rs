//! What is counted on the way in.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted here, for `/metrics`.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) sockets_opened: AtomicU64,
    pub(super) frames_sent: AtomicU64,
    pub(super) slow_closed: AtomicU64,
    pub(super) refused_frames: AtomicU64,
    pub(super) guarded: AtomicU64,
}

impl Counts {
    /// One more.
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
