//! What a checkpoint recalls: everything an observatory believes and has learned, as plain values that can be stored. Of
//! what can be made anew from the rest nothing is here. Who makes and takes them is `observatory::checkpoint`.
//!
//! A checkpoint is, in this order: one `Opening`, a `Root` for each root, of each tree its `Directory`s in path order,
//! each followed by its further `Children`; each `Lock` in path order; `Members`, `Sessions` and `Watches`;
//! `SessionEvents` and `EventRecords`, the oldest first; `LockOrders`, `OrderSnoozes`; one `Model`. Long lists come in pieces of [`PIECE_MAX`].

mod evidence;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use evidence::{MembersState, WatchesRecollection};
pub use tree::{ChildRecollection, ChildrenRecollection, DirectoryRecollection, Tree};

use super::assessment::AssessedLock;
use super::change::EventRecord;
use super::deadlock::Cycle;
use super::durations::Ended;
use super::evidence::SessionRecord;
use super::history::{Counters, EndingSession, SessionEvent};
use super::lock_order::{LockOrders, OrderSnooze};
use super::offset::ClockOffset;
use super::root::{Link, RootId, RootState, RootTrouble};
use super::settings::Settings;
use super::time::TimeMs;
use super::wait_graph::Search;
use super::znode::{SessionId, Zxid};

/// Entries of a list that come as one piece; what is longer comes in several.
pub const PIECE_MAX: usize = 1_024;

/// A part of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recollection {
    /// Begins a checkpoint: the settings it was made under. Whatever was believed before is forgotten.
    Opening(Settings),
    /// The state of a root.
    Root(RootRecollection),
    /// A directory of one of a root's trees, with the first of its children.
    Directory(DirectoryRecollection),
    /// Further children of a directory.
    Children(ChildrenRecollection),
    /// A lock with all that was counted and derived of it. Its `parts` always are those of its path and recognition
    /// ([`Parts::of`](super::lock::Parts::of)), and need not be stored.
    Lock(Box<AssessedLock>),
    /// What the members are, and what they disagree on.
    Members(MembersState),
    /// What is known of some sessions, in order of their ids.
    Sessions(Vec<(SessionId, SessionRecord)>),
    /// A part of a member's table of watches.
    Watches(WatchesRecollection),
    /// What happened to sessions, the oldest first.
    SessionEvents(Vec<SessionEvent>),
    /// Entries of the event log, the oldest first.
    EventRecords(Vec<EventRecord>),
    /// A part of what is known of the orders in which locks are taken; none where nothing is.
    LockOrders(Box<LockOrders>),
    /// Which warnings of them are silenced; none where none is.
    OrderSnoozes(Vec<OrderSnooze>),
    /// Ends a checkpoint: everything else.
    Model(Box<ModelRecollection>),
}

/// A root; its trees come by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootRecollection {
    /// Which.
    pub root: RootId,
    /// How it is watched.
    pub status: RootStatus,
    /// The number that the next new directory of the believed tree gets.
    pub next_directory: u32,
    /// It is being read anew: the same of the tree that is being made.
    pub next_side_directory: Option<u32>,
}

/// How a root is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootStatus {
    /// Why it is in this state.
    pub why: Box<str>,
    /// What is wrong with it.
    pub trouble: Option<RootTrouble>,
    /// It was read once.
    pub is_synced: bool,
    /// It is being compared with the counters of its directories after a gap.
    pub is_comparing: bool,
    /// Since when it is in this state.
    pub since: TimeMs,
    /// Everything that was true up to here is in the believed tree.
    pub known_at: TimeMs,
    /// That was said of the tree as it is since the last sync.
    pub is_confirmed: bool,
    /// It was too old to be live when the clock was last looked at.
    pub was_old: bool,
    /// Some znodes could not be read when that was last looked at.
    pub was_partial: bool,
}

impl RootStatus {
    /// It was not read yet.
    pub(crate) fn new(now: TimeMs) -> Self {
        Self {
            why: "first sync".into(),
            trouble: None,
            is_synced: false,
            is_comparing: false,
            since: now,
            known_at: now,
            is_confirmed: false,
            was_old: false,
            was_partial: false,
        }
    }
}

/// What belongs to no root, lock or session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRecollection {
    /// What is kept as it is.
    pub state: ModelState,
    /// The number of the newest entry of the event log.
    pub last_event: u64,
    /// The state of each root when it was last noted in the event log.
    pub root_states: Vec<Option<RootState>>,
    /// How many observations changed something.
    pub revision: u64,
    /// The number of the slice of depths that is under way.
    pub depth_slice: i64,
}

/// What an observatory believes that belongs to no root, lock or session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelState {
    /// Our link.
    pub link: Link,
    /// Since when.
    pub link_since: TimeMs,
    /// Why.
    pub link_why: Box<str>,
    /// Our session.
    pub session: Option<SessionId>,
    /// The deadlocks there are, and what looks like some.
    pub cycles: Vec<Cycle>,
    /// Sessions that are looked at with the next search for deadlocks.
    pub suspects: BTreeSet<SessionId>,
    /// The search for deadlocks that is under way.
    pub search: Option<Box<Search>>,
    /// Deleted lock directories, and how often each was.
    pub reaped: BTreeMap<Arc<str>, u32>,
    /// Sessions that lost znodes a moment ago.
    pub ending_sessions: BTreeMap<SessionId, EndingSession>,
    /// The ensemble's clock.
    pub offset: ClockOffset,
    /// Owners of what is held whom the members did not name when they were asked; none before the first round.
    pub unlisted: BTreeSet<SessionId>,
    /// When each member's table of watches was asked for, as of the last look at those who wait without a znode.
    pub tables: Vec<Option<TimeMs>>,
    /// The newest transaction that a read showed.
    pub zxid: Zxid,
    /// What was counted.
    pub counters: Counters,
    /// What lasted how long.
    pub ended: Ended,
}

impl ModelState {
    /// Nothing is known yet.
    pub(crate) fn new(now: TimeMs) -> Self {
        Self {
            link: Link::Lost,
            link_since: now,
            link_why: "connecting".into(),
            session: None,
            cycles: Vec::new(),
            suspects: BTreeSet::new(),
            search: None,
            reaped: BTreeMap::new(),
            ending_sessions: BTreeMap::new(),
            offset: ClockOffset::default(),
            unlisted: BTreeSet::new(),
            tables: Vec::new(),
            zxid: Zxid(0),
            counters: Counters::default(),
            ended: Ended::default(),
        }
    }
}
