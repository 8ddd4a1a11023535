//! How much happened when, and what stands out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Coverage;
use crate::Verdict;
use crate::name::named_enum;

named_enum! {
    /// What a fact is of.
    FactKind {
        /// A finding came or went.
        Finding = "finding",
        /// A verdict changed.
        Verdict = "verdict",
        /// Our link changed.
        Link = "link",
        /// A root changed.
        Root = "root",
        /// A deadlock closed or opened.
        Deadlock = "deadlock",
        /// Nothing is kept for a while.
        Gap = "gap",
        /// A release was carried out.
        Release = "release",
        /// An alert fired or resolved.
        Alert = "alert",
    }
}

/// How much happened when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marks {
    /// The ensemble.
    pub ensemble: String,
    /// Length of a bucket, in milliseconds.
    pub bucket_ms: i64,
    /// In order; of time in which nothing happened there are none.
    pub buckets: Vec<Bucket>,
    /// What stands out, the newest of it, in order.
    pub marks: Vec<Mark>,
    /// How much of the range is known.
    pub coverage: Coverage,
}

/// A piece of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bucket {
    /// Where it begins, ms since the epoch.
    pub at_ms: i64,
    /// Contenders that came, began to hold, or gave up.
    pub events: u64,
    /// All waiting together, in milliseconds.
    pub waiting_ms: i64,
    /// The worst verdict.
    pub worst: Verdict,
}

/// Something that stands out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// When, ms since the epoch.
    pub at_ms: i64,
    /// Of what it is: `finding`, `verdict`, `link`, `root`, `deadlock`, `gap`, `release`, `alert`.
    pub kind: Cow<'static, str>,
    /// The code of a finding, the name of a verdict or a state.
    pub code: String,
    /// 0 for worth knowing, 1 for worth a look, 2 for act.
    pub severity: u8,
    /// The lock, or the root; null where it is of none.
    pub path: Option<String>,
    /// One sentence.
    pub text: String,
}
