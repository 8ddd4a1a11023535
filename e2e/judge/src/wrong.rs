//! Something that was shown or done and is not so.

use crate::{Alert, Contender, Told};

/// The most contenders that a wrong repeats of what was shown and of what was true.
pub const LINE_MAX: usize = 16;

/// Which frame, of which lock, on which socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRef {
    /// The socket.
    pub socket: u32,
    /// The lock.
    pub lock: String,
    /// When the frame arrived.
    pub arrived_at_ms: i64,
    /// The transaction that it claims to include.
    pub zxid: i64,
}

/// What was shown and what was true at the transaction whose state comes nearest, each cut to [`LINE_MAX`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The transaction.
    pub zxid: i64,
    /// What was shown.
    pub shown: Line,
    /// What was true.
    pub truth: Line,
}

/// Holders and waiters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// All holders.
    pub holder_count: usize,
    /// All waiters.
    pub waiter_count: usize,
    /// The first holders.
    pub holders: Vec<Contender>,
    /// The first waiters.
    pub waiters: Vec<Contender>,
}

/// Something that was shown or done and is not so. One kind for each way of being wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// LIVE with somebody as holder who did not hold, or without somebody who held.
    WrongHolder(FrameRef, Difference),
    /// LIVE with the right waiters in another order.
    SwappedWaiters(FrameRef, Difference),
    /// LIVE and complete without somebody who waited.
    MissingWaiter(FrameRef, Difference),
    /// LIVE with somebody as waiter who did not wait.
    ExtraWaiter(FrameRef, Difference),
    /// LIVE and free, or gone, though somebody held.
    FreeThoughHeld(FrameRef, Difference),
    /// LIVE and held though nobody held.
    HeldThoughFree(FrameRef, Difference),
    /// LIVE with a state that is older than the one it claims.
    OlderThanClaimed {
        /// The frame.
        place: FrameRef,
        /// The last transaction at which it was true.
        true_until_zxid: i64,
        /// When it stopped being true.
        true_until_ms: i64,
    },
    /// LIVE with a state that is older than one that the same socket had been shown.
    TimeTravel {
        /// The frame.
        place: FrameRef,
        /// The last transaction at which it was true.
        true_until_zxid: i64,
        /// The transaction of the state that was shown before.
        shown_before_zxid: i64,
        /// Up to when it claims to be true, 0 where it does not say.
        true_at_ms: i64,
        /// What it shows.
        line: Line,
        /// When the transaction before which it was true was stamped.
        stamped_at_ms: i64,
        /// The frame that had shown that.
        shown_before: FrameRef,
        /// Up to when that frame claimed to be true, 0 where it did not say.
        before_true_at_ms: i64,
        /// What that frame had shown.
        line_before: Line,
    },
    /// LIVE with a state that came true only after it was shown.
    FromTheFuture {
        /// The frame.
        place: FrameRef,
        /// When it came true.
        true_from_ms: i64,
    },
    /// Shown as LIVE for too long after it had stopped being true.
    OldAndLive {
        /// The frame that had brought it.
        place: FrameRef,
        /// When it stopped being true.
        true_until_ms: i64,
        /// Until when it was shown as LIVE.
        shown_until_ms: i64,
        /// Its age then.
        age_ms: i64,
    },
    /// LIVE long after the link was lost.
    LiveWithoutLink {
        /// The frame.
        place: FrameRef,
        /// When it was lost.
        lost_at_ms: i64,
        /// Until when LIVE was shown.
        shown_until_ms: i64,
    },
    /// Not LIVE, or not exact, though the link has been good again for long enough.
    LateAfterReconnect {
        /// The socket.
        socket: u32,
        /// The lock.
        lock: String,
        /// When the link was good again.
        good_at_ms: i64,
        /// When the lock was exact at last; `None` when that was not captured.
        exact_at_ms: Option<i64>,
    },
    /// Two sockets have different views under one number.
    SnapshotDiffers {
        /// The view.
        view: String,
        /// Its number.
        seq: u64,
        /// The two sockets.
        sockets: [u32; 2],
        /// When the later one arrived.
        arrived_at_ms: i64,
    },
    /// We deleted a znode that was not planned, or another incarnation of one that was.
    ForeignDeleted(Deletion),
    /// We deleted what was planned before the intent was in the audit log, or without.
    IntentMissing {
        /// The deletion.
        deletion: Deletion,
        /// When the intent was in the audit log, if ever.
        intent_durable_at_ms: Option<i64>,
    },
    /// The record has no outcome.
    OutcomeMissing {
        /// The path of the plan.
        path: String,
        /// Its czxid.
        czxid: i64,
        /// Whether the log has the deletion.
        was_deleted: bool,
    },
    /// The outcome in the audit log is not what the log says.
    OutcomeFalse {
        /// The path of the plan.
        path: String,
        /// Its czxid.
        czxid: i64,
        /// What the audit log says.
        outcome: Outcome,
        /// Whether the log has the deletion.
        was_deleted: bool,
    },
    /// What is wrong with an alert.
    Alert(AlertWrong),
}

