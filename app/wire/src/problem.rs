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
}
