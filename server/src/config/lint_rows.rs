//! Rows of the table of settings: findings that have more than a number.

use super::table::FileSection::Lints;
use super::table::Layering::File;
use super::table::TakesEffect::Reload;
use super::table::{Kind, Setting};

pub(super) const MUST_BE_HELD: Setting = Kind(Lints, File, Reload).row(
    "must_be_held",
    "paths; * is any part of one name, ** any names; at most 100; off",
    "",
    "[\"/elections/*\", \"/locks/leader\"]",
    "locks that are reported when nobody holds them for 30 s; a path without a star also when nothing is there",
);

pub(super) const CHURN_ATTEMPTS: Setting = Kind(Lints, File, Reload).row(
    "churn_attempts",
    "1 to 32",
    "20",
    "20",
    "failed attempts in the last minute from which on it is reported",
);
