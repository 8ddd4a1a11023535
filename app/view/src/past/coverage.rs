//! How much of the past is known: of a range, and of each ensemble that a question is about.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::NearestMoments;

/// How much of a range is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// The last moment that is known before it, ms since the epoch.
    pub from_at_ms: i64,
    /// The first that is known after it.
    pub to_at_ms: i64,
    /// Why: `not_running`, `too_busy`, `store_failed`, `damaged`, `too_large`, `generated`, `restored`.
    pub why: Cow<'static, str>,
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

/// Names in a list of ensembles that could not answer; of more, the rest is counted.
const LISTED_MAX: usize = 3;

/// An ensemble that could not answer a question that others have answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unanswered {
    /// The ensemble.
    pub ensemble: String,
    /// Why, as a word: `not_recorded`, `nothing_kept`, `gap`, `too_long`, `store_failed`.
    pub reason: &'static str,
    /// The same in words.
    pub detail: String,
    /// The nearest snapshots that are kept; null where the question is about a range.
    pub nearest: Option<NearestMoments>,
}

impl Unanswered {
    /// Which ensembles are missing and why, in one phrase; empty where none is.
    pub fn list(all: &[Self]) -> String {
        let mut named: Vec<String> =
            all.iter().take(LISTED_MAX).map(|one| format!("{} ({})", one.ensemble, one.detail)).collect();
        let more = all.len().saturating_sub(LISTED_MAX);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        named.join(", ")
    }
}
