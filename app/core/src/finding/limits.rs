//! From where on lints warn.

use crate::configured::is_meant;
use crate::diagnosis::Code;

/// Which lints are off, and from where on the others warn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lints that are off.
    pub off: Vec<Code>,
    /// Waiters that one release wakes, from which on it is a herd.
    pub herd_waiters: u32,
    /// Contenders from which on a queue is deep.
    pub deep_contenders: u32,
    /// Percentage of the sequence numbers used from which on it is reported.
    pub sequence_percent: u32,
    /// Empty lock directories from which on it is reported.
    pub empty_locks: u32,
    /// Znodes of one session from which on it is reported.
    pub hoard_znodes: u32,
    /// Attempts in the last minute that came to nothing from which on it is reported.
    pub churn_attempts: u32,
    /// Locks that somebody must hold, by patterns of paths; at most [`MUST_BE_HELD_MAX`].
    pub must_be_held: Vec<String>,
}

/// Patterns of locks that must be held. Each is compared with the path of a lock whose findings are looked for.
pub const MUST_BE_HELD_MAX: usize = 100;

impl Limits {
    /// Whether somebody must hold the lock of this path.
    pub fn must_be_held(&self, path: &str) -> bool {
        self.must_be_held.iter().any(|pattern| is_meant(pattern, path))
    }

    /// Whether the lock of this path must be held whether or not anything is there.
    pub fn must_be_there(&self, path: &str) -> bool {
        self.must_be_held.iter().any(|held| held == path && !held.contains('*'))
    }

    /// Paths that must be held whether or not anything is there: patterns without a star.
    pub fn held_paths(&self) -> impl Iterator<Item = &str> {
        self.must_be_held.iter().map(String::as_str).filter(|pattern| !pattern.contains('*'))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            off: Vec::new(),
            herd_waiters: 10,
            deep_contenders: 500,
            sequence_percent: 80,
            empty_locks: 1_000,
            hoard_znodes: 1_000,
            churn_attempts: 20,
            must_be_held: Vec::new(),
        }
    }
}
