//! What is derived of a lock: its verdict, the deadlock it is part of, and what is odd about it. All of it can be made
//! anew from the lock, the tree and the members' evidence; nothing of a lock depends on it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::diagnosis::{Code, Finding, Verdict};
use super::lock::Lock;
use super::time::TimeMs;

/// A circle that goes through a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The circle in words.
    pub sentence: Arc<str>,
    /// It is one, and not only looks like it.
    pub is_certain: bool,
}

/// What is derived of one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The verdict, as of the last change or re-check.
    pub verdict: Verdict,
    /// It is part of a deadlock, or of what looks like one.
    pub deadlock: Option<Deadlock>,
    /// What is odd about it, as of the last look.
    pub findings: Vec<Finding>,
    /// What is odd once it lasts, and since when it is so.
    pub suspects: Vec<(Code, TimeMs)>,
    /// When the verdict may change without anything happening.
    pub recheck_at: Option<TimeMs>,
    /// When its findings are looked for again.
    pub look_at: Option<TimeMs>,
}

impl Default for Assessment {
    fn default() -> Self {
        Self {
            verdict: Verdict::Unknown,
            deadlock: None,
            findings: Vec::new(),
            suspects: Vec::new(),
            recheck_at: None,
            look_at: None,
        }
    }
}

/// A lock, and what is derived of it. It reads as the lock it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssessedLock {
    /// The lock.
    pub lock: Lock,
    /// What is derived of it.
    pub assessment: Assessment,
}

impl From<Lock> for AssessedLock {
    fn from(lock: Lock) -> Self {
        Self { lock, assessment: Assessment::default() }
    }
}

impl Deref for AssessedLock {
    type Target = Lock;

    fn deref(&self) -> &Lock {
        &self.lock
    }
}

impl DerefMut for AssessedLock {
    fn deref_mut(&mut self) -> &mut Lock {
        &mut self.lock
    }
}
