//! What an autopsy says: plain values, as they are printed.

use std::collections::BTreeMap;

use lockscope_core::diagnosis::Verdict;
use lockscope_core::observatory::Observatory;
use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_history::derive::{add_histogram, verdict_name, verdict_of};
use lockscope_history::store::rows::{Minute, MinuteQuery, ROWS_READ_MAX};
use lockscope_history::store::{Store, StoreError};
use serde::Serialize;

use crate::merge::MemberDifference;
use crate::source::Damage;

/// Locks that are told. Overflow policy: of more, those in which most was waited are, and the rest is counted.
pub const LOCKS_MAX: usize = 10_000;
/// Locks that are counted. Overflow policy: further ones are not.
const COUNTED_MAX: usize = 200_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// The first transaction that was read; null where there is only a snapshot.
    pub first_zxid: Option<String>,
    pub last_zxid: Option<String>,
    /// From when on everything is known, ms since the epoch.
    pub from_at_ms: i64,
    pub to_at_ms: i64,
    pub transactions: u64,
    /// Transactions of a kind that is not known.
    pub unknown_kinds: u64,
    /// Logs that were read.
    pub files: u64,
    pub sessions_made: u64,
    pub sessions_ended: u64,
    /// The snapshot that it began with; null where the logs reach back to the beginning.
    pub snapshot: Option<String>,
    pub damaged: Vec<Damage>,
    pub damaged_left_out: u64,
    pub missing: Vec<MissingRange>,
    pub differences: Vec<MemberDifference>,
    pub differences_left_out: u64,
    /// By how much the leader's clock was set back, at most: time stands still here until it has caught up.
    pub clock_set_back_ms: i64,
    /// Znodes that were left out because there were too many.
    pub znodes_left_out: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingRange {
    pub after_zxid: String,
    pub before_zxid: String,
}

/// Durations in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// Half of them are not longer; null where there are none.
    pub p50: Option<i64>,
    pub p99: Option<i64>,
}

impl Percentiles {
    fn of(histogram: &Histogram) -> Self {
        Self { p50: histogram.percentile(50), p99: histogram.percentile(99) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockReport {
    pub path: String,
    /// What it was recognised as when it was last there; null where it is gone.
    pub recipe: Option<String>,
    pub arrivals: u64,
    /// Times somebody began to hold.
    pub holds: u64,
    pub gave_up: u64,
    pub wait_ms: Percentiles,
    pub hold_ms: Percentiles,
    /// All waiting together.
    pub waiting_ms: i64,
    pub depth_max: u32,
    pub worst: &'static str,
}

/// Everything but the incidents, which are looked for in the history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub coverage: Coverage,
    /// Locks, the one in which most was waited first.
    pub locks: Vec<LockReport>,
    pub locks_left_out: u64,
    /// Times somebody began to hold, in all locks.
    pub holds: u64,
}

impl Report {
    /// Everything that there is was read.
    pub fn is_whole(&self) -> bool {
        self.coverage.damaged.is_empty() && self.coverage.missing.is_empty()
    }
}

#[derive(Debug)]
struct Total {
    arrivals: u64,
    holds: u64,
    gave_up: u64,
    waits: Histogram,
    held: Histogram,
    waiting_ms: i64,
    depth_max: u32,
    worst: Verdict,
}

impl Default for Total {
    fn default() -> Self {
        Self {
            arrivals: 0,
            holds: 0,
            gave_up: 0,
            waits: Histogram::default(),
            held: Histogram::default(),
            waiting_ms: 0,
            depth_max: 0,
            worst: Verdict::Free,
        }
    }
}

impl Total {
    fn take(&mut self, minute: &Minute) {
        self.arrivals += u64::from(minute.arrivals);
        self.holds += u64::from(minute.acquired);
        self.gave_up += u64::from(minute.gave_up);
        add_histogram(&mut self.waits, &minute.waits);
        add_histogram(&mut self.held, &minute.holds);
        self.waiting_ms = self.waiting_ms.saturating_add(minute.waiting_ms);
        self.depth_max = self.depth_max.max(minute.depth_max);
        self.worst = self.worst.max(verdict_of(&minute.worst).unwrap_or(Verdict::Free));
    }
}

/// All locks that were seen, those in which most was waited first, how many were left out, and all holds.
pub(crate) fn locks(store: &dyn Store, model: &Observatory) -> Result<(Vec<LockReport>, u64, u64), StoreError> {
    let mut totals: BTreeMap<Box<str>, Total> = BTreeMap::new();
    let mut behind: Option<(TimeMs, Box<str>)> = None;
    loop {
        let from = behind.as_ref().map_or(TimeMs(i64::MIN), |(at, _)| *at);
        let query = MinuteQuery { range: from..TimeMs(i64::MAX), limit: ROWS_READ_MAX, ..MinuteQuery::default() };
        let rows = store.minutes(&query)?;
        let is_new = |minute: &Minute| behind.as_ref().is_none_or(|(at, path)| (minute.at, &minute.lock) > (*at, path));
        let mut last = None;
        for minute in rows.iter().filter(|minute| is_new(minute)) {
            last = Some((minute.at, minute.lock.clone()));
            if totals.len() < COUNTED_MAX || totals.contains_key(&minute.lock) {
                totals.entry(minute.lock.clone()).or_default().take(minute);
            }
        }
        match last {
            Some(last) => behind = Some(last),
            // More locks in one minute than are read at once: on with the next.
            None if rows.len() >= ROWS_READ_MAX => behind = Some((from + 1, Box::default())),
            None => break,
        }
    }
    for lock in model.locks().take(COUNTED_MAX) {
        let worst = lock.assessment.verdict;
        totals.entry(lock.path.as_ref().into()).or_insert_with(|| Total { worst, ..Total::default() });
    }
    let holds = totals.values().map(|total| total.holds).sum();
    let mut all: Vec<LockReport> = totals
        .into_iter()
        .map(|(path, total)| LockReport {
            recipe: model.lock(&path).map(|lock| lock.recognition.label.to_string()),
            path: path.into(),
            arrivals: total.arrivals,
            holds: total.holds,
            gave_up: total.gave_up,
            wait_ms: Percentiles::of(&total.waits),
            hold_ms: Percentiles::of(&total.held),
            waiting_ms: total.waiting_ms,
            depth_max: total.depth_max,
            worst: verdict_name(total.worst),
        })
        .collect();
    all.sort_by(|one, other| (other.waiting_ms, &one.path).cmp(&(one.waiting_ms, &other.path)));
    let left_out = all.len().saturating_sub(LOCKS_MAX) as u64;
    all.truncate(LOCKS_MAX);
    Ok((all, left_out, holds))
}
