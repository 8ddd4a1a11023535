//! How long the waiters of a lock still have to wait: what is seen of its line, and what the model's estimator makes of
//! that. Nothing of a store is read while the model is looked at: what was recorded comes in between.

use std::collections::BTreeSet;

use lockscope_core::assessment::AssessedLock;
use lockscope_core::evidence::Liveness;
use lockscope_core::finding::Code;
use lockscope_core::lock::{ContenderRef, Hold, Lock};
use lockscope_core::mirror::Mirror;
use lockscope_core::recipe::{Access, Recipe, Shape};
use lockscope_core::time_to_lock::{Admission, HOLDS_MIN, Habits, HolderAge, LEASES_MAX, Line, NoEstimate, STEPS_MAX};
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::SessionId;
use lockscope_view as view;

use super::words::{view_no_estimate, view_recipe};
use super::{ProjectionContext, count32};

/// Readers and writers before somebody that are looked at one by one. Behind more of them nothing is told.
const READERS_AHEAD_MAX: usize = 1_000;
/// Locks that a holder waits for, and those that their holders wait for, that are looked at. Of more, nothing is told.
const BLOCKING_LOCKS_MAX: usize = 64;
/// Znodes of such a session that are looked at. Of one with more, it is taken to wait for a lock that does not go on.
const SESSION_LOCKS_MAX: usize = 1_000;

#[derive(Clone, Debug)]
pub struct LineView {
    pub ensemble: String,
    pub path: String,
    pub recipe: view::Recipe,
    /// Those that hold, with those of the waiters that are told of.
    pub holders: Vec<view::Contender>,
    /// All who wait and have been read, the first so many of them.
    pub waiters: Vec<(u32, view::Contender)>,
    /// The znode that was asked for.
    asked: String,
    /// How many of the waiters are listed.
    limit: usize,
    waiter_count: u32,
    at_ms: i64,
    admission: Admission,
    ages: Vec<HolderAge>,
    /// Of readers and writers, which of those who wait only read.
    reads: Vec<bool>,
    /// Some client does not watch what it waits for.
    has_unwatched: bool,
    /// What the model itself knows.
    habits: Habits,
    reason: Option<NoEstimate>,
}

#[derive(Clone, Debug)]
pub struct RecordedHabits {
    pub habits: Habits,
    pub calibration: view::WaitCalibration,
}

impl LineView {
    pub fn at_ms(&self) -> i64 {
        self.at_ms
    }
}

