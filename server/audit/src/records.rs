//! What others may ask of the record: a page of it, or all of it. Knows no file.

use std::io;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use lockscope_view::{AuditKind, AuditPage, Within};

use super::AuditError;

pub const LIMIT_DEFAULT: usize = 100;
pub const LIMIT_MAX: usize = 500;

/// Which records are wanted, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageQuery {
    /// Only records with a larger number.
    pub after: Option<u64>,
    /// Only records with a smaller number.
    pub before: Option<u64>,
    /// At most so many; more than [`LIMIT_MAX`] are never given.
    pub limit: usize,
    pub actor: Option<String>,
    pub kind: Option<AuditKind>,
    pub lock: Option<String>,
    /// Only what is inside, and what is about no place.
    pub scope: Within,
}

impl Default for PageQuery {
    fn default() -> Self {
        Self {
            after: None,
            before: None,
            limit: LIMIT_DEFAULT,
            actor: None,
            kind: None,
            lock: None,
            scope: Within::default(),
        }
    }
}

/// The whole log as it was when it was asked for: exactly the bytes of its files, one JSON object a line.
pub struct Export {
    pub bytes: u64,
    /// The bytes; an error ends them early.
    pub chunks: BoxStream<'static, io::Result<Bytes>>,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Export").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

pub trait Records: Send + Sync + 'static {
    /// A page of records, newest first.
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<AuditPage, AuditError>>;
    fn export(&self) -> BoxFuture<'_, Result<Export, AuditError>>;
}
