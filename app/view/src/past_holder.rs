//! Who held a lock before.

use serde::{Deserialize, Serialize};

use super::{HoldEnd, SessionId};

/// A hold that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PastHolder {
    /// Znode name.
    pub node: String,
    /// Owner, when it was known.
    pub session_id: Option<SessionId>,
    /// Its label.
    pub label: Option<String>,
    /// Holder from.
    pub from_ms: i64,
    /// Holder until.
    pub until_ms: i64,
    /// Its session ended: it did not release.
    pub session_ended: bool,
    /// It may have held for longer than seen.
    pub is_lower_bound: bool,
    /// Client address, when it was known.
    pub address: Option<String>,
    /// Sessions its release woke, by the last tables of watches; null while they were not read.
    pub woke: Option<u32>,
    /// How it ended.
    pub how: HoldEnd,
    /// Who released it through Lockscope; null for all else, and for those who may not read the audit log.
    pub released_by: Option<String>,
    /// The number of that release's outcome in the audit log; null where `released_by` is, and until it is on record.
    pub record: Option<u64>,
}