impl<'a> ProjectionContext<'a> {
    pub(crate) fn line(&self, query: &view::LockQuery) -> Option<LineView> {
        let (lock, mirror) = self.shown_lock(&query.ensemble, &query.path)?;
        let is_read_write = lock.recognition.recipe == Recipe::ReadWrite;
        let (mut holders, mut waiters, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        let (mut place, mut last) = (0_u32, None);
        // A path is put together for each of a long line only where one of them is meant.
        let is_asked = |contender: &ContenderRef<'_>| *query.path != *lock.path && contender.path() == query.path;
        for (at, contender) in lock.contenders(mirror).enumerate() {
            if self.holds(lock, at, &contender) {
                if holders.len() <= LEASES_MAX {
                    holders.push(self.contender_with_edges(lock, mirror, at, &contender));
                }
                continue;
            }
            place += 1;
            if is_read_write && reads.len() <= READERS_AHEAD_MAX {
                reads.push(lock.access(&contender) == Access::Read);
            }
            let is_told = place <= query.limit.max(1) || is_asked(&contender);
            if is_told {
                waiters.push((place, self.contender_with_edges(lock, mirror, at, &contender)));
            }
            last = Some((place, at, contender)).filter(|_| !is_told);
        }
        waiters.extend(last.map(|(place, at, last)| (place, self.contender_with_edges(lock, mirror, at, &last))));
        Some(LineView {
            ensemble: self.ensemble.name.clone(),
            path: lock.path.to_string(),
            recipe: view_recipe(lock.recognition.recipe),
            asked: query.path.clone(),
            limit: query.limit as usize,
            waiter_count: place,
            at_ms: self.now.0,
            admission: self.admission(lock, mirror),
            ages: self.ages(lock),
            reads,
            has_unwatched: lock.assessment.findings.iter().any(|finding| finding.code == Code::MissingWatch),
            habits: Habits::of_histogram(&lock.tally.holds),
            reason: self.no_estimate(lock),
            holders,
            waiters,
        })
    }

    fn holds(&self, lock: &Lock, at: usize, contender: &ContenderRef<'_>) -> bool {
        let holds = lock.standing.holders as usize;
        lock.hold_of(contender).is_some() || (at < holds && at >= lockscope_core::lock::HOLDERS_MAX)
    }

    fn ages(&self, lock: &Lock) -> Vec<HolderAge> {
        let age = |hold: &Hold| HolderAge { age_ms: self.now.since(hold.since), reads: hold.access == Access::Read };
        lock.holders.iter().map(age).collect()
    }

    fn admission(&self, lock: &Lock, mirror: &Mirror) -> Admission {
        match lock.recognition.recipe {
            Recipe::ReadWrite => Admission::Readers,
            Recipe::Semaphore => {
                let known = lock.capacity(mirror, lock.recognition.configured_max).and_then(|full| full.max.number());
                // Those who wait do so since all leases are held.
                Admission::Some(known.unwrap_or(lock.standing.holders) as usize)
            }
            _ => Admission::One,
        }
    }

    /// Why nothing can be said of any of its waits; None where that depends on its holds.
    fn no_estimate(&self, lock: &AssessedLock) -> Option<NoEstimate> {
        let shape = lock.recognition.shape;
        let is_line = matches!(shape, Shape::Line | Shape::LeasesAndLocks | Shape::LeasesAndSibling);
        let is_lock =
            matches!(lock.recognition.recipe, Recipe::SequentialMutex | Recipe::ReadWrite | Recipe::Semaphore);
        if !is_line || !is_lock {
            return Some(NoEstimate::NotAQueue);
        }
        match lock.assessment.verdict {
            Verdict::Deadlocked | Verdict::MaybeDeadlocked => return Some(NoEstimate::Deadlocked),
            Verdict::Stuck | Verdict::Orphan | Verdict::NobodyHome | Verdict::DoubleOwner => {
                return Some(NoEstimate::Stuck);
            }
            Verdict::Expiring => return Some(NoEstimate::HolderGone),
            Verdict::Free | Verdict::Healthy | Verdict::Unknown | Verdict::Slow => {}
        }
        if !lock.standing.missing.is_empty() || lock.gone_since.is_some() {
            return Some(NoEstimate::Incomplete);
        }
        if lock.standing.holders as usize > LEASES_MAX {
            return Some(NoEstimate::TooManyHolders);
        }
        let is_gone = |hold: &Hold| {
            hold.owner.is_none()
                || hold
                    .peer
                    .as_ref()
                    .is_some_and(|peer| matches!(peer.liveness, Liveness::Silent | Liveness::Disconnected))
        };
        if lock.holders.iter().any(is_gone) {
            return Some(NoEstimate::HolderGone);
        }
        if lock.holders.iter().any(|hold| hold.is_lower_bound) {
            return Some(NoEstimate::HolderAgeUnknown);
        }
        self.is_blocked(lock).then_some(NoEstimate::HolderBlocked)
    }

    /// A holder waits for a lock that does not go on, or for one whose holder does, and so forth. Where that goes on for
    /// too long to be looked at, it counts as blocked.
    fn is_blocked(&self, lock: &AssessedLock) -> bool {
        let mut seen = BTreeSet::from([&*lock.path]);
        let mut sessions: Vec<SessionId> = lock.holders.iter().filter_map(|hold| hold.owner).collect();
        while let Some(session) = sessions.pop() {
            for (at, spot) in self.observatory.spots(session).enumerate() {
                if at >= SESSION_LOCKS_MAX {
                    return true;
                }
                if spot.hold.is_some() {
                    continue;
                }
                if does_not_go_on(spot.lock.assessment.verdict) || seen.len() > BLOCKING_LOCKS_MAX {
                    return true;
                }
                if seen.insert(&spot.lock.path) {
                    sessions.extend(spot.lock.holders.iter().filter_map(|hold| hold.owner));
                }
            }
        }
        false
    }
}

fn does_not_go_on(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Free | Verdict::Healthy | Verdict::Unknown | Verdict::Slow => false,
        Verdict::Expiring
        | Verdict::NobodyHome
        | Verdict::Orphan
        | Verdict::Stuck
        | Verdict::MaybeDeadlocked
        | Verdict::DoubleOwner
        | Verdict::Deadlocked => true,
    }
}

