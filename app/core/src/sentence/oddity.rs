//! What a finding says: which sentence, and with what names and numbers. A sentence holds no age.

use crate::evidence::TimeoutAdvice;
use crate::znode::{SessionId, Zxid};

/// What is odd, as a lint found it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "arguments are named as the sentences name them")]
pub enum Oddity {
    /// The directory was deleted while empty and made again.
    ContainerReaped { times: usize },
    /// A circle, with the sentence on it.
    Circle { sentence: String, is_doubtful: bool, is_certain: bool },
    /// A long queue.
    DeepQueue { contenders: u32, trend: Trend },
    /// The holder took over from one whose session ended.
    TookOver { old: String, new: String },
    /// One client queues several times; `more` do the same.
    Duplicates { who: Duplicate, times: usize, effect: DuplicateEffect, more: usize },
    /// A session should have run out, and its znode is still there.
    ExpiryOverdue { who: String },
    /// A session ended, and its znode is still there.
    StaleEphemeral { who: String },
    /// A contender's znode has children.
    ParentContender,
    /// Children that are no part of the recipe.
    ForeignChildren { count: usize, recipe: String, effect: ForeignEffect },
    /// Many waiters watch one znode.
    Herd { waiters: u32 },
    /// Many sessions watch one znode and have none of their own.
    HerdOfWatchers { sessions: u32, is_least: bool },
    /// The office of leader and the election disagree.
    OfficeConflict(OfficeConflict),
    /// Classes of locks that sessions take in opposite orders, or in a circle; one where its own locks are.
    LockOrder { classes: Vec<String> },
    /// All leases are out, and one is far older than the others.
    LeaseLeak { used: u32, max: u32, who: String },
    /// Some members have a znode that others have not.
    MembersDisagree { path: String, on: Vec<String>, more: usize, late: Vec<String> },
    /// Nobody holds what somebody must; whether there is a znode at its path.
    MustBeHeld { is_there: bool, waiting: u32 },
    /// A contender watches one behind it: whether by the queue's order it holds, and whether that one waits for it.
    WatchInversion { watching: String, behind: String, is_first: bool, is_circle: bool },
    /// A queue grows faster than it is served; numbers a minute.
    NeverDrains { arrive: u64, served: u64, gave_up: u64 },
    /// The last sequence number comes in so many days.
    SequenceForecast { days: u64, a_day: u64 },
    /// An empty directory that was deleted while empty before, and how often.
    WillBeReaped { times: usize },
    /// A session's time-out does not suit its client; `more` are like it.
    Timeout { who: String, advice: TimeoutAdvice, more: usize },
    /// Waiters without a watch.
    MissingWatch { waiters: usize },
    /// Recipes that share a directory, with how many of each.
    MixedRecipes { recipes: Vec<(u32, &'static str)>, are_blind: bool },
    /// Contenders that no session owns.
    NeverExpires { contenders: usize },
    /// Who lost the lock is connected again.
    OldOwnerConnected { old: String, old_token: Option<Zxid>, new: String, new_token: Option<Zxid> },
    /// Contenders that stand behind newer ones.
    OrderAnomaly { contenders: usize },
    /// A head that nobody may work under.
    OrphanContender { who: String },
    /// Znodes written after their creation.
    Rewritten { znodes: usize },
    /// The holder was asked to let go.
    RevocationRequested,
    /// A client that lost the lock is back with another session.
    NewSession { who: String, old: Option<SessionId>, new: SessionId },
    /// The counter ran into negative numbers.
    SequenceNegative,
    /// The counter sticks.
    SequenceStuck,
    /// Much of the counter is used.
    SequenceUsed { percent: u64 },
    /// Many try and few succeed.
    Churn { gave_up: u64, successes: u64, most_by: String },
    /// A client holds and waits behind itself.
    HoldsAndWaits { who: String, session: Option<SessionId> },
    /// A client waits behind itself.
    WaitsBehindItself { who: String },
    /// Empty directories of locks.
    EmptyLocks { count: usize },
    /// A session that owns a great many znodes; `more` do as well.
    Hoard { session: SessionId, znodes: u32, more: usize },
    /// A root with very many znodes that are no locks.
    ManyZnodes { root: String, plain: u64, all: u64 },
}

/// How a queue's length changed lately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "arguments are named as the sentences name them")]
pub enum Trend {
    Grows,
    Shrinks,
    Steady,
}

/// Who queues several times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "arguments are named as the sentences name them")]
pub enum Duplicate {
    Session(SessionId),
    ProtectionGuid(String),
}

/// What it means that somebody queues several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateEffect {
    /// One may be a znode that nobody knows of.
    Waits,
    /// The same, and one holds.
    BlocksItself,
    /// Several threads of the client.
    Threads,
}

/// What clients do with a name that they did not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "arguments are named as the sentences name them")]
pub enum ForeignEffect {
    NotKnown,
    CountsAsLease,
    CountsAsMember,
    TakenForItem,
    TakenForMember,
    DoesNotMatter,
    FailsGoZookeeper,
    SortedByWriteLock,
    IgnoredByKazoo,
    BehindThoseOfCurator,
    TakenForContender,
}

/// How an election and its office disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "arguments are named as the sentences name them")]
pub enum OfficeConflict {
    /// The office belongs to another; None: to nobody.
    Another {
        first: String,
        owner: Option<SessionId>,
    },
    NoOffice {
        first: String,
    },
    NoCandidate,
}
