//! What the derived rows are made of: plain values, taken of the model right after it changed.

use std::sync::Arc;

use lockscope_core::change::Departure;
use lockscope_core::diagnosis::{Code, Severity, Verdict};
use lockscope_core::observation::Link;
use lockscope_core::recipe::Recipe;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

/// What the lives of a lock's contenders are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Following {
    /// They wait for each other.
    Queue {
        /// They wait for a lock; else they stand by for a leader, which counts as waiting for nothing.
        counts_as_waiting: bool,
    },
    /// They are in from the beginning.
    Members,
}

/// What a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockKind {
    /// Its recipe.
    pub recipe: Recipe,
    /// What its contenders do.
    pub following: Following,
}

/// Where a contender's znode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContenderPlace {
    /// The one directory: it waits there, and holds there.
    Line,
    /// A semaphore's queue: it waits there, and another znode holds.
    Queue,
    /// A semaphore's leases: it holds there, and another znode waited.
    Lease,
}

/// A contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The name of its znode.
    pub node: Box<str>,
    /// Where that is.
    pub place: ContenderPlace,
    /// When we learned of it.
    pub arrived_at: TimeMs,
    /// What its read showed; None before.
    pub identity: Option<Identity>,
}

/// What a read of a contender's znode shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Which incarnation it is.
    pub czxid: Zxid,
    /// Its owner.
    pub session: Option<SessionId>,
    /// When it was created, on the ensemble's clock.
    pub ctime_ms: i64,
    /// Its payload, of which its label is made.
    pub payload: Box<[u8]>,
}

/// Since when somebody holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSince {
    /// Since when, as we saw it.
    pub at: TimeMs,
    /// It may have held for longer.
    pub is_lower_bound: bool,
}

/// One thing that happened to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Our clock minus the ensemble's is another.
    Offset(i64),
    /// A contender came, or was read.
    Came {
        /// The lock.
        lock: Arc<str>,
        /// What it is.
        kind: LockKind,
        /// Who came.
        contender: Contender,
        /// It came while nobody watched: when is known by its creation alone.
        is_found: bool,
    },
    /// All contenders of a lock, and who of them holds: it is new, or was read anew.
    Whole {
        /// The lock.
        lock: Arc<str>,
        /// What it is.
        kind: LockKind,
        /// Its verdict.
        verdict: Verdict,
        /// All of them.
        contenders: Vec<(Contender, Option<HeldSince>)>,
        /// They came while nobody watched.
        is_found: bool,
        /// Its findings by which somebody is hurt, each with how bad it is and its sentence.
        findings: Vec<(Code, Severity, Box<str>)>,
    },
    /// A contender holds.
    Held {
        /// The lock.
        lock: Arc<str>,
        /// The name of its znode.
        node: Box<str>,
        /// Since when.
        since: HeldSince,
    },
    /// A contender left.
    Left {
        /// The lock.
        lock: Arc<str>,
        /// The name of its znode.
        node: Box<str>,
        /// How.
        how: Departure,
        /// The host of its client.
        host: Option<Box<str>>,
    },
    /// A znode was read and is no contender, whatever its name said.
    NoContender {
        /// The lock.
        lock: Arc<str>,
        /// Its name.
        node: Box<str>,
    },
    /// A lock is shown no longer.
    Vanished {
        /// The lock.
        lock: Arc<str>,
    },
    /// So many wait at a lock without a znode.
    Watchers {
        /// The lock.
        lock: Arc<str>,
        /// How many.
        count: u32,
    },
    /// A session ended: who left just before did not let go.
    SessionEnded {
        /// Which.
        session: SessionId,
        /// Since when what went did so with it; None where that is concluded from what went at once.
        since: Option<TimeMs>,
    },
    /// A lock's verdict is another.
    Verdict {
        /// The lock.
        lock: Arc<str>,
        /// The new one.
        verdict: Verdict,
    },
    /// A finding came or went.
    Finding {
        /// The lock.
        lock: Arc<str>,
        /// What.
        code: Code,
        /// How bad, and its sentence; None when it went.
        raised: Option<(Severity, Box<str>)>,
    },
    /// A deadlock closed or came apart.
    Deadlock {
        /// The locks in it.
        locks: Vec<Arc<str>>,
        /// It closed.
        is_closed: bool,
    },
    /// Our link is another.
    Link(Link),
    /// A root is in another state.
    Root {
        /// Its path.
        path: Box<str>,
        /// The new state.
        state: RootState,
    },
}

impl Event {
    /// About how many bytes it takes while it waits.
    pub fn bytes(&self) -> usize {
        let of = |contender: &Contender| {
            let payload = contender.identity.as_ref().map_or(0, |identity| identity.payload.len());
            size_of::<Contender>() + contender.node.len() + payload
        };
        let more = match self {
            Self::Came { contender, .. } => of(contender),
            Self::Whole { contenders, findings, .. } => {
                let texts = findings.iter().map(|(.., text)| text.len()).sum::<usize>();
                contenders.iter().map(|(contender, _)| of(contender)).sum::<usize>() + texts
            }
            Self::Held { node, .. } | Self::Left { node, .. } | Self::NoContender { node, .. } => node.len(),
            Self::Deadlock { locks, .. } => locks.len() * size_of::<Arc<str>>(),
            Self::Root { path, .. } => path.len(),
            Self::Offset(_)
            | Self::Vanished { .. }
            | Self::Watchers { .. }
            | Self::SessionEnded { .. }
            | Self::Verdict { .. }
            | Self::Finding { .. }
            | Self::Link(_) => 0,
        };
        size_of::<Self>() + more
    }
}
