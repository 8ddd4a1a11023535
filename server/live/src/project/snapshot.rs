//! The metrics of one ensemble: one walk over its locks and none over their contenders. What is counted over the whole
//! ensemble is given only to those whose scope covers all of it.

use std::collections::BTreeMap;

use lockscope_core::assessment::AssessedLock;
pub use lockscope_core::configured::MetricSelection;
use lockscope_core::configured::is_meant;
use lockscope_core::durations::Durations;
use lockscope_core::finding::sequence_used_ppm;
use lockscope_core::time::TimeMs;
use lockscope_view as view;

use super::ProjectionContext;
use super::words::{view_missing, view_severity, view_verdict};

/// Locks of one ensemble with metrics of their own by pattern; more are in the sum.
pub const PINNED_MAX: usize = 200;
/// A lock with a longer path never has metrics of its own.
const PATH_BYTES_MAX: usize = 1_024;

#[derive(Clone, Debug)]
pub struct Snapshot {
    pub ensemble: String,
    pub link: view::Link,
    /// How long ago the instant is up to which all that is shown is known to be true, ms; None without roots.
    pub age_ms: Option<i64>,
    pub roots: Vec<view::RootStatus>,
    pub all: LockSnapshot,
    /// Those with metrics of their own, in path order.
    pub apart: Vec<LockSnapshot>,
    pub rest: LockSnapshot,
    pub verdicts: [u64; view::Verdict::ALL.len()],
    /// Locks of which something is missing, by what.
    pub missing: [u64; view::Missing::ALL.len()],
    /// Locks with a finding, by its name and severity.
    pub findings: BTreeMap<(&'static str, &'static str), u64>,
    /// Deadlocks of which every lock may be seen.
    pub deadlocks: u64,
    /// What looks like deadlocks and may be none, likewise.
    pub maybe_deadlocks: u64,
    pub members: Vec<view::MemberStatus>,
    /// Our clock minus the ensemble's, ms.
    pub clock_offset_ms: Option<i64>,
    /// By how much that may be wrong, ms.
    pub clock_error_ms: Option<i64>,
    pub counted: Option<EnsembleCounters>,
}

/// Counted over a whole ensemble since the start.
#[derive(Clone, Copy, Debug)]
pub struct EnsembleCounters {
    pub changes: u64,
    pub events: u64,
    /// Creations that no event showed.
    pub missed: u64,
    /// Znodes that went before they could be read.
    pub owner_unknown: u64,
    /// Rounds of questions to the members.
    pub rounds: u64,
    /// Waits that ended in a hold.
    pub waits: Durations,
    /// Holds seen from beginning to end.
    pub holds: Durations,
    /// From an event's arrival to its being taken in.
    pub lag: Durations,
}

/// One lock, or several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockSnapshot {
    /// Its path; empty for several.
    pub path: String,
    pub locks: u64,
    pub held: u64,
    pub contended: u64,
    pub holders: u64,
    /// Contenders that are seen to wait.
    pub waiters: u64,
    /// Of one lock: none is seen to wait, and some may.
    pub may_hide_waiters: bool,
    /// How long the first in line waits, ms; the longest of several.
    pub oldest_wait_ms: i64,
    /// How long the first holder holds, ms; the longest of several.
    pub hold_ms: i64,
    /// Millionths of the sequence numbers used; the most of several.
    pub sequence_used_ppm: u64,
}

impl LockSnapshot {
    fn add(&mut self, one: &Self) {
        self.locks += one.locks;
        self.held += one.held;
        self.contended += one.contended;
        self.holders += one.holders;
        self.waiters += one.waiters;
        self.oldest_wait_ms = self.oldest_wait_ms.max(one.oldest_wait_ms);
        self.hold_ms = self.hold_ms.max(one.hold_ms);
        self.sequence_used_ppm = self.sequence_used_ppm.max(one.sequence_used_ppm);
    }
}

/// A lock on its way to metrics of its own or to the sum; the greatest comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_pinned: bool,
    damage_ms: i64,
    oldest_wait_ms: i64,
    hold_ms: i64,
}