/// How long those in a line still have to wait. `state`: how far the line can be trusted now; of a moment of the past, then.
pub fn time_to_lock(line: LineView, recorded: Option<RecordedHabits>, state: view::RootState) -> view::TimeToLock {
    // What was recorded is of use only where it is enough, or as much as the model has.
    let enough = HOLDS_MIN.min(line.habits.holds.count().max(1));
    let recorded = recorded.filter(|recorded| recorded.habits.holds.count() >= enough);
    let (habits, source, calibration) = match &recorded {
        Some(recorded) => (&recorded.habits, view::HoldsSource::Recording, Some(recorded.calibration)),
        None => (&line.habits, view::HoldsSource::Model, None),
    };
    let is_old = matches!(state, view::RootState::Stale | view::RootState::Syncing | view::RootState::Gone);
    let reason = if is_old { Some(NoEstimate::NotLive) } else { line.reason };
    let begun = match reason {
        Some(reason) => Err(reason),
        None => Line::new(habits, line.admission, &line.ages),
    };
    let mut walk = Walk { line: &line, front: begun, passed: 0, is_cut_off: false };
    let all: Vec<view::WaitTime> = line.waiters.iter().map(|(place, waiter)| walk.wait_time(*place, waiter)).collect();
    let begun = walk.front.map(|_| ());
    view::TimeToLock {
        state,
        at_ms: line.at_ms,
        waiter_count: line.waiter_count,
        reason: begun.as_ref().err().copied().map(view_no_estimate),
        asked: all.iter().find(|wait| wait.path == line.asked).cloned(),
        last: all.iter().max_by_key(|wait| wait.place).cloned(),
        hold_count: count32(habits.holds.count()),
        source,
        calibration,
        waits: all.into_iter().filter(|wait| wait.place as usize <= line.limit).collect(),
        ensemble: line.ensemble,
        path: line.path,
    }
}

/// Goes along a line, from the front.
struct Walk<'a> {
    line: &'a LineView,
    front: Result<Line<'a>, NoEstimate>,
    passed: usize,
    /// One of those that were passed does not watch what it waits for: nobody behind it gets its turn.
    is_cut_off: bool,
}

impl Walk<'_> {
    fn wait_time(&mut self, place: u32, waiter: &view::Contender) -> view::WaitTime {
        let found = self.remaining(place as usize, waiter);
        view::WaitTime {
            place,
            path: waiter.path.clone(),
            session_id: waiter.session_id,
            label: waiter.label.clone(),
            waiting_since_ms: waiter.waiting_since_ms,
            remaining: found.ok(),
            reason: found.err().map(view_no_estimate),
        }
    }

    fn remaining(&mut self, place: usize, waiter: &view::Contender) -> Result<view::RemainingWait, NoEstimate> {
        let front = self.front.as_mut().map_err(|reason| *reason)?;
        // Of those that are not listed, only the lock's finding says whether they watch.
        self.is_cut_off |= (place > self.line.limit && self.line.has_unwatched)
            || waiter.waits_for.iter().any(|edge| edge.evidence == view::EdgeEvidence::Missing);
        if self.is_cut_off {
            return Err(NoEstimate::NotWatching);
        }
        let ahead = place.saturating_sub(1);
        let reads = waiter.access == view::Access::Read;
        let range = match self.line.admission {
            Admission::Readers => {
                let before = self.line.reads.get(self.passed..ahead).filter(|_| ahead <= READERS_AHEAD_MAX);
                before.ok_or(NoEstimate::TooFarBack)?.iter().for_each(|reads| front.pass(*reads));
                self.passed = ahead;
                front.told(reads)
            }
            Admission::One | Admission::Some(_) => {
                let one_by_one = ahead.min(STEPS_MAX);
                front.pass_many(one_by_one.saturating_sub(self.passed));
                self.passed = self.passed.max(one_by_one);
                // Sums of many are made from here for each: they do not add up.
                let mut further = front.clone();
                further.pass_many(ahead - self.passed);
                further.told(reads)
            }
        };
        Ok(view::RemainingWait { low_ms: range.low_ms, middle_ms: range.middle_ms, high_ms: range.high_ms })
    }
}

#[cfg(test)]
mod tests;
