//! A lock over time.

use serde::Serialize;

use super::Coverage;
use crate::Verdict;

/// A lock over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LockOverTime {
    /// The ensemble.
    pub ensemble: String,
    /// The lock.
    pub path: String,
    /// Length of a point, in milliseconds.
    pub grain_ms: i64,
    /// In order; of time in which nothing happened there are none.
    pub points: Vec<Point>,
    /// How much of the range is known.
    pub coverage: Coverage,
}

/// A piece of a lock's time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Where it begins, ms since the epoch.
    pub at_ms: i64,
    /// Contenders that came.
    pub arrivals: u32,
    /// Contenders that began to hold.
    pub acquired: u32,
    /// Contenders that left without.
    pub gave_up: u32,
    /// Waits that ended, in milliseconds.
    pub wait_ms: Percentiles,
    /// Holds that ended.
    pub hold_ms: Percentiles,
    /// The longest queue.
    pub depth_max: u32,
    /// All waiting together.
    pub waiting_ms: i64,
    /// The worst verdict.
    pub worst: Verdict,
    /// The session that held longest; null when nobody held, or no session owns what was held.
    pub holder: Option<String>,
    /// Who that is, by place among the clients of a page.
    #[serde(skip)]
    pub client: Option<usize>,
}

/// At most an eighth above the truth; null where nothing ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Percentiles {
    /// Half of them were not longer.
    pub p50: Option<i64>,
    /// 95 in 100 were not longer.
    pub p95: Option<i64>,
    /// 99 in 100 were not longer.
    pub p99: Option<i64>,
}

impl Percentiles {
    /// All of them, the shortest first.
    pub fn all(self) -> [Option<i64>; 3] {
        [self.p50, self.p95, self.p99]
    }
}