pub fn figures(looks: &[ProjectionContext<'_>], apart: &MetricSelection) -> Vec<Snapshot> {
    looks.iter().map(|look| of_one(look, apart)).collect()
}

fn of_one(look: &ProjectionContext<'_>, apart: &MetricSelection) -> Snapshot {
    let roots = look.root_statuses();
    let mut verdicts = [0; view::Verdict::ALL.len()];
    let mut missing = [0; view::Missing::ALL.len()];
    let mut findings = BTreeMap::new();
    let (mut all, mut rest) = (LockSnapshot::default(), LockSnapshot::default());
    let mut ranked: Vec<(Rank, LockSnapshot, &AssessedLock)> = Vec::new();
    let mut pinned = 0;
    for lock in look.locks() {
        if let Some(count) = verdicts.get_mut(view_verdict(lock.assessment.verdict) as usize) {
            *count += 1;
        }
        for kind in view_missing(lock.missing()) {
            if let Some(count) = missing.get_mut(kind as usize) {
                *count += 1;
            }
        }
        for finding in &lock.assessment.findings {
            *findings.entry((finding.code.name(), view_severity(finding.severity).name())).or_insert(0) += 1;
        }
        let (damage_ms, one) = look.lock_figures(lock);
        all.add(&one);
        let is_pinned = pinned < PINNED_MAX && apart.patterns.iter().any(|pattern| is_meant(pattern, &lock.path));
        pinned += usize::from(is_pinned);
        let may_be_told = lock.path.len() <= PATH_BYTES_MAX && (is_pinned || one.held + one.contended > 0);
        if !may_be_told || (apart.top == 0 && !is_pinned) {
            rest.add(&one);
            continue;
        }
        ranked.push((
            Rank { is_pinned, damage_ms, oldest_wait_ms: one.oldest_wait_ms, hold_ms: one.hold_ms },
            one,
            lock,
        ));
    }
    let told = (pinned + apart.top).min(ranked.len());
    // Path order among equals, so that the same are chosen the next time.
    ranked.sort_by(|(a, ..), (b, ..)| b.cmp(a));
    ranked.split_off(told).iter().for_each(|(_, one, _)| rest.add(one));
    let mut apart: Vec<LockSnapshot> =
        ranked.into_iter().map(|(_, one, lock)| LockSnapshot { path: lock.path.to_string(), ..one }).collect();
    apart.sort_by(|a, b| a.path.cmp(&b.path));
    let cycles =
        || look.observatory.cycles().iter().filter(|cycle| !look.scope.is_bounded() || look.sees_all_of(cycle));
    Snapshot {
        ensemble: look.ensemble.name.clone(),
        link: look.link().0,
        age_ms: look.known_at().map(|known_at| view::age_ms(known_at.0, look.now.0)),
        roots,
        all,
        apart,
        rest,
        verdicts,
        missing,
        findings,
        deadlocks: cycles().filter(|cycle| cycle.is_certain).count() as u64,
        maybe_deadlocks: cycles().filter(|cycle| !cycle.is_certain).count() as u64,
        members: look.member_statuses(),
        clock_offset_ms: look.observatory.offset().ms(),
        clock_error_ms: look.observatory.offset().error_ms(),
        counted: look.scope.covers_path("/").then(|| look.counted()),
    }
}

impl ProjectionContext<'_> {
    /// One lock, and for how long all who wait for it have waited together, ms.
    fn lock_figures(&self, lock: &AssessedLock) -> (i64, LockSnapshot) {
        let counts = lock.recognition.counts_as_waiting();
        let waits = self.counted_waits(lock);
        let age = |since_ms: Option<i64>| since_ms.map_or(0, |since| self.now.since(TimeMs(since)).max(0));
        // Who leads holds as well; items and members of groups and barriers do not.
        let is_held = counts || lock.recognition.is_led();
        let held_since = lock.holders.first().filter(|_| is_held).map(|hold| hold.since.0);
        let used = self.observatory.mirror_of(lock).and_then(|mirror| sequence_used_ppm(lock, mirror));
        let figures = LockSnapshot {
            path: String::new(),
            locks: 1,
            held: u64::from(!lock.holders.is_empty()),
            contended: u64::from(waits.count > 0),
            holders: if is_held { lock.standing.holders.into() } else { 0 },
            waiters: waits.count.into(),
            may_hide_waiters: counts && lock.waiter_count().is_none(),
            oldest_wait_ms: age(waits.oldest_at_ms),
            hold_ms: age(held_since),
            sequence_used_ppm: used.unwrap_or(0),
        };
        (i64::from(waits.count) * self.now.0 - waits.since_sum_ms, figures)
    }

    fn counted(&self) -> EnsembleCounters {
        let (counters, ended) = (self.observatory.counters(), self.observatory.ended());
        EnsembleCounters {
            changes: self.observatory.revision(),
            events: counters.events,
            missed: counters.missed,
            owner_unknown: counters.owner_unknown,
            rounds: self.observatory.member_evidence().rounds(),
            waits: ended.waits,
            holds: ended.holds,
            lag: ended.lag,
        }
    }
}