/// A deletion of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Its number.
    pub zxid: i64,
    /// When.
    pub time_ms: i64,
    /// The session that deleted.
    pub session: i64,
    /// The znode.
    pub path: String,
    /// Its identity.
    pub czxid: i64,
}

/// What the audit log says came of it.
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

/// What was wrong with alerts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertWrong {
    /// It fired, and the log has nothing that lasted so long then.
    WithoutCause(Alert),
    /// Something lasted for long enough, was LIVE all the while, and no alert fired, or it was over too early.
    CauseWithout {
        /// The rule.
        rule: String,
        /// The lock.
        lock: String,
        /// From when on it was so and could be seen.
        from_ms: i64,
        /// Until when.
        until_ms: i64,
        /// When it had to fire at the latest.
        due_ms: i64,
    },
    /// Two alerts of one rule and lock where one goes on.
    Twice(Alert, Alert),
    /// It is said to be over at an instant when nothing ended, or was not said to be over.
    /// With the last stretch in which its condition was so and that began before, from and until when, if there is one.
    EndWrong(Alert, Option<(i64, i64)>),
    /// A receiver took the same more often than kills explain, or that it fires after that it is over.
    ToldTwice(Told),
    /// A receiver was told of what never fired, or that something is over which fires.
    ToldFalse(Told),
    /// A receiver was never told.
    Untold(Told),
}

/// A kind of [`Wrong`], to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as in `Wrong`, documented there")]
pub enum Kind {
    WrongHolder,
    SwappedWaiters,
    MissingWaiter,
    ExtraWaiter,
    FreeThoughHeld,
    HeldThoughFree,
    OlderThanClaimed,
    TimeTravel,
    FromTheFuture,
    OldAndLive,
    LiveWithoutLink,
    LateAfterReconnect,
    SnapshotDiffers,
    ForeignDeleted,
    IntentMissing,
    OutcomeMissing,
    OutcomeFalse,
    AlertWithoutCause,
    CauseWithoutAlert,
    AlertTwice,
    AlertEndWrong,
    ToldTwice,
    ToldFalse,
    Untold,
}

impl Wrong {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::WrongHolder(..) => Kind::WrongHolder,
            Self::SwappedWaiters(..) => Kind::SwappedWaiters,
            Self::MissingWaiter(..) => Kind::MissingWaiter,
            Self::ExtraWaiter(..) => Kind::ExtraWaiter,
            Self::FreeThoughHeld(..) => Kind::FreeThoughHeld,
            Self::HeldThoughFree(..) => Kind::HeldThoughFree,
            Self::OlderThanClaimed { .. } => Kind::OlderThanClaimed,
            Self::TimeTravel { .. } => Kind::TimeTravel,
            Self::FromTheFuture { .. } => Kind::FromTheFuture,
            Self::OldAndLive { .. } => Kind::OldAndLive,
            Self::LiveWithoutLink { .. } => Kind::LiveWithoutLink,
            Self::LateAfterReconnect { .. } => Kind::LateAfterReconnect,
            Self::SnapshotDiffers { .. } => Kind::SnapshotDiffers,
            Self::ForeignDeleted(..) => Kind::ForeignDeleted,
            Self::IntentMissing { .. } => Kind::IntentMissing,
            Self::OutcomeMissing { .. } => Kind::OutcomeMissing,
            Self::OutcomeFalse { .. } => Kind::OutcomeFalse,
            Self::Alert(wrong) => wrong.kind(),
        }
    }
}

impl AlertWrong {
    fn kind(&self) -> Kind {
        match self {
            Self::WithoutCause(_) => Kind::AlertWithoutCause,
            Self::CauseWithout { .. } => Kind::CauseWithoutAlert,
            Self::Twice(..) => Kind::AlertTwice,
            Self::EndWrong(..) => Kind::AlertEndWrong,
            Self::ToldTwice(_) => Kind::ToldTwice,
            Self::ToldFalse(_) => Kind::ToldFalse,
            Self::Untold(_) => Kind::Untold,
        }
    }
}
