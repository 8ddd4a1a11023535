//! What the page of who made others wait shows, as whoever serves it found it.

use crate::over_time::{Length, Missing};

/// What tells rows apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChargedBy {
    /// Who a client said it is.
    #[default]
    Client,
    /// The host of a client.
    Host,
    /// A session.
    Session,
    /// The lock.
    Lock,
    /// The ensemble that all of it is of.
    Ensemble,
}

impl ChargedBy {
    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Host => "host",
            Self::Session => "session",
            Self::Lock => "lock",
            Self::Ensemble => "ensemble",
        }
    }
}

/// A range by its length, and the address of the page with it.
#[derive(Clone, Debug)]
pub struct RangeWay {
    /// How long.
    pub length: Length,
    /// Address.
    pub url: String,
    /// It is the one that is shown.
    pub is_chosen: bool,
}

/// What is shown, as it was asked for.
#[derive(Clone, Debug, Default)]
pub struct BlameView {
    /// What tells rows apart.
    pub by: ChargedBy,
    /// What may.
    pub offered: Vec<ChargedBy>,
    /// Only this lock; empty for all.
    pub path: String,
    /// The ensemble; empty where there is one.
    pub ensemble: String,
    /// Ensembles to choose from; none where there is one.
    pub ensembles: Vec<String>,
    /// What else the form keeps.
    pub hidden: Vec<(String, String)>,
    /// Other ranges.
    pub ways: Vec<RangeWay>,
    /// From when to when, ms since the epoch.
    pub range_ms: (i64, i64),
    /// The moment of the page; None: now.
    pub at_ms: Option<i64>,
    /// Address of the page with all rows.
    pub all: String,
    /// Address of the page of what differs, of the same range.
    pub differs: String,
    /// Address of the rows as a table.
    pub csv: String,
    /// The same for scripts.
    pub json: String,
    /// What was found.
    pub found: Blamed,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub enum Blamed {
    /// No history is kept.
    #[default]
    Off,
    /// It can't be shown now, and why.
    Refused(String),
    /// The figures.
    Found(Box<BlameFigures>),
}

/// What waits are charged to.
#[derive(Clone, Debug, Default)]
pub struct BlameFigures {
    /// Those first who are charged most.
    pub rows: Vec<BlameRow>,
    /// Further ones.
    pub left_out: usize,
    /// Who was waited for in the end is shown beside who held.
    pub has_roots: bool,
    /// All waits.
    pub waits_ms: i64,
    /// Nobody held.
    pub hand_off_ms: i64,
    /// Nobody looked.
    pub unknown_ms: i64,
    /// What further ones are charged as who held.
    pub others_ms: i64,
    /// The same in the end.
    pub root_others_ms: i64,
    /// More sessions waited than are counted.
    pub has_more_victims: bool,
    /// What is not known of the range.
    pub missing: Vec<Missing>,
    /// How much is known of the range a week before; None where that could not be found out.
    pub week_before_part: Option<f64>,
}

/// What one of those is charged.
#[derive(Clone, Debug, Default)]
pub struct BlameRow {
    /// Who.
    pub key: String,
    /// Its page.
    pub url: Option<String>,
    /// The waiting that it is charged as who held.
    pub direct_ms: i64,
    /// The same in the end.
    pub root_ms: i64,
    /// Its part of all waiting, from 0 to 1.
    pub share: f64,
    /// What it was charged a week before.
    pub week_before_ms: Option<i64>,
    /// Its holds that ended.
    pub holds: u64,
    /// How long they took: p50 and p99.
    pub hold_ms: Option<(i64, i64)>,
    /// Sessions that waited for it.
    pub victims: u64,
    /// When the wait ended of which it is charged most.
    pub worst_at_ms: i64,
    /// The lock of that wait.
    pub worst_lock: String,
    /// That lock at the moment before.
    pub worst_url: Option<String>,
}

impl BlameFigures {
    /// Something is known of the range a week before.
    pub(super) fn has_week_before(&self) -> bool {
        self.week_before_part.is_some_and(|part| part > 0.0)
    }

    /// The figure that rows are ordered by.
    pub(super) fn charged(&self, row: &BlameRow) -> i64 {
        if self.has_roots { row.root_ms } else { row.direct_ms }
    }
}
