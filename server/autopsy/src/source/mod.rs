//! Where transactions come from: the files of a member, read as streams and never written to.

mod files;
mod log;
mod snapshot;

use std::path::{Path, PathBuf};

pub use files::{LogFile, MemberFiles, SnapshotFile};
pub use log::LogStream;
pub use snapshot::{SnapshotHead, read_snapshot};

use serde::Serialize;

/// Records that can't be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub offset: u64,
    /// What is wrong there.
    pub why: String,
}

impl Damage {
    pub(crate) fn new(file: &Path, offset: u64, why: impl ToString) -> Self {
        Self { file: file.to_owned(), offset, why: why.to_string() }
    }
}
