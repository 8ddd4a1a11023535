//! A window of a recording as one file that can be handed on: what it takes in, and why there may be none.

use std::ops::Range;
use std::time::Instant;

use lockscope_core::time::TimeMs;

use super::StoreError;

pub struct BundleQuery<'a> {
    pub range: Range<TimeMs>,
    /// With the changes themselves, from the checkpoint before the window on. They can't be cut by locks: only for those who
    /// may see everything.
    pub with_chunks: bool,
    /// The locks whose lives, minutes and facts go into it.
    pub sees: &'a dyn Fn(&str) -> bool,
    /// With what clients say of themselves.
    pub with_labels: bool,
    pub bytes_max: u64,
    pub give_up_at: Instant,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    #[error("that is more than fits into one file")]
    TooLarge {
        /// From there to the end of the window it would fit; None where no part of it would.
        fits_from: Option<TimeMs>,
    },
    /// The store can't be read, or the file not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
