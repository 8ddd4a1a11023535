//! The answers of the members of an ensemble to administrative requests: one round, as values. Where the answers come
//! from (AdminServer or four-letter words) and how they are spelled is an adapter's business.

use std::collections::BTreeMap;

use crate::time::TimeMs;
use crate::znode::{SessionId, Zxid};

/// Members of one ensemble that are asked; more are left out.
pub const MEMBERS_MAX: usize = 16;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Who is connected (`connections`, `cons`).
    Connections,
    /// Which sessions there are, what they own and when they run out (`dump`).
    Sessions,
    /// Who watches what (`watches_by_path`, `wchp`).
    Watches,
    /// Role, transactions, counters (`monitor` and `leader`, `mntr` and `srvr`).
    Health,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nobody listens there, or the question is switched off.
    Off,
    /// It is refused.
    Denied,
    /// It was asked and the answer was none: cut off, too long, not understood.
    Broken,
    /// It is not asked now, because it would cost the member too much.
    Spared,
}

/// An answer, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberAnswer<T> {
    /// The answer, and when the question was sent: everything in it is at least as new as that.
    Ok {
        /// When it was asked, on our clock.
        asked_at: TimeMs,
        /// What was said.
        value: T,
    },
    /// None.
    None {
        /// Why.
        trouble: Trouble,
        /// One sentence: what was tried, what came back, and the line of the member's configuration that would help.
        remedy: Box<str>,
    },
    /// Not asked in this round; what was last said stands.
    NotAsked,
}

impl<T> MemberAnswer<T> {
    /// The answer and when it was asked for.
    pub fn value(&self) -> Option<(TimeMs, &T)> {
        match self {
            Self::Ok { asked_at, value } => Some((*asked_at, value)),
            Self::None { .. } | Self::NotAsked => None,
        }
    }
}

/// One client's connection to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its session.
    pub session: SessionId,
    /// Client address, host:port.
    pub address: Box<str>,
    /// Negotiated time-out of the session; 0 when not reported.
    pub timeout_ms: i64,
    /// Connected since, ms of the member's wall clock.
    pub established_ms: Option<i64>,
    /// When the member last answered it, ms of the member's own running clock (`lresp`, `last_response_time`: since
    /// some start, never comparable with another member's).
    pub answered_ms: Option<i64>,
    /// Packets received from it: any packet raises this.
    pub received: Option<u64>,
    /// Its last operation as the member names it, like `PING`.
    pub last_operation: Option<Box<str>>,
}

/// When a session expires if its client stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// At this instant of the member's own running clock, ms (AdminServer on the leader).
    Running(i64),
    /// At this second of every quarter of an hour of the leader's wall clock, ms in 0..900,000: the printed date names
    /// a time zone by letters, which several zones share, and all differ by whole quarters (four-letter word on the
    /// leader).
    QuarterHour(i64),
}

/// MemberAnswer to [`Question::Sessions`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTable {
    /// When each runs out; empty on followers.
    pub expiries: BTreeMap<SessionId, Expiry>,
    /// Time-outs, where they are reported (followers), ms.
    pub timeouts_ms: BTreeMap<SessionId, i64>,
    /// Sessions that are known on this member only and own nothing (local sessions).
    pub local: Vec<SessionId>,
    /// What each session owns; the paths of all ephemerals the member knows, in order.
    pub ephemerals: BTreeMap<SessionId, Vec<Box<str>>>,
}

/// MemberAnswer to [`Question::Watches`]: data, exists and persistent watches. Child watches are in no such table
/// (`WatchManager.dumpWatches` of the data watches only).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchTable {
    /// Who watches each path; each session once.
    pub by_path: BTreeMap<Box<str>, Vec<SessionId>>,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberRole {
    /// Decides.
    Leader,
    /// Votes.
    Follower,
    /// Neither.
    Observer,
    /// Alone.
    Standalone,
    /// Cut off from the others and serving reads.
    ReadOnly,
}

/// MemberAnswer to [`Question::Health`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// What it is; None while it is looking for a leader or does not report it.
    pub role: Option<MemberRole>,
    /// Version, as it reports it.
    pub version: Option<Box<str>>,
    /// The last transaction it has applied.
    pub zxid: Option<Zxid>,
    /// Watches it keeps, child watches included.
    pub watches: Option<u64>,
    /// Connections it has.
    pub connections: Option<u64>,
    /// Ephemerals it knows.
    pub ephemerals: Option<u64>,
    /// Requests waiting in it.
    pub outstanding: Option<u64>,
    /// Its tick, ms: sessions run out on a whole one.
    pub tick_ms: Option<i64>,
    /// Deletions so far that some watch was set for, and the watches that fired for them
    /// (`zk_cnt_…`, `zk_sum_node_deleted_watch_count`).
    pub deleted: Fired,
    /// The same for changes of a list of children (`node_children_watch_count`).
    pub children: Fired,
    /// The same for changes of data (`node_changed_watch_count`).
    pub changed: Fired,
    /// Packets it received and sent since it runs.
    pub packets: Option<(u64, u64)>,
}

/// Watches fired since a member runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// Changes that were watched by somebody.
    pub changes: u64,
    /// Watches that fired.
    pub watches: u64,
}

/// All that one member said in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The member by its client address, host:port; names it in everything shown.
    pub member: Box<str>,
    /// Its number in the ensemble (`server.N`), where known.
    pub number: Option<i64>,
    /// By which way it was asked, in words: `AdminServer http://…`, `four-letter words`, or nothing.
    pub by: Box<str>,
    /// Nobody listens at its client port: no session can be connected to it.
    pub is_down: bool,
    /// Who is connected.
    pub connections: MemberAnswer<Vec<Connection>>,
    /// Sessions and what they own.
    pub sessions: MemberAnswer<SessionTable>,
    /// Who watches what.
    pub watches: MemberAnswer<WatchTable>,
    /// How it is.
    pub health: MemberAnswer<Health>,
}

/// One round: every member that is known, each asked at about the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// One for each known member, in order of their names.
    pub reports: Vec<Report>,
}
