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
    Queue {
        /// They wait for a lock; else they stand by for a leader, which counts as waiting for nothing.
        counts_as_waiting: bool,
    },
    /// They are in from the beginning.
    Members,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockKind {
    pub recipe: Recipe,
    pub following: Following,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContenderPlace {
    /// The one directory: it waits there, and holds there.
    Line,
    /// A semaphore's queue: it waits there, and another znode holds.
    Queue,
    /// A semaphore's leases: it holds there, and another znode waited.
    Lease,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The name of its znode.
    pub node: Box<str>,
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
    pub session: Option<SessionId>,
    /// When it was created, on the ensemble's clock.
    pub ctime_ms: i64,
    /// Its payload, of which its label is made.
    pub payload: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldSince {
    /// Since when, as we saw it.
    pub at: TimeMs,
    /// It may have held for longer.
    pub is_lower_bound: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Our clock minus the ensemble's is another.
    Offset(i64),
    /// A contender came, or was read.
    Came {
        lock: Arc<str>,
        kind: LockKind,
        contender: Contender,
        /// It came while nobody watched: when is known by its creation alone.
        is_found: bool,
    },
    /// All contenders of a lock, and who of them holds: it is new, or was read anew.
    Whole {
        lock: Arc<str>,
        kind: LockKind,
        verdict: Verdict,
        contenders: Vec<(Contender, Option<HeldSince>)>,
        /// They came while nobody watched.
        is_found: bool,
        /// Its findings by which somebody is hurt, each with how bad it is and its sentence.
        findings: Vec<(Code, Severity, Box<str>)>,
    },
    Held {
        lock: Arc<str>,
        node: Box<str>,
        since: HeldSince,
    },
    Left {
        lock: Arc<str>,
        node: Box<str>,
        how: Departure,
        host: Option<Box<str>>,
    },
    /// A znode was read and is no contender, whatever its name said.
    NoContender {
        lock: Arc<str>,
        node: Box<str>,
    },
    /// A lock is shown no longer.
    Vanished {
        lock: Arc<str>,
    },
    /// So many wait at a lock without a znode.
    Watchers {
        lock: Arc<str>,
        count: u32,
    },
    /// A session ended: who left just before did not let go.
    SessionEnded {
        session: SessionId,
        /// Since when what went did so with it; None where that is concluded from what went at once.
        since: Option<TimeMs>,
    },
    Verdict {
        lock: Arc<str>,
        verdict: Verdict,
    },
    Finding {
        lock: Arc<str>,
        code: Code,
        /// How bad, and its sentence; None when it went.
        raised: Option<(Severity, Box<str>)>,
    },
    Deadlock {
        locks: Vec<Arc<str>>,
        is_closed: bool,
    },
    Link(Link),
    Root {
        path: Box<str>,
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
