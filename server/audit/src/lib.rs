//! Who acts, what they may do, and the record of what they did: the audit log is appended, chained, durable before a release is sent. Owns the files of the log; must not know
//! routes, ZooKeeper or the model.
//!
//! The chain shows every change to what lies before its end, the head file a cut at the end. Whoever owns the disk can
//! write all of it anew; against that, hashes have to be noted elsewhere: the webhook carries one with every record,
//! every exported line has one, and `lockscope audit verify --head HASH` says whether one is still in the log. Replicas show
//! theirs in the database that they share, too.

mod actor;
mod audit_log;
pub mod chain;
mod entry;
mod export;
pub mod files;
mod head;
mod log;
mod page;
mod person_name;
mod read;
mod records;
mod refusals;
mod request_log;
mod requests;
pub mod shared_heads;
pub mod text;
mod verify;
pub mod webhook;
mod writer;

pub use actor::{Actor, QuotaOwner, Right, highest, role_may};
pub use audit_log::AuditLog;
pub use entry::{Entry, PlanRef};
pub use export::copy_all;
pub use log::{Log, Options};
pub use person_name::{is_clear_name, is_same_person, person_key};
pub use records::{Export, LIMIT_DEFAULT, LIMIT_MAX, PageQuery, Records};
pub use refusals::{REFUSALS_A_MINUTE_MAX, Refusals};
pub use request_log::{Intent, OPEN_MAX, RequestLog};
pub use requests::{CompletedRequest, Requests, open_words};
pub use shared_heads::SharedHeads;
pub use verify::{Segment, VerifiedLog, VerifyError, verify_dir};

use futures_util::future::BoxFuture;

/// Why a record could not be written. Nothing may be done then that needs one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuditError(pub String);

pub trait Journal: Send + Sync + 'static {
    /// Writes a record and gives its number once it would survive a loss of power.
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>>;
}

#[cfg(test)]
mod tests;
