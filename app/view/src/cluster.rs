//! Several servers that watch the same: who there is, and who leads.

use serde::{Deserialize, Serialize};

use super::name::named_enum;

/// Answer of `/api/v1/cluster`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cluster {
    /// Where this replica stands.
    pub state: ClusterState,
    /// Why it is no member; empty of a member, and where there is no cluster.
    pub why: String,
    /// This replica's id; null where there is no cluster.
    pub id: Option<String>,
    /// The cluster's root, and the ensemble that it is in.
    pub root: Option<String>,
    /// The name of that ensemble.
    pub ensemble: Option<String>,
    /// Whether this replica leads: never longer than its session lives.
    pub is_leader: bool,
    /// Who leads, as far as this replica sees; null while nobody does.
    pub leader: Option<String>,
    /// It is a member, and sees no other.
    pub is_alone: bool,
    /// When the replicas were read last, ms since the epoch; null before.
    pub seen_at_ms: Option<i64>,
    /// Znodes among the members that are no replica's, or too many.
    pub strangers: u64,
    /// The database by which replicas share sign-ins, silences and acknowledgements; null where each has its own.
    pub shared_memory: Option<SharedMemory>,
    /// Replicas that are there, in the order of their ids.
    pub replicas: Vec<Replica>,
}

/// The database by which replicas share what people say and who is signed in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedMemory {
    /// When this replica exchanged with it last, ms since the epoch; null before.
    pub exchanged_at_ms: Option<i64>,
    /// Since when that fails, ms since the epoch; null while it works. Each replica has its own meanwhile.
    pub failing_since_ms: Option<i64>,
    /// Why; empty while it works.
    pub why: String,
}

/// One replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replica {
    /// Its id.
    pub id: String,
    /// How others reach it.
    pub address: String,
    /// Its version.
    pub version: String,
    /// Since when its process runs, ms since the epoch.
    pub since_ms: i64,
    /// Whether it leads.
    pub is_leader: bool,
    /// Whether it is the one that answers.
    pub is_this: bool,
    /// Whether it watches the same ensembles as the one that answers, by their names.
    pub watches_same: bool,
}

named_enum! {
    /// Where a replica stands.
    #[derive(Default)]
    ClusterState {
        /// There is no cluster.
        #[default]
        Off = "off",
        /// It has no session yet.
        Joining = "joining",
        /// Its id is taken, maybe by a process that was killed a moment ago.
        Waiting = "waiting",
        /// Its id is taken by another that is alive.
        Refused = "refused",
        /// It is a member.
        Member = "member",
        /// It was a member, and has no connection: it may be one still.
        Suspended = "suspended",
        /// It has lost its session, or never had one.
        Lost = "lost",
    }
}

impl ClusterState {
    /// Whether its znode is among the members, or may be.
    pub fn is_member(self) -> bool {
        matches!(self, Self::Member | Self::Suspended)
    }
}
