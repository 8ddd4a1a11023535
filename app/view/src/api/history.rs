//! What is kept of the past, and what alerts would have done in it.

use serde::{Deserialize, Serialize};

use crate::past::Gap;

/// What is kept of an ensemble's past.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "HistoryJson"))]
pub struct KeptHistory {
    /// The ensemble.
    pub ensemble: String,
    /// What is observed is recorded.
    pub enabled: bool,
    /// Where it is kept: `sqlite` or `postgres`; null where nothing is, and while it is not open.
    pub store: Option<String>,
    /// The oldest moment that is kept, ms since the epoch; null while none is.
    pub from_at_ms: Option<i64>,
    /// The newest one of which all is kept that happened.
    pub to_at_ms: Option<i64>,
    /// Up to this moment it was generated for the demo and not observed; null elsewhere.
    pub generated_until_at_ms: Option<i64>,
    /// What is missing in between, the newest 1,000.
    pub gaps: Vec<Gap>,
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes written a second, over the last while.
    pub rate_per_s: f64,
    /// Why nothing is recorded now; empty when all is well.
    pub why: String,
}

/// Answer of `POST /api/v1/alerts/test`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "BacktestJson"))]
pub struct Backtest {
    /// The ensemble.
    pub ensemble: String,
    /// When it would have fired, in order; those under way within the range.
    pub firings: Vec<Firing>,
    /// Later ones that are not listed: there are 1,000 at most.
    pub left_out: usize,
    /// What is not known of the range, in order of time, 100 stretches at most: nobody can say what would have fired in
    /// it.
    pub gaps: Vec<Gap>,
    /// Milliseconds of the range that lie in gaps, those that are not listed included, or before all that is kept.
    pub unknown_ms: i64,
}

/// One time that a rule would have fired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FiringJson"))]
pub struct Firing {
    /// The rule.
    pub rule: String,
    /// The lock.
    pub lock: String,
    /// When it would have fired, ms since the epoch.
    pub from_at_ms: i64,
    /// When it would have been over; null: not by the end of the range.
    pub to_at_ms: Option<i64>,
    /// What was wrong.
    pub sentence: String,
}
