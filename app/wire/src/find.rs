//! What fits a few letters: what the page's palette and the page for finding show.

use serde::{Deserialize, Serialize};

use super::{LockRow, SessionRow};

/// What was asked for, and what fits it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindAnswer {
    /// As it was typed.
    pub q: String,
    /// The worst of those that fit.
    pub locks: Vec<LockRow>,
    /// How many more there are.
    pub more_locks: u32,
    /// The first of those that fit.
    pub sessions: Vec<SessionRow>,
    /// Whoever asks may read the audit log.
    pub may_audit: bool,
}
