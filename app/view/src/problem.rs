//! Errors of the HTTP API, RFC 9457.

use serde::{Deserialize, Serialize};

/// The body of an `application/problem+json` answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// `about:blank`, or a relative reference naming the kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// Short, the same for every occurrence.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// One clear sentence: what was wrong, and what to do.
    pub detail: String,
    /// Where nothing is known of a moment: the nearest moments that are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Box<NearestMoments>>,
}

/// The nearest moments of which something is known, ms since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearestMoments {
    /// Before it; null for none.
    pub before_at_ms: Option<i64>,
    /// After it; null for none.
    pub after_at_ms: Option<i64>,
}
