//! What can be said of a lock: verdicts, and the kinds of findings. The rules that say it are in `verdict` and
//! `finding`.

use super::time::TimeMs;

/// Worst last. Meanings as in the wire's enum of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Verdict {
    Free,
    Healthy,
    Unknown,
    Slow,
    Expiring,
    NobodyHome,
    Orphan,
    Stuck,
    MaybeDeadlocked,
    DoubleOwner,
    Deadlocked,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// Names a lint. The names are used in the API and in the configuration.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

codes! {
    /// A contender became head and nobody works under it.
    OrphanContender = "orphan_contender",
    /// One session, or one protection GUID, queues twice in one lock.
    DuplicateSession = "duplicate_session",
    /// A semaphore is full, and one lease is far older than the rest.
    LeaseLeak = "lease_leak",
    /// The holder went with its session; the old one may not know yet.
    DoubleOwnerWindow = "double_owner_window",
    /// The office of leader and the election disagree.
    LeaderMismatch = "leader_mismatch",
    /// The lock's directory is deleted when it is empty.
    ContainerReaped = "container_reaped",
    /// A waiter is the same client as the holder it waits for.
    WaitingForItself = "waiting_for_itself",
    /// A child that no recipe writes.
    ForeignChild = "foreign_child",
    /// A session should have run out, and what it owns is still there.
    ExpiryOverdue = "expiry_overdue",
    /// Some members have a contender that others have not.
    MembersDisagree = "members_disagree",
    /// A waiter is in no watch table.
    MissingWatch = "missing_watch",
    /// Clients that do not see each other share one directory.
    MixedRecipes = "mixed_recipes",
    /// The sequence counter is near its end, or past it.
    SequenceOverflow = "sequence_overflow",
    /// The queue's order is not the order of creation.
    OrderAnomaly = "order_anomaly",
    /// Somebody wrote to a contender's znode after its creation.
    RewrittenNode = "rewritten_node",
    /// A client lost its locks with its session and came back with another.
    SameClientNewSession = "same_client_new_session",
    /// The session of the old holder is gone, its client goes on.
    OldOwnerConnected = "old_owner_connected",
    /// No session owns a contender: it stays until somebody deletes it.
    NeverExpires = "never_expires",
    /// Many locks that nobody uses.
    EmptyLocks = "empty_locks",
    /// A session owns thousands of znodes.
    SessionHoards = "session_hoards",
    /// Many try and few succeed.
    TryLockChurn = "try_lock_churn",
    /// One release wakes many.
    Herd = "herd",
    /// Sessions wait for each other in a circle.
    Deadlock = "deadlock",
    /// The queue is long, and each acquire reads it whole.
    DeepQueue = "deep_queue",
    /// Sessions take locks in opposite orders.
    LockOrder = "lock_order",
    /// Nobody holds what the configuration says somebody must.
    MustBeHeld = "must_be_held",
    /// A waiter watches a contender that stands behind it, and none before it.
    WatchInversion = "watch_inversion",
    /// The queue grows faster than it is served.
    NeverDrains = "never_drains",
    /// Sessions with a time-out that is far longer than they need.
    LongTimeout = "long_timeout",
    /// Sessions that were silent for nearly all of their time-out.
    ShortTimeout = "short_timeout",
    /// An empty directory that will be deleted, and the numbers of its lock begin anew.
    WillBeReaped = "will_be_reaped",
    /// A root has very many znodes that are no locks.
    ManyZnodes = "many_znodes",
    /// The session that owns a contender ended, and its znode will never go by itself.
    StaleEphemeral = "stale_ephemeral",
}

impl Code {
    /// Of an ensemble as a whole: no lock has it, so nothing that looks at locks finds it.
    pub fn is_of_ensemble(self) -> bool {
        match self {
            Self::EmptyLocks | Self::SessionHoards | Self::LongTimeout | Self::ShortTimeout | Self::ManyZnodes => true,
            Self::OrphanContender
            | Self::DuplicateSession
            | Self::LeaseLeak
            | Self::DoubleOwnerWindow
            | Self::LeaderMismatch
            | Self::ContainerReaped
            | Self::WaitingForItself
            | Self::ForeignChild
            | Self::ExpiryOverdue
            | Self::StaleEphemeral
            | Self::MembersDisagree
            | Self::MissingWatch
            | Self::MixedRecipes
            | Self::SequenceOverflow
            | Self::OrderAnomaly
            | Self::RewrittenNode
            | Self::SameClientNewSession
            | Self::OldOwnerConnected
            | Self::NeverExpires
            | Self::TryLockChurn
            | Self::Herd
            | Self::Deadlock
            | Self::DeepQueue
            | Self::LockOrder
            | Self::MustBeHeld
            | Self::WatchInversion
            | Self::NeverDrains
            | Self::WillBeReaped => false,
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Warning,
    /// Act.
    Critical,
}

/// Something odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// One sentence. It holds no age, so it changes only when something happens.
    pub text: Box<str>,
    /// The znodes it is about.
    pub paths: Vec<Box<str>>,
    /// Since when it is so, as we saw it.
    pub since: TimeMs,
}
