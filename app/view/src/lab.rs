//! A run of the lab: what was ordered, how it goes, and what was measured.

use serde::{Deserialize, Serialize};

use super::name::named_enum;

named_enum! {
    /// A way of waiting for a lock.
    Strategy {
        /// Numbered znodes; each client watches the one before its own.
        Predecessor = "predecessor",
        /// One fixed znode; everybody watches the children of the directory.
        HerdChildren = "herd_children",
        /// One fixed znode; everybody watches whether it exists.
        HerdExists = "herd_exists",
        /// Numbered znodes; everybody watches the lowest.
        HerdLowest = "herd_lowest",
    }
}

named_enum! {
    /// How far a run, or one lane of it, is.
    LabState {
        /// A lane whose turn has not come.
        Waiting = "waiting",
        /// Sessions are opened and clients queue up; nothing is counted yet.
        Opening = "opening",
        /// It is counted.
        Running = "running",
        /// Everything it made is being removed.
        Clearing = "clearing",
        /// It came to its end.
        Finished = "finished",
        /// Somebody stopped it, or the server did.
        Stopped = "stopped",
        /// It could not go on; `why` says why.
        Failed = "failed",
    }
}

named_enum! {
    /// Something that goes wrong in the field, thrown into a run.
    Fault {
        /// The holder's connection is cut and it never comes back; its session runs out.
        Kill = "kill",
        /// The holder receives nothing until its session has expired, then goes on and still believes that it holds.
        Pause = "pause",
        /// A waiter gives up, and its znode stays: its session lives.
        Orphan = "orphan",
        /// The reply of a create is lost; the client creates a second znode and waits behind itself.
        DropReply = "drop_reply",
        /// A persistent znode that nobody owns is left at the place of a holder.
        Stale = "stale",
    }
}

/// Body of `POST /api/v1/lab/runs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LabOrder {
    /// Ensemble; left out where only one allows the lab.
    #[serde(default)]
    pub ensemble: Option<String>,
    /// Ways of waiting, each once.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), extend("uniqueItems" = true)))]
    pub strategies: Vec<Strategy>,
    /// Sessions a strategy; the server's configuration may allow fewer.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 500)))]
    pub clients: u32,
    /// How often each client gets the lock.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub rounds: u32,
    /// How long a holder holds, ms.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(max = 60000)))]
    pub hold_ms: u32,
    /// How long a client stays away between two rounds, ms on average.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(max = 60000)))]
    pub think_ms: u32,
    /// Ends the run after this time, ms, whatever is left; null: when all rounds are done.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 3_600_000)))]
    pub duration_ms: Option<u32>,
    /// One strategy after the other, so that none disturbs another; false: all at once, whose latencies can't be
    /// compared.
    #[serde(default = "yes")]
    pub in_turn: bool,
    /// Decides what is random; null: chosen by the server.
    #[serde(default)]
    pub seed: Option<u64>,
}

impl LabOrder {
    /// Whether one way of waiting is measured at a time; else each slows the others, and times can't be compared.
    pub fn is_one_at_a_time(&self) -> bool {
        self.in_turn || self.strategies.len() < 2
    }
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// Answer of `POST /api/v1/lab/runs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabStarted {
    /// Names the run.
    pub id: String,
}

/// Body of `POST /api/v1/lab/runs/ID/faults`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultOrder {
    /// What goes wrong.
    pub fault: Fault,
    /// In which lane; null: the first that runs.
    #[serde(default)]
    pub strategy: Option<Strategy>,
}

/// Which run a live view shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LabQuery {
    /// Its name.
    pub run: String,
}

/// A run, as far as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabRun {
    /// Names it.
    pub id: String,
    /// Counts its changes; a greater one is newer.
    pub revision: u64,
    /// Ensemble.
    pub ensemble: String,
    /// The directory made for it; removed at its end.
    pub root: String,
    /// How far it is.
    pub state: LabState,
    /// Why it failed or was stopped; empty otherwise.
    pub why: String,
    /// What was ordered, with what the server chose.
    pub order: LabOrder,
    /// Who ordered it.
    pub by: String,
    /// When it was ordered, ms since the Unix epoch.
    pub ordered_at_ms: i64,
    /// When it ended; null while it has not.
    pub ended_at_ms: Option<i64>,
    /// One for each strategy, in the order that was asked for.
    pub strategies: Vec<Lane>,
    /// What was thrown into it.
    pub faults: Vec<ThrownFault>,
    /// How late our own timers were, ms: what the machine added to every latency here.
    pub loop_lag_ms: Spread,
    /// The members' own counters over the run; with everybody else's traffic in them.
    pub server: Vec<ServerCounter>,
    /// The result in one sentence; empty while there is none.
    pub conclusion: String,
    /// What limits the figures, in words.
    pub notes: Vec<String>,
}

