//! Stretches in which one lock is held and another one asked for, once they are over, and how near two came to each other.

use std::sync::Arc;

use crate::time::TimeMs;
use crate::znode::SessionId;

/// A stretch that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderEnd {
    /// Whose.
    pub session: SessionId,
    /// When.
    pub at: TimeMs,
    /// The lock that was held.
    pub held: Arc<str>,
    /// The lock that was asked for.
    pub wanted: Arc<str>,
}

/// How near two came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approach {
    /// Milliseconds between both; 0 when they overlapped.
    pub ms: i64,
    /// When the later one began.
    pub at: TimeMs,
    /// Whose the later one was.
    pub session: SessionId,
    /// Whose the earlier one was.
    pub other: SessionId,
}
