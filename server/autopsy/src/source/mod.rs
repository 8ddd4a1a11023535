//! Where transactions come from: the files of a member, read as streams and never written to.

mod files;
mod log;
mod snapshot;

use std::path::{Path, PathBuf};

pub use files::{LogFile, MemberFiles, SnapshotFile};
pub use log::LogStream;
pub use snapshot::{SnapshotHead, read_snapshot};

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    pub file: PathBuf,
    pub offset: u64,
    pub why: String,
}

impl Damage {
    pub(crate) fn new(file: &Path, offset: u64, why: impl ToString) -> Self {
        Self { file: file.to_owned(), offset, why: why.to_string() }
    }
}
