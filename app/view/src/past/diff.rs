//! Two moments compared.

use serde::Serialize;

/// What differs between two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diff {
    /// The ensemble.
    pub ensemble: String,
    /// The earlier moment, ms since the epoch.
    pub from_at_ms: i64,
    /// The later one.
    pub to_at_ms: i64,
    /// Contenders of the later moment alone.
    pub joined: Vec<Membership>,
    /// Contenders of the earlier moment alone.
    pub left: Vec<Membership>,
    /// Locks that others hold than before.
    pub holder_changed: Vec<HolderChange>,
    /// Sessions that hold or wait at the later moment alone.
    pub sessions_new: Vec<String>,
    /// Sessions that held or waited at the earlier moment alone.
    pub sessions_gone: Vec<String>,
    /// Findings of the later moment alone.
    pub findings_raised: Vec<FindingChange>,
    /// Findings of the earlier moment alone.
    pub findings_cleared: Vec<FindingChange>,
    /// False when there are more than 1,000 of some, which are left out.
    pub complete: bool,
}

/// A contender.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Membership {
    /// The lock.
    pub lock: String,
    /// The name of its znode.
    pub node: String,
    /// Identity of its znode; null before it was read.
    pub czxid: Option<String>,
    /// Its session; null for a persistent znode.
    pub session_id: Option<String>,
    /// Who it says it is.
    pub label: Option<String>,
}

/// A lock that others hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HolderChange {
    /// The lock.
    pub lock: String,
    /// Who held it.
    pub before: Vec<Membership>,
    /// Who holds it.
    pub after: Vec<Membership>,
}

/// A finding that one of the moments has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// The lock.
    pub lock: String,
    /// Its kind.
    pub code: &'static str,
    /// One sentence.
    pub text: String,
}
