//! Many ensembles at a glance: one tile each, the worst first.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::name::{EnsembleColor, Link, Verdict};

/// Tiles of one answer at most.
pub const FLEET_TILES_MAX: u32 = 200;

/// Which tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetQuery {
    /// Text to find in an ensemble's name; empty for all.
    pub q: String,
    /// Labels that an ensemble must have, all of them.
    pub labels: Vec<(String, String)>,
    /// Only those whose worst verdict this is.
    pub verdict: Option<Verdict>,
    /// Tiles to leave out at the beginning.
    pub offset: u32,
    /// Tiles at most.
    pub limit: u32,
}

/// The ensembles of which something may be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fleet {
    /// When this was put together, ms since the epoch by the clock of the server that answers.
    pub server_time_ms: i64,
    /// Ensembles that match.
    pub total: u32,
    /// Ensembles in all, whether they match or not.
    pub all: u32,
    /// The first tile's place among those that match.
    pub offset: u32,
    /// Ensembles by their worst verdict, of those that have the labels and the name, the worst first; those without a lock
    /// are in none.
    pub verdicts: Vec<(Verdict, u32)>,
    /// Of the same, those that are not live.
    pub not_live: u32,
    /// Every label that some ensemble has, with how many have it; at most 100, the most frequent first.
    pub labels: Vec<LabelCount>,
    /// Labels that are not listed.
    pub labels_left_out: u32,
    /// The tiles, the worst first.
    pub ensembles: Vec<FleetTile>,
}

/// How many ensembles have a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelCount {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Ensembles that have it.
    pub ensembles: u32,
}

/// One ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetTile {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub color: Option<EnsembleColor>,
    /// What it is, as the configuration says.
    pub labels: BTreeMap<String, String>,
    /// State of the link.
    pub link: Link,
    /// Since when.
    pub since_ms: i64,
    /// Whether every root is live: only then are the counts those of now.
    pub is_live: bool,
    /// Why it is not, in words; empty when it is.
    pub why: String,
    /// Up to when this is known to be true, ms since the epoch by the clock of the server that answers; null where
    /// nothing was read yet, or where no root of it may be seen.
    pub known_at_ms: Option<i64>,
    /// The worst verdict of its locks; null without one.
    pub worst: Option<Verdict>,
    /// Locks by verdict, the worst first; only those that there are.
    pub verdicts: Vec<(Verdict, u32)>,
    /// Locks.
    pub locks: u32,
    /// Those that somebody holds.
    pub held: u32,
    /// Contenders that are seen to wait.
    pub waiters: u32,
    /// Locks of which something may be missing: more may wait.
    pub incomplete: u32,
    /// When the longest wait began; null where nobody waits.
    pub oldest_wait_at_ms: Option<i64>,
}

impl FleetTile {
    /// One of which nothing is known, and since when.
    pub fn unknown(name: &str, since_ms: i64, why: String) -> Self {
        Self {
            name: name.to_owned(),
            color: None,
            labels: BTreeMap::new(),
            link: Link::Stale,
            since_ms,
            is_live: false,
            why,
            known_at_ms: None,
            worst: None,
            verdicts: Vec::new(),
            locks: 0,
            held: 0,
            waiters: 0,
            incomplete: 0,
            oldest_wait_at_ms: None,
        }
    }
}
