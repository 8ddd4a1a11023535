//! Messages between a root and the session that holds the child watches, about one directory.

use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WatchChange {
    Set(Arc<str>),
    Drop(Arc<str>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DirectoryNews {
    /// Its watch was set; the changes came after that.
    pub(super) is_set: bool,
    pub(super) changes: u32,
}
