//! How much of a range of the past is known.

use serde::Serialize;

/// How much of a range is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Where the range begins, ms since the epoch.
    pub from_at_ms: i64,
    /// Where it ends.
    pub to_at_ms: i64,
    /// The part of it that was recorded, from 0 to 1.
    pub part: f64,
    /// What is missing in it.
    pub gaps: Vec<Gap>,
}

/// A stretch of time of which nothing is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// The last moment that is known before it, ms since the epoch.
    pub from_at_ms: i64,
    /// The first that is known after it.
    pub to_at_ms: i64,
    /// Why: `not_running`, `too_busy`, `store_failed`, `damaged`, `too_large`, `generated`, `restored`.
    pub why: &'static str,
}

/// A stretch of a range of which something is not known, and why in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Where it begins, ms since the epoch.
    pub from_ms: i64,
    /// Where it ends.
    pub to_ms: i64,
    /// Why.
    pub why: String,
}
