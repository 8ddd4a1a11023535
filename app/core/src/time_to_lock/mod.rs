//! How long a waiter still has to wait, by its place and by how long this lock was held before. Pure: whoever wants to
//! know gives the holds ([`Habits`]), who holds and who stands before ([`Line`]).
//!
//! What is given is the central 80 % of what may come: from the 10th to the 90th percentile ([`WaitRange`]), widened or
//! narrowed by how often such ranges were right lately ([`Correction`]), or else why there is none ([`NoEstimate`]).

mod correction;
mod habits;
mod line;

pub use correction::{Correction, Miss, WaitEnd};
pub use habits::{HOLDS_KEPT_MAX, HOLDS_MIN, Habits, HoldTimes};
pub use line::{Admission, HolderAge, LEASES_MAX, Line, STEPS_MAX};

/// How long a wait may still take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitRange {
    /// In one case of ten it is shorter.
    pub low_ms: i64,
    /// In one case of two.
    pub middle_ms: i64,
    /// In one case of ten it is longer.
    pub high_ms: i64,
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoEstimate {
    /// Nobody is served in an order that is seen: an election, a barrier, a queue of items, or waiters without znodes.
    NotAQueue,
    /// Too few holds ended: fewer than [`HOLDS_MIN`].
    TooFewHolds,
    /// The holder held before anybody looked, so for how long is not known.
    HolderAgeUnknown,
    /// The holder holds for longer than all but a few of the holds that were seen.
    HolderBeyondSeen,
    /// The lock is in a deadlock, or in what looks like one.
    Deadlocked,
    /// The lock does not go on by itself: it is stuck, orphaned, held twice, or nobody works under it.
    Stuck,
    /// The session of the holder is silent, gone or none at all: its hold does not end as others do.
    HolderGone,
    /// A holder waits for another lock that does not go on.
    HolderBlocked,
    /// The members' tables show that the client, or one before it, does not watch what it waits for.
    NotWatching,
    /// Not all who stand before are seen.
    Incomplete,
    /// What is shown is too old.
    NotLive,
    /// More hold at once than are followed one by one: more than [`LEASES_MAX`].
    TooManyHolders,
    /// Too many stand before to be looked at one by one.
    TooFarBack,
}

impl NoEstimate {
    /// Every reason.
    pub const ALL: [Self; 13] = [
        Self::NotAQueue,
        Self::TooFewHolds,
        Self::HolderAgeUnknown,
        Self::HolderBeyondSeen,
        Self::Deadlocked,
        Self::Stuck,
        Self::HolderGone,
        Self::HolderBlocked,
        Self::NotWatching,
        Self::Incomplete,
        Self::NotLive,
        Self::TooManyHolders,
        Self::TooFarBack,
    ];

    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAQueue => "not_a_queue",
            Self::TooFewHolds => "too_few_holds",
            Self::HolderAgeUnknown => "holder_age_unknown",
            Self::HolderBeyondSeen => "holder_beyond_seen",
            Self::Deadlocked => "deadlocked",
            Self::Stuck => "stuck",
            Self::HolderGone => "holder_gone",
            Self::HolderBlocked => "holder_blocked",
            Self::NotWatching => "not_watching",
            Self::Incomplete => "incomplete",
            Self::NotLive => "not_live",
            Self::TooManyHolders => "too_many_holders",
            Self::TooFarBack => "too_far_back",
        }
    }
}
