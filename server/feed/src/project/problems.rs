//! What needs somebody, one line a problem: a deadlock is one, over all of its locks, and so is a client that hangs on
//! many locks at once. Ranked by severity, then by how long all who wait have waited together.

use std::collections::BTreeMap;

use lockscope_core::assessment::AssessedLock;
use lockscope_core::finding::Code;
use lockscope_core::verdict::{Verdict, name_of};
use lockscope_core::znode::SessionId;
use lockscope_wire as wire;
use lockscope_wire::{PROBLEM_LOCKS_MAX, PROBLEMS_MAX};

use super::advice::critical;
use super::words::wire_verdict;
use super::{ProjectionContext, Waits, count32, headline};

/// What makes several locks one problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause<'a> {
    /// A deadlock, by its index among the ensemble's.
    Cycle(usize),
    /// A client that holds them in the same way.
    Client(SessionId),
    /// The same critical finding.
    Finding(Code),
    /// A lock alone.
    Lock(&'a str),
}

/// Locks with one cause, in path order.
struct Group<'a> {
    look: ProjectionContext<'a>,
    verdict: Verdict,
    locks: Vec<&'a AssessedLock>,
    count: u32,
    waits: Waits,
}

/// Collects problems while somebody walks over the locks.
#[derive(Default)]
pub(super) struct Problems<'a> {
    groups: BTreeMap<(usize, std::cmp::Reverse<u8>, Cause<'a>), Group<'a>>,
    /// Locks in circles of each ensemble that has some: circles that share a lock have one number.
    circles: BTreeMap<usize, BTreeMap<&'a str, usize>>,
}

/// How severe a lock is for the order of the board: its verdict where that is a bad one, then a critical finding, then
/// nothing.
pub(super) fn severity(lock: &AssessedLock) -> u8 {
    let verdict = lock.assessment.verdict;
    match verdict {
        Verdict::Slow
        | Verdict::Expiring
        | Verdict::NobodyHome
        | Verdict::Orphan
        | Verdict::Stuck
        | Verdict::MaybeDeadlocked
        | Verdict::DoubleOwner
        | Verdict::Deadlocked => verdict as u8,
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => u8::from(critical(lock).next().is_some()),
    }
}

impl<'a> Problems<'a> {
    /// Notes a lock of the ensemble at an index.
    pub(super) fn note(&mut self, at: usize, look: &ProjectionContext<'a>, lock: &'a AssessedLock, waits: Waits) {
        let severity = severity(lock);
        let verdict = lock.assessment.verdict;
        // A lock that frees itself and that nobody waits for needs nobody.
        if severity == 0 || (verdict == Verdict::Expiring && waits.count == 0) {
            return;
        }
        let circles = || circles(look);
        let cause = match verdict {
            Verdict::Deadlocked | Verdict::MaybeDeadlocked => {
                let number = self.circles.entry(at).or_insert_with(circles).get(&*lock.path);
                number.map_or(Cause::Lock(&lock.path), |number| Cause::Cycle(*number))
            }
            _ => cause(lock),
        };
        let group = self.groups.entry((at, std::cmp::Reverse(severity), cause)).or_insert_with(|| Group {
            look: *look,
            verdict,
            locks: Vec::new(),
            count: 0,
            waits: Waits::default(),
        });
        group.count += 1;
        if group.locks.len() < PROBLEM_LOCKS_MAX {
            group.locks.push(lock);
        }
        group.waits.count += waits.count;
        group.waits.since_sum_ms += waits.since_sum_ms;
    }

    /// The worst, and how many there are.
    pub(super) fn ranked(self) -> (Vec<wire::LockProblem>, u32) {
        let count = count32(self.groups.len());
        let mut groups: Vec<_> = self.groups.into_iter().collect();
        let damage = |group: &Group<'_>| i64::from(group.waits.count) * group.look.now.0 - group.waits.since_sum_ms;
        groups.sort_by_key(|((_, severity, _), group)| (*severity, std::cmp::Reverse(damage(group))));
        let first = groups.into_iter().take(PROBLEMS_MAX);
        (first.filter_map(|((.., cause), group)| group.problem(&cause)).collect(), count)
    }
}

/// The number of the circle that each lock is in, as far as all of it may be seen.
fn circles<'a>(look: &ProjectionContext<'a>) -> BTreeMap<&'a str, usize> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, cycle) in look.observatory.cycles().iter().enumerate().filter(|(_, cycle)| look.sees_all_of(cycle)) {
        let number = cycle.locks().filter_map(|lock| numbers.get(&**lock)).min().copied().unwrap_or(at);
        numbers.extend(cycle.locks().map(|lock| (&**lock, number)));
    }
    numbers
}

fn cause(lock: &AssessedLock) -> Cause<'_> {
    match lock.assessment.verdict {
        Verdict::Stuck | Verdict::Slow | Verdict::Expiring => {
            let owner = lock.holders.first().and_then(|hold| hold.owner);
            owner.map_or(Cause::Lock(&lock.path), Cause::Client)
        }
        Verdict::Free | Verdict::Healthy | Verdict::Unknown => {
            let found = critical(lock).next();
            found.map_or(Cause::Lock(&lock.path), |finding| Cause::Finding(finding.code))
        }
        Verdict::NobodyHome
        | Verdict::Orphan
        | Verdict::DoubleOwner
        | Verdict::MaybeDeadlocked
        | Verdict::Deadlocked => Cause::Lock(&lock.path),
    }
}

impl Group<'_> {
    fn problem(&self, cause: &Cause<'_>) -> Option<wire::LockProblem> {
        let (look, first) = (&self.look, *self.locks.first()?);
        let case = look.case(first);
        let mut headline = look.headline(&case);
        if let (Cause::Client(_), 2..) = (cause, self.count) {
            let who = first.holders.first().map(name_of).unwrap_or_default();
            headline = headline::of_several(headline, &who, self.count, self.waits.count);
        }
        let verdict = wire_verdict(self.verdict);
        let finding = matches!(cause, Cause::Finding(_)).then(|| critical(first).next()).flatten();
        let what = finding.map_or(verdict.name(), |finding| finding.code.name());
        Some(wire::LockProblem {
            // Its locks may come and go while the client stays the cause.
            key: match cause {
                Cause::Client(session) => look.ensemble.key(&format!("{what} session {session}")),
                _ => look.ensemble.key(&format!("{what} {}", first.path)),
            },
            ensemble: look.ensemble.name.clone(),
            tag: look.ensemble.tag(),
            verdict,
            finding: finding.map(|finding| finding.code.name().to_owned()),
            locks: self.locks.iter().map(|lock| lock.path.to_string()).collect(),
            lock_count: self.count,
            headline,
            waiter_count: self.waits.count,
            waiting_since_sum_ms: self.waits.since_sum_ms,
            step: case.first_step(),
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
