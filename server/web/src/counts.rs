//! What is counted on the way in.

use super::Http;
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
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Http {
    /// What was refused here because of a limit: by the limit, of all and of one caller.
    pub(super) fn limited(&self) -> Vec<(&'static str, (u64, u64))> {
        let ((all, one), (all_past, one_past)) = (self.work.refused(), self.past_work.refused());
        vec![
            ("requests", (all + all_past, one + one_past)),
            ("sockets", self.caller_sockets.refused()),
            ("views", self.caller_views.refused()),
        ]
    }
}
