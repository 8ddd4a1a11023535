//! Everything the core can say has changed. A closed enum; what a consumer does not need it ignores by name.

use std::sync::Arc;

pub use super::departure::Departure;
use super::diagnosis::{Code, Verdict};
use super::root::{Link, RootId, RootState};
use super::time::TimeMs;
use super::znode::{SessionId, Zxid};

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Our link changed.
    LinkChanged(Link),
    /// A root's state changed.
    RootChanged(RootId),
    /// A lock was recognised.
    LockAppeared {
        /// Its path.
        lock: Arc<str>,
    },
    /// A lock is no longer shown.
    LockVanished {
        /// Its path.
        lock: Arc<str>,
    },
    /// A contender joined.
    Arrived {
        /// The lock.
        lock: Arc<str>,
        /// Its znode's name.
        node: Box<str>,
    },
    /// A contender's owner became known.
    Identified {
        /// The lock.
        lock: Arc<str>,
        /// Identity of the znode.
        czxid: Zxid,
        /// Its owner.
        owner: Option<SessionId>,
    },
    /// A contender left.
    Left {
        /// The lock.
        lock: Arc<str>,
        /// Its znode's name.
        node: Box<str>,
        /// Identity of the znode; None when it was gone before it could be read.
        czxid: Option<Zxid>,
        /// Its owner, when that was known.
        owner: Option<SessionId>,
        /// How.
        how: Departure,
    },
    /// The first holder is another, or there is none now.
    HolderChanged {
        /// The lock.
        lock: Arc<str>,
        /// The new first holder's znode.
        node: Option<Box<str>>,
    },
    /// Several znodes of a session went at once and none is left: it ended. Reported after the departures.
    SessionEnded {
        /// The session.
        session: SessionId,
        /// Znodes that went.
        znodes: u32,
    },
    /// The members were asked anew.
    EvidenceChanged,
    /// A deadlock closed or came apart.
    DeadlockChanged {
        /// The locks in it.
        locks: Vec<Arc<str>>,
        /// It closed.
        is_closed: bool,
    },
    /// Something odd was found, or is no longer so.
    FindingChanged {
        /// The lock.
        lock: Arc<str>,
        /// What.
        code: Code,
        /// It was raised, or is worse or less bad than before; not cleared.
        is_raised: bool,
    },
    /// The verdict is another.
    VerdictChanged {
        /// The lock.
        lock: Arc<str>,
        /// The new verdict.
        verdict: Verdict,
    },
    /// Something else of the lock changed: queue order, payload, recognition, Stat.
    LockTouched {
        /// The lock.
        lock: Arc<str>,
    },
}

impl Change {
    /// The lock it is about, the first one of a deadlock; None for what is about no lock.
    pub fn lock(&self) -> Option<&str> {
        match self {
            Self::LockAppeared { lock }
            | Self::LockVanished { lock }
            | Self::Arrived { lock, .. }
            | Self::Identified { lock, .. }
            | Self::Left { lock, .. }
            | Self::HolderChanged { lock, .. }
            | Self::FindingChanged { lock, .. }
            | Self::VerdictChanged { lock, .. }
            | Self::LockTouched { lock } => Some(lock),
            Self::DeadlockChanged { locks, .. } => locks.first().map(AsRef::as_ref),
            Self::LinkChanged(_) | Self::RootChanged(_) | Self::SessionEnded { .. } | Self::EvidenceChanged => None,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// To a lock, a session or the link.
    Changed(Change),
    /// A root is in another state.
    Root(RootId, RootState),
}

/// When, as which since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// Its number, from 1 without gaps.
    pub number: u64,
    /// When it was applied.
    pub at: TimeMs,
    /// What happened.
    pub what: Event,
}
