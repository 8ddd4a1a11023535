//! What happened, rebuilt from what ZooKeeper itself kept: its transaction logs and snapshots, of one member or several,
//! played through the same model that a live server has, into a store of history. Files are read and never written to, as
//! streams: memory grows with the tree and not with the logs.
//!
//! What logs can't tell is not known here either: addresses, who is connected, who watches what. No verdict is made of it.

pub mod audit_log;
mod bundle;
mod compare;
mod fill;
mod merge;
mod pace;
mod play;
mod read_ahead;
mod report;
pub mod source;
mod timeouts;
pub mod translate;
pub mod tree;

use std::path::PathBuf;

pub use bundle::bundle;
pub use merge::{DAMAGED_MAX, DIFFERENCES_MAX, MemberDifference};
pub use play::{Autopsy, perform};
pub use report::{Coverage, LOCKS_MAX, LockReport, MissingRange, Percentiles, Report};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Data directories of members of one ensemble.
    pub directories: Vec<PathBuf>,
    /// The paths that are looked at; they do not nest.
    pub roots: Vec<String>,
    /// Only from this instant on, ms since the epoch.
    pub from_ms: Option<i64>,
    pub to_ms: Option<i64>,
    /// ZooKeeper's audit log, which says who sessions are.
    pub audit_log: Option<PathBuf>,
    pub store: PathBuf,
    /// The name that it has there.
    pub ensemble: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AutopsyError {
    #[error("{0}")]
    NothingFound(String),
    #[error("{0}")]
    Store(String),
}
