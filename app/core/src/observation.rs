//! The inputs of the core: a closed enum of everything that an adapter can observe.

use super::configured::Configured;
use super::evidence::Round;
use super::finding::Limits;
use super::lock_order::OrderSnooze;
use super::missing::MissingSet;
pub use super::recollection::Recollection;
pub use super::root::{Link, RootId, RootTrouble};
use super::settings::Settings;
use super::time::TimeMs;
use super::znode::{Facts, SessionId};

/// Why every root is read anew when the servers went on with an older state of their data. Recognised by its
/// text, so that recordings keep their format.
pub const RESTORED: &str = "the ensemble was restored: its newest transaction is older than one seen before";
/// The same, where several servers that each work alone are taken for one ensemble.
pub const SEPARATE: &str =
    "the servers of the connect string are no ensemble: each works alone, with a history of its own";

/// Whether a root is read anew for one of these: nothing that was believed before is believed any longer.
pub fn is_other_history(why: &str) -> bool {
    [RESTORED, SEPARATE].contains(&why)
}

/// What the operator says, beside what is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockConfig {
    /// Of locks by their paths.
    pub configured: Vec<Configured>,
    /// The thresholds of findings.
    pub limits: Limits,
}

/// One thing learned about an ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Our link changed. `why` is a short clause for the screen. Where events may have been lost, the
    /// `SyncBegan` of every root comes before the link is called live again, so that nothing old looks current.
    Link {
        /// The new state.
        link: Link,
        /// Our session, when there is one.
        session: Option<SessionId>,
        /// Why; empty when live.
        why: Box<str>,
    },
    /// A (re)sync of a root begins: watches are set, reading starts. What follows for this root goes into a
    /// side buffer; the believed tree stays as it is until `SyncEnded`.
    SyncBegan {
        /// The root.
        root: RootId,
        /// Why it is read anew ("first sync", "reconnected", "events lost"); for the screen and counters. With one of
        /// [`is_other_history`] everything believed of the root ends, even what has the same czxid afterwards.
        why: Box<str>,
    },
    /// Within a sync: a znode that was read, the root itself included. Parents come before children.
    SyncNode {
        /// The root.
        root: RootId,
        /// Full path.
        path: Box<str>,
        /// Facts; boxed because most observations are smaller.
        facts: Box<Facts>,
        /// The znode's own data or children may not be read: its subtree is unknown.
        unreadable: bool,
    },
    /// The sync is complete: the side buffer becomes the believed tree at once.
    SyncEnded {
        /// The root.
        root: RootId,
    },
    /// After a gap the root's watch is set again, and the counters of its directories are compared with what is believed.
    /// What follows for this root changes the believed tree, which is not live before `ComparisonEnded`; the instants of
    /// what changed are bounds.
    ComparisonBegan {
        /// The root.
        root: RootId,
        /// Why ("reconnected", "new session"); for the screen and counters.
        why: Box<str>,
    },
    /// Within a comparison: something moved in a directory, and these are its children. What else is believed to be in it
    /// went in the gap. A `NodeRead` of each of these follows.
    Listed {
        /// The root.
        root: RootId,
        /// The directory.
        path: Box<str>,
        /// The names of its children.
        names: Box<[Box<str>]>,
    },
    /// The believed tree is as it should be.
    ComparisonEnded {
        /// The root.
        root: RootId,
    },
    /// The root can't be shown live.
    RootTrouble {
        /// The root.
        root: RootId,
        /// What is wrong.
        trouble: RootTrouble,
        /// Short clause for the screen.
        why: Box<str>,
    },
    /// Watch event: a znode was created. Its facts follow as `NodeRead`, unless it is gone by then.
    NodeCreated {
        /// The root.
        root: RootId,
        /// Full path.
        path: Box<str>,
    },
    /// A read of a znode that exists outside a sync: after its creation, a change of its data, or a sweep.
    /// Adapters drop replies that a later event has overtaken.
    NodeRead {
        /// The root.
        root: RootId,
        /// Full path.
        path: Box<str>,
        /// Facts.
        facts: Box<Facts>,
        /// Its data or children may not be read.
        unreadable: bool,
    },
    /// A znode is there, as its directory's list shows, and neither its data nor its Stat may be read: whose it is and
    /// when it came is not known. ZooKeeper 3.8.4, 3.9.2 and newer ask for the right to read before they give a Stat
    /// (ZOOKEEPER-2590).
    NodeDenied {
        /// The root.
        root: RootId,
        /// Full path.
        path: Box<str>,
        /// Found within a sync: it goes into the side buffer alone.
        in_sync: bool,
    },
    /// Watch event: a znode was deleted.
    NodeDeleted {
        /// The root.
        root: RootId,
        /// Full path.
        path: Box<str>,
    },
    /// The Stat of a directory, read by a sweep. Brings its shown counters up to date and nothing else.
    Counted {
        /// The root.
        root: RootId,
        /// The directory.
        path: Box<str>,
        /// Facts, without a payload.
        facts: Box<Facts>,
    },
    /// How whole the children of a directory are known, said anew whenever that changes. The only way in which an
    /// adapter says that a lock may miss contenders; a sync, which reads everything, begins with nothing missing.
    Incomplete {
        /// The root.
        root: RootId,
        /// The directory.
        path: Box<str>,
        /// What may be missing from its children; empty once all are known.
        missing: MissingSet,
    },
    /// The counters of a directory show creations that no event reported.
    Missed {
        /// The root.
        root: RootId,
        /// The directory.
        path: Box<str>,
        /// How many.
        creates: u32,
    },
    /// What the members said when they were asked of themselves.
    Evidence(Box<Round>),
    /// A question was sent on the session that carries the watches; `Answered` or `Synced` follows, unless the link
    /// goes. Comes after all that had reached us when it was sent. Like `Answered` it matters only to
    /// [`super::pending::Pending`].
    Asked,
    /// The question was answered by our member. A transaction takes place between two answers, never around one: every
    /// one of which a part came before `Asked` is complete.
    Answered,
    /// The same, and the leader was asked: everything the ensemble had committed at `sent_at` on our clock has arrived
    /// by now, as far as watches report it, and what comes from here on was committed later. Only said while each root
    /// is watched or being read anew.
    Synced {
        /// When the question was sent.
        sent_at: TimeMs,
    },
    /// The events before this reached us at this instant, and none of them earlier. Comes last in what was taken at
    /// once.
    EventsArrived {
        /// When they were taken from the session.
        at: TimeMs,
    },
    /// A znode of our own was created: its ctime lies between the two instants of our clock.
    ClockRead {
        /// When its creation was sent.
        sent_at: TimeMs,
        /// When it was answered.
        told_at: TimeMs,
        /// Its ctime on the ensemble's clock, ms since the Unix epoch.
        ctime_ms: i64,
    },
    /// Whether a session has ended, from one who knows: a transaction log says so of each. Comes right after the last of
    /// its znodes that went with it, at the same instant. A watch tells no such thing; then it is concluded from what goes at once.
    SessionTold {
        /// The session.
        session: SessionId,
        /// It ended; else it goes on, whatever it let go.
        has_ended: bool,
    },
    /// Which time-out a session negotiated, from one who knows: a transaction log or a snapshot says so of each. A live
    /// observer has it of the members instead. `SessionTold` with an end implies that it is over.
    SessionTimeout {
        /// The session.
        session: SessionId,
        /// The time-out, ms; None once the session is over.
        timeout_ms: Option<i64>,
    },
    /// The operator says anew what locks are and which findings are reported.
    ConfigChanged(Box<LockConfig>),
    /// An operator silenced a warning of lock orders or ended that: all that are silenced from now on.
    OrdersSnoozed(Vec<OrderSnooze>),
    /// Time passed; nothing else happened.
    Tick,
    /// A part of a checkpoint: what was believed and learned before. A whole checkpoint, from its `Opening` to its
    /// `Model`, takes the place of everything that was there.
    Recalled(Box<Recollection>),
    /// The server was started again, with these settings; what was believed is of before. Nothing is known of the time
    /// between.
    Restarted(Box<Settings>),
}
