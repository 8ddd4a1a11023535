//! From where on lints warn.

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
        }
    }
}
