//! How long waiters of a lock still have to wait.

use serde::{Deserialize, Serialize};

use super::name::named_enum;
use super::{RootState, SessionId};

named_enum! {
    /// Why nothing can be said of a wait.
    NoEstimateReason {
        /// Nobody is served in an order that is seen: an election, a barrier, a queue of items, or waiters without znodes.
        NotAQueue = "not_a_queue",
        /// Fewer than 20 holds of this lock ended.
        TooFewHolds = "too_few_holds",
        /// The holder held before anybody looked, so for how long is not known.
        HolderAgeUnknown = "holder_age_unknown",
        /// The holder holds for longer than all but two of the holds that were seen, or than all.
        HolderBeyondSeen = "holder_beyond_seen",
        /// The lock is in a deadlock, or in what looks like one.
        Deadlocked = "deadlocked",
        /// The lock does not go on by itself: it is stuck, orphaned, held twice, or nobody works under it.
        Stuck = "stuck",
        /// The session of a holder is silent, disconnected, or none at all.
        HolderGone = "holder_gone",
        /// A holder waits for another lock that does not go on.
        HolderBlocked = "holder_blocked",
        /// The members' tables show that the client, or one before it, does not watch what it waits for.
        NotWatching = "not_watching",
        /// Not all who stand before are seen.
        Incomplete = "incomplete",
        /// What is shown is too old.
        NotLive = "not_live",
        /// More than 64 hold at once.
        TooManyHolders = "too_many_holders",
        /// More than 1,000 readers and writers stand before.
        TooFarBack = "too_far_back",
    }
}

named_enum! {
    /// Where the holds are known from.
    HoldsSource {
        /// The lives that were recorded in the last day, at most 3,000, and of these the last 256 holds.
        Recording = "recording",
        /// The lock's own percentiles since this server watches it. Nothing says how often such times were right.
        Model = "model",
    }
}

/// Answer of `/api/v1/time-to-lock`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeToLock {
    /// The ensemble.
    pub ensemble: String,
    /// The lock.
    pub path: String,
    /// How far what is known of the lock can be trusted.
    pub state: RootState,
    /// The instant that it describes, ms since the epoch.
    pub at_ms: i64,
    /// How many wait with a znode of their own.
    pub waiter_count: u32,
    /// Why no wait of this lock has a time; null where the first in line has one.
    pub reason: Option<NoEstimateReason>,
    /// Those who wait, the first in line first, as many as were asked for.
    pub waits: Vec<WaitTime>,
    /// The waiter whose znode `path` names; null where it names the lock, or one that holds.
    pub asked: Option<WaitTime>,
    /// The last in line; null where nobody waits.
    pub last: Option<WaitTime>,
    /// How many holds it rests on.
    pub hold_count: u32,
    /// Where these are known from.
    pub source: HoldsSource,
    /// How often such times were right; null where nothing is recorded.
    pub calibration: Option<WaitCalibration>,
}

/// How long one still has to wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitTime {
    /// Place among those who wait; the first is 1.
    pub place: u32,
    /// The znode.
    pub path: String,
    /// Its session; null for a persistent znode, or one that was not read yet.
    pub session_id: Option<SessionId>,
    /// Who it says it is.
    pub label: Option<String>,
    /// Waits since, ms since the epoch.
    pub waiting_since_ms: Option<i64>,
    /// How long it still has to wait; null where nothing can be said.
    pub remaining: Option<RemainingWait>,
    /// Why nothing can be said; null where something is.
    pub reason: Option<NoEstimateReason>,
}

/// The central 80 % of what a wait may still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemainingWait {
    /// Tenth percentile, in milliseconds.
    pub low_ms: i64,
    /// Median.
    pub middle_ms: i64,
    /// Ninetieth percentile.
    pub high_ms: i64,
}

/// How often the times that would have been told of recorded waits, when each began, were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitCalibration {
    /// Waits that are judged: the last 500 of the last day at most.
    pub judged: u64,
    /// Of these, how many ended within the time that was told.
    pub right: u64,
    /// How many ended sooner.
    pub sooner: u64,
    /// How many ended later, or were given up later.
    pub later: u64,
    /// Not judged: given up before the end of the time that was told, or their end was not seen.
    pub unknown: u64,
    /// Not judged: no time could be told when they began.
    pub untold: u64,
}

impl WaitCalibration {
    /// How many of a hundred were right; None where none is judged.
    pub fn right_percent(&self) -> Option<u64> {
        (self.right * 200 + self.judged).checked_div(2 * self.judged)
    }
}
