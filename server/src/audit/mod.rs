//! The record of acts: appended, chained, durable before an act leaves.

use app::wire::AuditKind;
use futures_util::future::BoxFuture;

use crate::access::Actor;

/// What is to be recorded. The log adds number, time and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is of.
    pub kind: AuditKind,
    /// Who; None for the server itself.
    pub actor: Option<Actor>,
    /// Ensemble.
    pub ensemble: Option<String>,
    /// The lock.
    pub lock: Option<String>,
    /// The znode.
    pub path: Option<String>,
    /// The intent that this is the outcome of.
    pub intent: Option<u64>,
    /// How it ended.
    pub outcome: Option<&'static str>,
    /// The reason that was given; cut to a bound by the log.
    pub reason: Option<String>,
    /// More, in words; never a secret.
    pub detail: String,
}

/// Why a record could not be written. Nothing may be done then that needs one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuditError(pub String);

/// Where records go.
pub trait Journal: Send + Sync + 'static {
    /// Writes a record and gives its number once it would survive a loss of power.
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>>;
}
