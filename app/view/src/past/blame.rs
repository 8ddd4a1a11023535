//! Whose fault waits were.

use serde::Serialize;

use super::{Coverage, Unanswered};
use crate::name::named_enum;

named_enum! {
    /// Who is charged.
    #[derive(Default)]
    BlameBy {
        /// The name that a client gives.
        #[default]
        Client = "client",
        /// The host that a client came from.
        Host = "host",
        /// A session.
        Session = "session",
        /// The lock itself.
        Lock = "lock",
        /// The ensemble that all of it is of.
        Ensemble = "ensemble",
    }
}

/// Whose fault waits were.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Blame {
    /// The ensemble; empty where it is about several.
    pub ensemble: String,
    /// What tells rows apart: `client`, `host`, `session`, `lock` or `ensemble`.
    pub by: &'static str,
    /// Those first who are charged most in the end.
    pub rows: Vec<BlameRow>,
    /// Rows in all.
    #[serde(skip)]
    pub total: usize,
    /// When the first of those left who are counted.
    #[serde(skip)]
    pub first_at_ms: Option<i64>,
    /// All waits of contenders that left in the range. It is the sum of all `charged_ms`, `charged_others_ms`, `hand_off_ms` and
    /// `unknown_ms`, and the same with `charged_root_ms`.
    pub waits_ms: i64,
    /// Nobody held.
    pub hand_off_ms: i64,
    /// Nobody looked, or an earlier version wrote it.
    pub unknown_ms: i64,
    /// What those are charged who are not in `rows`, and holders that could not be read.
    pub charged_others_ms: i64,
    /// The same in the end; null where not all of the ensemble may be seen.
    pub charged_root_others_ms: Option<i64>,
    /// True when there are more victims than are counted.
    pub is_lower_bound: bool,
    /// The part of the same range a week before that was recorded, from 0 to 1; null where there was no time to look.
    pub week_before_part: Option<f64>,
    /// How much of the range is known.
    pub coverage: Coverage,
    /// With `by=ensemble`: ensembles that could not be asked; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<Unanswered>,
}

/// What one of those is charged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameRow {
    /// Who it says it is, its host, its session, the lock or the ensemble; the session where nothing says who it is.
    pub key: String,
    /// Its holds that ended.
    pub holds: u64,
    /// How long they took; null without any.
    pub hold_ms: Option<HoldTimes>,
    /// The waiting that it is charged as who held.
    pub charged_ms: i64,
    /// The waiting that it is charged as who was waited for in the end; null where not all of the ensemble may be seen.
    pub charged_root_ms: Option<i64>,
    /// What it was charged in the same range a week before: in the end, or else as who held. Null where nothing of that
    /// range was recorded, and where there was no time to look.
    pub charged_week_before_ms: Option<i64>,
    /// Sessions that waited for it.
    pub victims: u64,
    /// When the wait ended of which it is charged most, ms since the epoch.
    pub worst_at_ms: i64,
    /// The lock of that wait.
    pub worst_lock: String,
    /// Its part of all waits, from 0 to 1: of what it is charged in the end, or else as who held.
    pub share: f64,
}

/// How long holds took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HoldTimes {
    /// Half of them no longer than this.
    pub p50: i64,
    /// 99 of 100 no longer than this.
    pub p99: i64,
}
