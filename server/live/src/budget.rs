//! Bytes that all views together keep, for subscribers and for those who may resume.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Beyond it nothing is kept for those who come back, and nobody who has much already is given more.
pub const TIGHT_BYTES: usize = 64 * 1024 * 1024;
/// What one owner may have beyond that.
pub const OWNER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Beyond it no further view is opened.
pub const BYTES_MAX: usize = 160 * 1024 * 1024;

/// How much all views may keep; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    used: Arc<AtomicUsize>,
    tight: usize,
    owner_max: usize,
    max: usize,
}

/// What one view keeps; given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    /// A budget that is tight beyond so many bytes, lets an owner have so many then, and is used up beyond so many.
    pub(super) fn new(tight: usize, owner_max: usize, max: usize) -> Self {
        Self { used: Arc::default(), tight, owner_max, max }
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn is_tight(&self) -> bool {
        self.used() > self.tight
    }

    pub(super) fn is_used_up(&self) -> bool {
        self.used() > self.max
    }

    /// What one owner may have while it is tight.
    pub(super) fn owner_max(&self) -> usize {
        self.owner_max
    }

    /// A share of nothing yet.
    pub(super) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(TIGHT_BYTES, OWNER_BYTES_MAX, BYTES_MAX)
    }
}

impl Share {
    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn set(&mut self, bytes: usize) {
        if bytes >= self.bytes {
            self.budget.used.fetch_add(bytes - self.bytes, Ordering::Relaxed);
        } else {
            self.budget.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_are_given_back() {
        let budget = Budget::new(10, 5, 20);
        let (mut one, mut two) = (budget.share(), budget.share());
        one.set(8);
        assert!(!budget.is_tight());
        two.set(7);
        assert!(budget.is_tight() && !budget.is_used_up());
        one.set(14);
        assert!(budget.is_used_up());
        one.set(1);
        assert_eq!((budget.used(), one.bytes()), (8, 1));
        drop((one, two));
        assert_eq!(budget.used(), 0);
    }
}
