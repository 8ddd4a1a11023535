//! What the ensemble's members report beyond znodes: clients, wake-ups, members, clock.

use serde::{Deserialize, Serialize};

use super::Zxid;
use super::name::named_enum;

/// Where a session connects from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientInfo {
    /// Client address, host:port; the last one when it is connected no more.
    pub address: String,
    /// The member it is or was connected to.
    pub server: String,
    /// Session time-out; null while no member reported it.
    pub timeout_ms: Option<i64>,
    /// Last heard from, ms since the Unix epoch; null while not known, and in a live view of several clients while it is
    /// connected: that changes with every round of questions, and says nothing else.
    pub last_heard_at_ms: Option<i64>,
    /// Connected since.
    pub connected_since_ms: Option<i64>,
    /// Its last operation as the member names it, like `PING`; null as before.
    pub last_operation: Option<String>,
}

/// When a session expires if its client stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsOut {
    /// ms since the Unix epoch.
    pub at_ms: i64,
    /// The leader said so; else it is the latest it can be.
    pub is_told: bool,
}

named_enum! {
    /// How a number of wake-ups is known.
    HerdKnown {
        /// Counted in every member's table of watches.
        Counted = "counted",
        /// From the recipe's rule.
        ByRule = "by_rule",
        /// From some members' tables, or where others may watch a list of children: at least so many.
        AtLeast = "at_least",
        /// Not at all: who waits may watch a list of children, which is in no table.
        Unknown = "unknown",
    }
}

/// What the next release of a lock wakes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Herd {
    /// Sessions that get an event; null where that is not known.
    pub wakes: Option<u32>,
    /// How that is known.
    pub known: HerdKnown,
    /// What the events weigh on the wire, together.
    pub bytes: Option<u64>,
}

/// How far what is said of sessions and watches can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trust {
    /// When all members were asked who is connected; null while one did not answer.
    pub connections_at_ms: Option<i64>,
    /// When all members were asked who watches what; null while one did not answer lately.
    pub watches_at_ms: Option<i64>,
    /// Members known.
    pub members: u32,
    /// Those that reported who is connected in the last round.
    pub members_heard: u32,
    /// Our clock minus the ensemble's; null before the first evidence.
    pub clock_offset_ms: Option<i64>,
    /// By how much that may be wrong; null while nothing bounds it.
    pub clock_error_ms: Option<i64>,
    /// How far the member that our session is on is behind the newest transaction that a member reported; null while
    /// that is not known.
    pub zxid_behind: Option<i64>,
}

/// Watches fired on one member between two of its answers, for all paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FiredRow {
    /// host:port.
    pub member: String,
    /// Time between the answers.
    pub over_ms: i64,
    /// Deletions that somebody watched.
    pub deletions: u64,
    /// Watches that fired for them.
    pub woken_by_deletions: u64,
    /// Changes of lists of children that somebody watched.
    pub child_changes: u64,
    /// Watches that fired for them.
    pub woken_by_child_changes: u64,
}

named_enum! {
    /// How one question to a member goes.
    SourceState {
        /// Answered.
        Ok = "ok",
        /// Nobody listens, or it is switched off.
        Off = "off",
        /// Refused.
        Denied = "denied",
        /// Asked, and the answer was none.
        Error = "error",
        /// Not asked, because it would cost the member too much.
        Spared = "spared",
        /// Not asked yet, or not needed now.
        NotAsked = "not_asked",
    }
}

named_enum! {
    /// What a member is.
    MemberRole {
        /// Decides.
        Leader = "leader",
        /// Votes.
        Follower = "follower",
        /// Neither.
        Observer = "observer",
        /// Alone.
        Standalone = "standalone",
        /// Cut off from the others and serving reads.
        ReadOnly = "read_only",
    }
}

/// What one member lets us see beyond its znodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberStatus {
    /// host:port.
    pub member: String,
    /// Its number in the ensemble.
    pub number: Option<i64>,
    /// By which way it is asked, in words.
    pub by: String,
    /// Nobody listens at its client port.
    pub is_down: bool,
    /// Connection list.
    pub connections: SourceState,
    /// Watch table.
    pub watches: SourceState,
    /// Session list.
    pub sessions: SourceState,
    /// Role, transactions, counters.
    pub health: SourceState,
    /// What would help where something is not answered, a sentence each.
    pub remedies: Vec<String>,
    /// When it last answered anything; 0 when it never did.
    pub sampled_at_ms: i64,
    /// What it is.
    pub role: Option<MemberRole>,
    /// Its version.
    pub version: Option<String>,
    /// The last transaction it has applied.
    pub zxid: Option<Zxid>,
    /// Transactions it is behind the newest that a member reported; null across a change of leader.
    pub behind: Option<i64>,
    /// Connections it has.
    pub connection_count: Option<u64>,
    /// Watches it keeps, child watches included.
    pub watch_count: Option<u64>,
    /// Requests waiting in it.
    pub outstanding: Option<u64>,
}
