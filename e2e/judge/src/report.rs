//! What the judge found.

use std::collections::BTreeMap;

use crate::{AlertWrong, Contender};

/// The most wrongs that are kept with all they say; the rest are only counted.
pub const WRONGS_MAX: usize = 1_000;
/// The most contenders that a wrong repeats of what was shown and of what was true.
pub const LINE_MAX: usize = 16;

/// Everything found about some captures or releases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nothing here: everything shown was true. The first [`WRONGS_MAX`].
    pub wrong: Vec<Wrong>,
    /// All of them by kind, also those that are not kept.
    pub wrong_by_kind: BTreeMap<Kind, u64>,
    /// What was looked at.
    pub counts: Counts,
    /// The worst that was measured, right or wrong.
    pub worst: Worst,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States of locks that were shown or said to be gone.
    pub states: u64,
    /// Those that claimed to be LIVE, each compared with the truth.
    pub live: u64,
    /// Those of them that did not claim to know all contenders.
    pub incomplete: u64,
    /// Those of them that were shown with only the first of their contenders.
    pub cut_short: u64,
    /// Incomplete ones that named a holder who was not one: allowed, since they say that they don't know.
    pub unproved_holders: u64,
    /// Contenders that were shown before they were read, which fit any.
    pub unread: u64,
    /// Revisions of views that were compared with another socket's.
    pub revisions: u64,
    /// Deletions of ours that were compared with plans.
    pub deletions: u64,
    /// Of these, other incarnations of a planned name, which the audit log names.
    pub other_incarnations: u64,
    /// Alerts that fired, each compared with the log.
    pub alerts: u64,
    /// Causes that owed an alert.
    pub causes: u64,
}

/// The worst that was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worst {
    /// The age of a state while it was shown as LIVE.
    pub age_ms: i64,
    /// The time that LIVE stayed after a link was lost.
    pub not_live_ms: i64,
    /// The time from a good reconnect until a lock was exact.
    pub exact_ms: i64,
    /// The time from when an alert was due until somebody saw that it fires.
    pub fires_ms: i64,
}

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
        outcome: crate::Outcome,
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

impl Report {
    /// Nothing was wrong.
    pub fn is_clean(&self) -> bool {
        self.wrong_by_kind.is_empty()
    }

    /// How many were wrong in this way.
    pub fn count(&self, kind: Kind) -> u64 {
        self.wrong_by_kind.get(&kind).copied().unwrap_or_default()
    }

    pub(crate) fn push(&mut self, wrong: Wrong) {
        *self.wrong_by_kind.entry(wrong.kind()).or_default() += 1;
        if self.wrong.len() < WRONGS_MAX {
            self.wrong.push(wrong);
        }
    }

    /// Both in one: what was found of the views and what was found of the releases.
    pub fn merge(&mut self, other: Self) {
        for (kind, count) in other.wrong_by_kind {
            *self.wrong_by_kind.entry(kind).or_default() += count;
        }
        let room = WRONGS_MAX.saturating_sub(self.wrong.len());
        self.wrong.extend(other.wrong.into_iter().take(room));
        self.counts.add(other.counts);
        self.worst.take(other.worst);
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        let Self {
            states,
            live,
            incomplete,
            cut_short,
            unproved_holders,
            unread,
            revisions,
            deletions,
            other_incarnations,
            alerts,
            causes,
        } = other;
        self.states += states;
        self.live += live;
        self.incomplete += incomplete;
        self.cut_short += cut_short;
        self.unproved_holders += unproved_holders;
        self.unread += unread;
        self.revisions += revisions;
        self.deletions += deletions;
        self.other_incarnations += other_incarnations;
        self.alerts += alerts;
        self.causes += causes;
    }
}

impl Worst {
    fn take(&mut self, other: Self) {
        self.age_ms = self.age_ms.max(other.age_ms);
        self.not_live_ms = self.not_live_ms.max(other.not_live_ms);
        self.exact_ms = self.exact_ms.max(other.exact_ms);
        self.fires_ms = self.fires_ms.max(other.fires_ms);
    }
}
