//! What is derived of the recording and kept beside it, so that questions over weeks need no replay: lives of contenders,
//! minutes of locks, facts. Marks on a time axis are facts.

use std::ops::Range;
use std::time::Instant;

use lockscope_core::diagnosis::Code;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

pub use crate::names::{FactKind, SpanEnd};

/// Rows that one query gives at most.
pub const ROWS_READ_MAX: usize = 10_000;

/// What a session is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The session; 0 for a znode that no session owns.
    pub session: SessionId,
    pub ms: i64,
}

/// Who is charged for a wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charged {
    /// Those who are charged most, in that order.
    pub to: Vec<Charge>,
    /// What further ones are charged, and those of whom nothing says who they were.
    pub others_ms: i64,
}

impl Charged {
    pub fn sum_ms(&self) -> i64 {
        self.to.iter().map(|charge| charge.ms).sum::<i64>() + self.others_ms
    }
}

/// What a wait was spent on: `direct`, `hand_off_ms` and `unknown_ms` make it, and so do `root` and the latter two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// To who held at each instant.
    pub direct: Charged,
    /// To who those waited for in the end.
    pub root: Charged,
    /// Nobody held.
    pub hand_off_ms: i64,
    /// Nobody looked.
    pub unknown_ms: i64,
}

/// The life of a contender that ended. Those that go on are the model's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its znode's identity.
    pub czxid: Zxid,
    pub lock: Box<str>,
    pub recipe: Box<str>,
    /// The name of its znode.
    pub node: Box<str>,
    pub session: Option<SessionId>,
    /// Who it says it is.
    pub label: Option<Box<str>>,
    pub host: Option<Box<str>>,
    pub joined_at: TimeMs,
    /// When it held first.
    pub held_at: Option<TimeMs>,
    pub left_at: TimeMs,
    pub how: SpanEnd,
    /// What its wait was spent on; None in days that were written before this was kept.
    pub charges: Option<Charges>,
    pub wait_ms: i64,
    /// It may have waited or held for longer.
    pub is_lower_bound: bool,
}

/// A minute of a lock in which something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minute {
    pub lock: Box<str>,
    /// Its first instant.
    pub at: TimeMs,
    pub arrivals: u32,
    pub acquired: u32,
    pub gave_up: u32,
    /// Waits that ended, by the buckets of the core's histogram; coded by whoever derives them.
    pub waits: Box<[u8]>,
    /// Holds that ended.
    pub holds: Box<[u8]>,
    pub depth_max: u32,
    /// All waiting together.
    pub waiting_ms: i64,
    /// The worst verdict, by its name.
    pub worst: Box<str>,
    /// Who held longest, coded by whoever derives it.
    pub top: Box<[u8]>,
}

/// Something worth a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its number, given by whoever derives it; unique within a day.
    pub number: u64,
    pub at: TimeMs,
    /// The lock; None where it is of no lock.
    pub lock: Option<Box<str>>,
    pub kind: FactKind,
    /// Its code: of a finding, a verdict's name.
    pub code: Box<str>,
    /// How bad: 0 for worth knowing, 1 for worth a look, 2 for act.
    pub severity: u8,
    /// One sentence.
    pub text: Box<str>,
}

/// What is written at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub spans: Vec<Span>,
    pub minutes: Vec<Minute>,
    pub facts: Vec<Fact>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanQuery {
    /// When they ended.
    pub range: Range<TimeMs>,
    pub lock: Option<Box<str>>,
    pub session: Option<SessionId>,
    pub host: Option<Box<str>>,
    pub joined_before: Option<TimeMs>,
    /// Only those that come behind this one: when it ended, and its identity.
    pub before: Option<(TimeMs, Zxid)>,
    /// So many, and [`ROWS_READ_MAX`] at most.
    pub limit: usize,
    pub give_up_at: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinuteQuery {
    pub range: Range<TimeMs>,
    pub lock: Option<Box<str>>,
    /// So many, and [`ROWS_READ_MAX`] at most.
    pub limit: usize,
    pub give_up_at: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactQuery {
    pub range: Range<TimeMs>,
    pub lock: Option<Box<str>>,
    pub kind: Option<FactKind>,
    /// With one of these codes of findings only.
    pub codes: Option<&'static [Code]>,
    /// So many, and [`ROWS_READ_MAX`] at most.
    pub limit: usize,
    pub give_up_at: Option<Instant>,
}

/// Everything, of all time: what is asked for is said beside it.
macro_rules! everything {
    ($query:ident { $($field:ident),* }) => {
        impl Default for $query {
            fn default() -> Self {
                let range = TimeMs(i64::MIN)..TimeMs(i64::MAX);
                Self { range, limit: ROWS_READ_MAX, give_up_at: None, $($field: None),* }
            }
        }
    };
}

everything!(SpanQuery { lock, session, host, joined_before, before });
everything!(MinuteQuery { lock });
everything!(FactQuery { lock, kind, codes });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DensityQuery {
    pub range: Range<TimeMs>,
    pub lock: Option<Box<str>>,
    /// Length of a piece, in whole minutes; pieces are counted from the range's start.
    pub piece_ms: i64,
    pub give_up_at: Option<Instant>,
}

/// What happened in a lock in a piece of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Density {
    pub lock: Box<str>,
    /// Which piece, from 0.
    pub piece: i64,
    /// Arrivals, acquisitions and those who gave up.
    pub events: u64,
    /// All waiting together.
    pub waiting_ms: i64,
    /// A verdict of one of its minutes, by its name: there is one of these for each.
    pub worst: Box<str>,
}

/// Densities that one query gives at most; of more it is given up.
pub const DENSITIES_READ_MAX: usize = 500_000;