/// One strategy of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lane {
    /// Its way of waiting.
    pub name: Strategy,
    /// Its lock: a directory under the run's root.
    pub path: String,
    /// How far it is.
    pub state: LabState,
    /// One letter a client: `o` opening, `.` away, `w` waiting, `k` woken by the last release and waiting again, `h`
    /// holding, `b` believes that it holds and does not, `p` paused, `g` gave up and left its znode, `x` killed, `l`
    /// lost its connection and took no part, `d` done.
    pub seats: String,
    /// Time it was counted, ms.
    pub took_ms: f64,
    /// How often somebody got the lock.
    pub acquisitions: u64,
    /// How often they were to.
    pub acquisitions_wanted: u64,
    /// How often the lock was given back.
    pub releases: u64,
    /// Watch events that reached its clients, counted on the wire.
    pub watch_events: u64,
    /// What theory says of draining once; null where it says nothing (more rounds, a fault, stopped early).
    pub watch_events_expected: Option<u64>,
    /// Clients that the last release woke.
    pub woken: u32,
    /// Wake-ups after which a client did not get the lock.
    pub wasted: u64,
    /// Requests that read: children, existence and data.
    pub reads: u64,
    /// Requests by kind.
    pub requests: LabRequests,
    /// Bytes both ways, counted on the wire.
    pub bytes: u64,
    /// Of them to the client.
    pub bytes_in: u64,
    /// Of them from the client.
    pub bytes_out: u64,
    /// From the order to delete the holder's znode to the next client's knowing that it holds, ms.
    pub handoff_ms: Spread,
    /// The same as a histogram: [upper bound in µs, count], rising, empty ones left out.
    pub handoff_us: Vec<(u64, u64)>,
    /// From beginning to wait to holding, ms.
    pub wait_ms: Spread,
    /// Pairs of clients that got the lock in another order than they came.
    pub inversions: u64,
    /// For each release: [clients that waited, events it caused]; thinned to [`LAB_POINTS_MAX`].
    pub per_release: Vec<(u32, u32)>,
    /// How often two held at a time, by the fencing counter.
    pub broken: u64,
    /// Packets of this lane's sessions that the members counted, both ways; null while not read, or not reported.
    pub server_packets: Option<u64>,
    /// Packets of this lane's sessions that we counted at the same moment, to compare.
    pub own_packets: Option<u64>,
    /// Watch events by the members' counts: packets sent less packets received.
    pub server_events: Option<u64>,
}

/// Points that [`Lane::per_release`] has at most.
pub const LAB_POINTS_MAX: usize = 500;

/// Requests of one lane by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabRequests {
    /// Creates, those that failed included.
    pub create: u64,
    /// Deletes.
    pub delete: u64,
    /// Lists of children.
    pub children: u64,
    /// Questions for existence.
    pub exists: u64,
    /// Reads of data.
    pub data: u64,
    /// Pings.
    pub ping: u64,
    /// Everything else: opening and closing sessions.
    pub other: u64,
}

/// Where most of many values are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Values.
    pub count: u64,
    /// Half of them are no greater.
    pub p50: f64,
    /// Nine in ten are no greater.
    pub p90: f64,
    /// 99 in 100 are no greater.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

/// One counter of one member, over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerCounter {
    /// Member's address.
    pub member: String,
    /// Its name, as the member calls it.
    pub name: String,
    /// How much it grew while the lanes were counted.
    pub grew: i64,
}

/// A fault that was thrown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThrownFault {
    /// What.
    pub fault: Fault,
    /// In which lane.
    pub strategy: Strategy,
    /// Number of the client in its lane, from 0; null: none is concerned.
    pub client: Option<u32>,
    /// The znode it is about; empty while not known.
    pub path: String,
    /// When, ms since the Unix epoch.
    pub at_ms: i64,
    /// What the board should show, in words.
    pub expect: String,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabBrief {
    /// Names it.
    pub id: String,
    /// How far it is.
    pub state: LabState,
    /// Ensemble.
    pub ensemble: String,
    /// Who ordered it.
    pub by: String,
    /// When, ms since the Unix epoch.
    pub ordered_at_ms: i64,
    /// Sessions a strategy.
    pub clients: u32,
    /// Its strategies.
    pub strategies: Vec<Strategy>,
    /// The result in one sentence.
    pub conclusion: String,
}

/// Answer of `GET /api/v1/lab/runs`, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabRuns {
    /// Ensembles that allow the lab; empty: it is off.
    pub ensembles: Vec<String>,
    /// Most sessions a strategy may have.
    pub clients_max: u32,
    /// The runs that are kept.
    pub runs: Vec<LabBrief>,
}
