//! A window of a recording as one file that can be handed on: what it takes in, and why there may be none.

use std::ops::Range;
use std::time::Instant;

use lockscope_core::time::TimeMs;

use super::StoreError;

/// What goes into a bundle.
pub struct BundleQuery<'a> {
    /// The window.
    pub range: Range<TimeMs>,
    /// With the changes themselves, from the checkpoint before the window on. They can't be cut by locks: only for those who
    /// may see everything.
    pub with_chunks: bool,
    /// The locks whose lives, minutes and facts go into it.
    pub sees: &'a dyn Fn(&str) -> bool,
    /// With what clients say of themselves.
    pub with_labels: bool,
    /// Its largest size.
    pub bytes_max: u64,
    /// It is given up then.
    pub give_up_at: Instant,
}

/// Why there is no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// It would be too large.
    #[error("that is more than fits into one file")]
    TooLarge {
        /// From there to the end of the window it would fit; None where no part of it would.
        fits_from: Option<TimeMs>,
    },
    /// The store can't be read, or the file not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
