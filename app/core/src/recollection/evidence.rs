//! What the members said.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::evidence::{Disagreement, Member, WatchTable};
use crate::time::TimeMs;

/// What the members are, and what they disagree on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersState {
    /// Members by name.
    pub members: BTreeMap<Arc<str>, Member>,
    /// What they disagree on.
    pub disagreement: Disagreement,
    /// How many rounds were taken in.
    pub rounds: u64,
    /// When every member was asked who is connected.
    pub complete_at: Option<TimeMs>,
    /// The last round was not too old to speak of now.
    pub is_fresh: bool,
    /// When every member was asked who is connected, as long as the evidence rests on it.
    pub vouched_at: Option<TimeMs>,
}

/// A part of a member's table of watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchesRecollection {
    /// The member.
    pub member: Arc<str>,
    /// When its table was asked for.
    pub asked_at: TimeMs,
    /// Some of its paths.
    pub table: WatchTable,
}
