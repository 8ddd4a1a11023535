//! What needs somebody, one line a problem: a deadlock is one, over all of its locks, and so is a client that hangs on
//! many locks at once. Ranked by severity, then by how long all who wait have waited together. Of more than there are lines
//! each kind keeps one, and no client takes them all: a flood of one kind hides no other.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::assessment::AssessedLock;
use lockscope_core::finding::Code;
use lockscope_core::verdict::Verdict;
use lockscope_core::znode::SessionId;
use lockscope_view as view;
use lockscope_view::{PROBLEM_LOCKS_MAX, PROBLEMS_MAX};

use super::acknowledged::Acknowledged;
use super::advice::critical;
use super::session_groups::host_of;
use super::words::view_verdict;
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Verdict(Verdict),
    Finding(Code),
}

/// Whose problem it is: the host that members report, which nobody chooses as they do a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin<'a> {
    Host(&'a str),
    Session(SessionId),
    Unknown,
}

/// Locks with one cause, in path order.
struct Group<'a> {
    look: ProjectionContext<'a>,
    verdict: Verdict,
    locks: Vec<&'a AssessedLock>,
    count: u32,
    waits: Waits,
    /// Since when somebody looks at which of its locks: the first of them.
    looked_at: Option<(i64, &'a str)>,
}

/// Collects problems while somebody walks over the locks.
pub(super) struct Problems<'a> {
    acknowledged: &'a Acknowledged,
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
    /// None yet. `acknowledged`: which locks somebody looks at.
    pub(super) fn new(acknowledged: &'a Acknowledged) -> Self {
        Self { acknowledged, groups: BTreeMap::new(), circles: BTreeMap::new() }
    }

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
            looked_at: None,
        });
        group.count += 1;
        let looks = self.acknowledged.since(&look.ensemble.name, &lock.path).map(|since_ms| (since_ms, &*lock.path));
        group.looked_at = group.looked_at.into_iter().chain(looks).min();
        if group.locks.len() < PROBLEM_LOCKS_MAX {
            group.locks.push(lock);
        }
        group.waits.count += waits.count;
        group.waits.since_sum_ms += waits.since_sum_ms;
    }

    pub(super) fn count(&self) -> u32 {
        count32(self.groups.len())
    }

    /// Those that have a line, worst first, and how many of each kind have none.
    pub(super) fn ranked(self) -> (Vec<view::LockProblem>, Vec<view::ProblemsLeftOut>) {
        let mut groups: Vec<_> = self.groups.into_iter().collect();
        let damage = |group: &Group<'_>| i64::from(group.waits.count) * group.look.now.0 - group.waits.since_sum_ms;
        groups.sort_by_key(|((_, severity, _), group)| (*severity, std::cmp::Reverse(damage(group))));
        let of: Vec<_> = groups.iter().map(|((.., cause), group)| (group.kind(cause), group.origin())).collect();
        let shown = shown(&of);
        let mut left_out: Vec<(Kind, view::ProblemsLeftOut)> = Vec::new();
        let rest = groups.iter().zip(&of).enumerate().filter(|(at, _)| !shown.contains(at));
        for (_, ((_, group), (kind, _))) in rest {
            match left_out.iter_mut().find(|(other, _)| other == kind) {
                Some((_, more)) => more.count += 1,
                None => left_out.push((*kind, group.left_out(*kind))),
            }
        }
        let lines = groups.iter().enumerate().filter(|(at, _)| shown.contains(at));
        let lines = lines.filter_map(|(_, ((.., cause), group))| group.problem(cause, self.acknowledged)).collect();
        (lines, left_out.into_iter().map(|(_, more)| more).collect())
    }
}

/// Which problems have a line, of all in the order of their rank: the first of each kind; then the worst, where a
/// second one of a kind and an origin comes behind the first of all others.
fn shown(problems: &[(Kind, Origin<'_>)]) -> BTreeSet<usize> {
    if problems.len() <= PROBLEMS_MAX {
        return (0..problems.len()).collect();
    }
    let mut kinds: BTreeSet<Kind> = BTreeSet::new();
    let mut turns: BTreeMap<(Kind, Origin<'_>), usize> = BTreeMap::new();
    let mut places: Vec<(bool, usize, usize)> = Vec::with_capacity(problems.len());
    for (at, of) in problems.iter().enumerate() {
        let turn = turns.entry(*of).or_default();
        *turn += 1;
        places.push((!kinds.insert(of.0), *turn, at));
    }
    places.sort_unstable();
    places.into_iter().take(PROBLEMS_MAX).map(|(.., at)| at).collect()
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

impl<'a> Group<'a> {
    fn kind(&self, cause: &Cause<'_>) -> Kind {
        if let Cause::Finding(code) = cause { Kind::Finding(*code) } else { Kind::Verdict(self.verdict) }
    }

    /// Of the first that holds its first lock.
    fn origin(&self) -> Origin<'a> {
        let hold = self.locks.first().and_then(|lock| lock.holders.first());
        let address = hold.and_then(|hold| hold.peer.as_ref()?.address.as_deref());
        match (address, hold.and_then(|hold| hold.owner)) {
            (Some(address), _) => Origin::Host(host_of(address)),
            (None, Some(session)) => Origin::Session(session),
            (None, None) => Origin::Unknown,
        }
    }

    /// One problem of this kind without a line.
    fn left_out(&self, kind: Kind) -> view::ProblemsLeftOut {
        let finding = if let Kind::Finding(code) = kind { Some(code.name().to_owned()) } else { None };
        view::ProblemsLeftOut { verdict: view_verdict(self.verdict), finding, count: 1 }
    }

    fn problem(&self, cause: &Cause<'_>, acknowledged: &Acknowledged) -> Option<view::LockProblem> {
        let (look, first) = (&self.look, *self.locks.first()?);
        let case = look.case(first);
        let mut headline = look.headline(&case);
        if let (Cause::Client(_), 2..) = (cause, self.count) {
            headline = headline::of_several(&headline, first, self.count, self.waits.count);
        }
        let verdict = view_verdict(self.verdict);
        let finding = matches!(cause, Cause::Finding(_)).then(|| critical(first).next()).flatten();
        let what = finding.map_or(verdict.name(), |finding| finding.code.name());
        Some(view::LockProblem {
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
            looked_after: self.looked_at.and_then(|(_, path)| acknowledged.sentence(&look.ensemble.name, path)),
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
