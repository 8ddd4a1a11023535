//! The server's own state: links, roots, evidence.

use serde::{Deserialize, Serialize};

use super::{EnsembleColor, FindingRow, Link, MemberStatus, Proof, RootState, SessionId, Zxid};

/// Answer of `/api/v1/status` and body of the live view `status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {
    /// Version of the server.
    pub version: String,
    /// Version of the live protocol.
    pub protocol: u8,
    /// Changes applied to the model so far.
    pub seq: u64,
    /// No operator credential is configured: nothing can be released.
    pub read_only: bool,
    /// When this server started.
    pub started_at_ms: i64,
    /// Where the settings came from, and whether they are those of the file.
    pub config: ConfigStatus,
    /// Every ensemble watched.
    pub ensembles: Vec<EnsembleStatus>,
}

/// The settings in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigStatus {
    /// The file; null when there is none.
    pub path: Option<String>,
    /// When the settings in force were read.
    pub loaded_at_ms: i64,
    /// Why the file as it is now was not taken; null when it was.
    pub error: Option<String>,
    /// Settings of the file that differ and wait for a restart.
    pub waits_for_restart: Vec<String>,
}

/// One ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EnsembleStatus {
    /// Its name; `default` when it was given none.
    pub name: String,
    /// Its colour; null for the only one when it has no name.
    pub color: Option<EnsembleColor>,
    /// The connect string.
    pub connect: String,
    /// State of our own session's link.
    pub link: Link,
    /// Since when.
    pub since_ms: i64,
    /// Why, in words; empty when live.
    pub why: String,
    /// Our own session.
    pub session_id: Option<SessionId>,
    /// The newest transaction the view is known to include.
    pub zxid: Zxid,
    /// Our clock minus the ensemble's, estimated; null before the first evidence.
    pub clock_offset_ms: Option<i64>,
    /// By how much that may be wrong; null while nothing bounds it.
    pub clock_error_ms: Option<i64>,
    /// Watched roots.
    pub roots: Vec<RootStatus>,
    /// Admin evidence, a row a member.
    pub evidence: Vec<MemberStatus>,
    /// What is odd about the ensemble as a whole.
    pub findings: Vec<FindingRow>,
    /// Times the view was read anew; null, as the other counters, for who may not see the whole ensemble.
    pub resyncs: Option<u64>,
    /// Watch events taken in.
    pub events: Option<u64>,
    /// Short-lived znodes that were gone before their owner could be read.
    pub owner_unknown: Option<u64>,
    /// Creations that the counters of a parent's Stat show and that no event reported.
    pub missed: Option<u64>,
    /// Its recording; null while the history is off.
    pub history: Option<HistoryStatus>,
    /// What of it is never read; null where everything is.
    pub excluded: Option<ExcludedStatus>,
    /// What proves that the link is live.
    pub proof: Proof,
}

/// What of an ensemble is never read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExcludedStatus {
    /// Patterns of paths, as the configuration has them.
    pub patterns: Vec<String>,
    /// About how many znodes are left out, of those whose directory is read; what lies below them is not known.
    pub paths: u64,
    /// Events of them that were not looked at, since the start.
    pub events: u64,
}

/// The recording of one ensemble, as of some seconds ago at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryStatus {
    /// What is observed is recorded.
    pub is_recorded: bool,
    /// Another server records it into the same database; this one reads what that one keeps, and takes over when it
    /// is gone.
    #[serde(default)]
    pub is_standby: bool,
    /// Why nothing is recorded; empty when it is.
    pub why: String,
    /// Since when it can't be written; null while it can.
    pub failing_since_ms: Option<i64>,
    /// The oldest moment that is kept; null while none is.
    pub from_at_ms: Option<i64>,
    /// The newest one.
    pub to_at_ms: Option<i64>,
    /// Up to this moment it was generated for a demonstration and not observed; null where all was observed.
    #[serde(default)]
    pub generated_until_ms: Option<i64>,
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes written a second, over the last while.
    pub bytes_per_s: u64,
    /// Stretches in between of which nothing is kept.
    pub gaps: u64,
    /// All of them together.
    pub gap_ms: i64,
}

/// One root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RootStatus {
    /// Its path.
    pub path: String,
    /// Its state.
    pub state: RootState,
    /// Since when.
    pub since_ms: i64,
    /// Why it is not live; empty when it is.
    pub why: String,
    /// Locks under it.
    pub locks: u64,
    /// Znodes under it.
    pub znodes: u64,
}
