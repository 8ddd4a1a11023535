//! What a root and the session that watches the lists of children tell each other of a directory.

use std::sync::Arc;

/// What that session has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WatchChange {
    Set(Arc<str>),
    Drop(Arc<str>),
}

/// What was heard of one directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DirectoryNews {
    /// Its watch was set; the changes came after that.
    pub(super) is_set: bool,
    pub(super) changes: u32,
}
