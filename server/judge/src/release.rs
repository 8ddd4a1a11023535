//! Deletions that came from Lockscope, against what was planned and recorded.

use std::collections::BTreeSet;

/// Everything Lockscope was asked to release, and which sessions are its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Releases {
    /// Whose deletions are ours.
    pub ours: Ours,
    /// Every plan that was ordered to be executed.
    pub plans: Vec<Plan>,
}

/// Which sessions are Lockscope's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ours {
    /// These.
    These(BTreeSet<i64>),
    /// All but these, where the test knows all its own clients.
    AllBut(BTreeSet<i64>),
}

/// A deletion that was ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The znode.
    pub path: String,
    /// Its identity when it was planned.
    pub czxid: i64,
    /// When the record of the intent was durable; `None` when there is no such record.
    pub intent_durable_at_ms: Option<i64>,
    /// The outcome that is on record; `None` when there is none.
    pub outcome: Option<Outcome>,
}

/// What the record says came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The planned znode was deleted by us.
    Deleted,
    /// Something else went in its place (another incarnation of a fixed name).
    DeletedOther,
    /// Nothing was deleted by us.
    NothingDeleted,
    /// It says that it does not know.
    Unknown,
}
