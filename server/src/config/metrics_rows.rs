//! The rows of the table about metrics.

use super::table::FileSection::Metrics;
use super::table::Layering::File;
use super::table::TakesEffect::Restart;
use super::table::{Kind, Setting};

pub(super) const TOP_LOCKS: Setting = Kind(Metrics, File, Restart).row(
    "top_locks",
    "0 to 200",
    "20",
    "50",
    "how many locks with the longest waits have series of their own",
);
pub(super) const LOCKS: Setting = Kind(Metrics, File, Restart).row(
    "locks",
    "paths; * is any part of one name, ** any names; at most 50",
    "",
    "[\"/orders/*\"]",
    "locks that always have series of their own",
);
