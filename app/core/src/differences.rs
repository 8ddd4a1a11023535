//! What differs between two moments of one ensemble: who joined and left, where the holder changed, which sessions came
//! and went, which findings were raised and cleared. Pure; it compares states and knows nothing of what was in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assessment::AssessedLock;
use super::diagnosis::{Code, Finding};
use super::label::label_of;
use super::lock::ContenderRef;
use super::observatory::Observatory;
use super::znode::{SessionId, Zxid};

/// Rows of each kind. Overflow policy: further ones are left out, and [`Differences::is_complete`] says so.
pub const ROWS_MAX: usize = 1_000;

/// A contender of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The lock.
    pub lock: Arc<str>,
    /// The name of its znode.
    pub node: Box<str>,
    /// Its identity; None before it was read.
    pub czxid: Option<Zxid>,
    /// Its session; None before it was read, and for a persistent znode.
    pub session: Option<SessionId>,
    /// Who it says it is.
    pub label: Option<Box<str>>,
}

/// A lock that others hold than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderChange {
    /// The lock.
    pub lock: Arc<str>,
    /// Who held it.
    pub before: Vec<Membership>,
    /// Who holds it.
    pub after: Vec<Membership>,
}

/// A finding of one moment that the other does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingChange {
    /// The lock.
    pub lock: Arc<str>,
    /// What kind.
    pub code: Code,
    /// One sentence.
    pub text: Box<str>,
}

/// What differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Contenders of the later moment alone.
    pub joined: Vec<Membership>,
    /// Contenders of the earlier moment alone.
    pub left: Vec<Membership>,
    /// Locks that others hold.
    pub holder_changed: Vec<HolderChange>,
    /// Sessions that hold or wait at the later moment alone.
    pub sessions_new: Vec<SessionId>,
    /// Sessions that held or waited at the earlier moment alone.
    pub sessions_gone: Vec<SessionId>,
    /// Findings of the later moment alone.
    pub findings_raised: Vec<FindingChange>,
    /// Findings of the earlier moment alone.
    pub findings_cleared: Vec<FindingChange>,
    /// Nothing was left out.
    pub is_complete: bool,
}

impl Differences {
    /// Between two moments, of the locks that are to be looked at.
    pub fn between(before: &Observatory, after: &Observatory, is_meant: impl Fn(&str) -> bool) -> Self {
        let mut differences = Self { is_complete: true, ..Self::default() };
        let mut sessions = [BTreeSet::new(), BTreeSet::new()];
        for lock in after.locks().filter(|lock| is_meant(&lock.path)) {
            differences.compare([(before, before.lock(&lock.path)), (after, Some(lock))], &mut sessions);
        }
        for lock in before.locks().filter(|lock| is_meant(&lock.path) && after.lock(&lock.path).is_none()) {
            differences.compare([(before, Some(lock)), (after, None)], &mut sessions);
        }
        let [held_before, hold_now] = sessions;
        let (new, gone) = (hold_now.difference(&held_before), held_before.difference(&hold_now));
        differences.is_complete &= fill(&mut differences.sessions_new, new.copied());
        differences.is_complete &= fill(&mut differences.sessions_gone, gone.copied());
        differences
    }

    fn compare(
        &mut self,
        [before, after]: [(&Observatory, Option<&AssessedLock>); 2],
        [sessions_before, sessions_now]: &mut [BTreeSet<SessionId>; 2],
    ) {
        let (were, are) = (Line::new(before, sessions_before), Line::new(after, sessions_now));
        self.is_complete &= fill(&mut self.joined, are.without(&were));
        self.is_complete &= fill(&mut self.left, were.without(&are));
        self.is_complete &= fill(&mut self.findings_raised, findings(after.1, before.1));
        self.is_complete &= fill(&mut self.findings_cleared, findings(before.1, after.1));
        let lock = before.1.or(after.1).filter(|_| !is_same_line(&were.holders, &are.holders));
        let path = lock.map(|lock| Arc::clone(&lock.path));
        let change = path.map(|lock| HolderChange { lock, before: were.holders, after: are.holders });
        self.is_complete &= fill(&mut self.holder_changed, change);
    }
}

/// Adds as many as there may be. False when that is not all.
fn fill<T>(rows: &mut Vec<T>, more: impl IntoIterator<Item = T>) -> bool {
    let mut more = more.into_iter();
    rows.extend(more.by_ref().take(ROWS_MAX - rows.len()));
    more.next().is_none()
}

/// The same znodes in the same order. One that was not read yet may be any of its name.
fn is_same_line(one: &[Membership], other: &[Membership]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.node == other.node && one.may_be(other))
}

/// The contenders of a lock at a moment.
#[derive(Debug, Default)]
struct Line {
    /// By directory and name.
    contenders: BTreeMap<(Arc<str>, Box<str>), Membership>,
    holders: Vec<Membership>,
}

impl Line {
    fn new((observatory, lock): (&Observatory, Option<&AssessedLock>), sessions: &mut BTreeSet<SessionId>) -> Self {
        let Some(lock) = lock else { return Self::default() };
        let contenders: BTreeMap<_, _> = observatory
            .mirror_of(lock)
            .into_iter()
            .flat_map(|mirror| lock.contenders(mirror))
            .map(|one| ((Arc::clone(one.directory), one.key.name().into()), Membership::of(lock, &one)))
            .collect();
        sessions.extend(contenders.values().filter_map(|one| one.session));
        let holders = lock.holders.iter().map(|hold| Membership {
            lock: Arc::clone(&lock.path),
            node: hold.name.clone(),
            czxid: hold.czxid,
            session: hold.owner,
            label: hold.label.clone(),
        });
        Self { holders: holders.collect(), contenders }
    }

    /// Those that another line does not have. One that was not read yet may be any of its name.
    fn without(&self, other: &Self) -> impl Iterator<Item = Membership> {
        let is_there = |place, one: &Membership| other.contenders.get(place).is_some_and(|known| known.may_be(one));
        self.contenders.iter().filter(move |(place, one)| !is_there(*place, one)).map(|(_, one)| one.clone())
    }
}

impl Membership {
    /// Nothing shows that they are two.
    fn may_be(&self, other: &Self) -> bool {
        self.czxid.is_none() || other.czxid.is_none() || self.czxid == other.czxid
    }

    fn of(lock: &AssessedLock, one: &ContenderRef<'_>) -> Self {
        let name = one.key.name();
        Self {
            lock: Arc::clone(&lock.path),
            node: name.into(),
            czxid: one.child.read.as_ref().map(|read| read.czxid),
            session: one.child.owner(),
            label: one.child.read.as_ref().and_then(|read| label_of(name, &read.payload)).map(Into::into),
        }
    }
}

/// The findings that a lock has and its other state has not, by kind and by the znodes they are about.
fn findings<'a>(
    of: Option<&'a AssessedLock>,
    other: Option<&'a AssessedLock>,
) -> impl Iterator<Item = FindingChange> + 'a {
    let known: &[Finding] = other.map_or(&[], |other| &other.assessment.findings);
    let is_known = |finding: &Finding| known.iter().any(|one| one.code == finding.code && one.paths == finding.paths);
    of.into_iter().flat_map(move |lock| {
        let changes = lock.assessment.findings.iter().filter(move |finding| !is_known(finding));
        changes.map(|finding| FindingChange {
            lock: Arc::clone(&lock.path),
            code: finding.code,
            text: finding.text.clone(),
        })
    })
}
