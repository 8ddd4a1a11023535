//! What an incident looked like, without names of locks and without numbers: by it others are found that were like it,
//! wherever they were.

use std::collections::BTreeSet;

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;

use super::{EARLIER_MS, Incident, IncidentEnd, IncidentQuery, Life, Run, search};
use crate::store::{Store, StoreError};

/// Incidents that were like another and are told. Overflow policy: of more, the newest are, and the rest is counted.
pub const ALIKE_MAX: usize = 10;
/// Locks of an incident that are told apart: so many or more are the same.
const LOCKS_MAX: usize = 3;

/// From when to when; without an end while it goes on.
type Stretch = (TimeMs, Option<TimeMs>);

/// Who waited for whom in an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitShape {
    /// Nobody waited for long.
    Nobody,
    /// Whoever waited held nothing meanwhile.
    Line,
    /// Some waited at one of its locks while they held another.
    Chain,
    /// They waited for each other: a verdict of one of its locks was `deadlocked` or `maybe_deadlocked`.
    Circle,
}

impl WaitShape {
    /// Every shape.
    pub const ALL: [Self; 4] = [Self::Nobody, Self::Line, Self::Chain, Self::Circle];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Line => "line",
            Self::Chain => "chain",
            Self::Circle => "circle",
        }
    }

    /// Of runs that belong together, and of the lives of their locks.
    pub(super) fn of(runs: &[Run], lives: &[&Life], (from, until): (TimeMs, TimeMs), victims: usize) -> Self {
        if runs.iter().any(|run| matches!(run.worst, Verdict::Deadlocked | Verdict::MaybeDeadlocked)) {
            return Self::Circle;
        }
        if victims == 0 {
            return Self::Nobody;
        }
        let within = |(began, ended): Stretch| {
            let (began, ended) = (began.max(from), ended.unwrap_or(until).min(until));
            (began < ended).then_some((began, ended))
        };
        let spans = |of: fn(&Life) -> Option<Stretch>| {
            let found = lives.iter().filter_map(move |life| Some((life.session?, &*life.lock, within(of(life)?)?)));
            let mut found: Vec<_> = found.collect();
            found.sort_unstable_by_key(|(session, ..)| *session);
            found
        };
        let (holds, waits) = (spans(Life::hold), spans(Life::wait));
        let is_of_holder = |(session, lock, (began, ended)): &(_, &str, (TimeMs, TimeMs))| {
            let first = holds.partition_point(|hold| hold.0 < *session);
            let its = holds.iter().skip(first).take_while(|hold| hold.0 == *session);
            its.take(PLACES_MAX).any(|(_, other, hold)| other != lock && hold.0 < *ended && *began < hold.1)
        };
        if waits.iter().any(is_of_holder) { Self::Chain } else { Self::Line }
    }
}

/// Holds of one session that are compared with one of its waits. Overflow policy: further ones are not.
const PLACES_MAX: usize = 200;

/// What an incident looked like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The recipe of the lock at its root; None where nobody was at it.
    pub recipe: Option<Box<str>>,
    /// The worst verdict.
    pub worst: Verdict,
    /// Findings by which somebody was hurt.
    pub findings: BTreeSet<Box<str>>,
    /// Who waited for whom.
    pub shape: WaitShape,
    /// How many locks: 1, 2, or 3 for more.
    pub locks: usize,
    /// The application of who was at its root; None where that is not known or may not be shown.
    pub application: Option<Box<str>>,
    /// How it ended.
    pub ended_by: IncidentEnd,
}

impl Signature {
    /// Of an incident, with the application of who was at its root.
    pub fn new(of: &Incident, application: Option<Box<str>>) -> Self {
        Self {
            recipe: of.recipe.clone(),
            worst: of.worst,
            findings: of.findings.clone(),
            shape: of.shape,
            locks: of.locks().len().min(LOCKS_MAX),
            application,
            ended_by: of.ended_by,
        }
    }

    /// Everything but how it ended is the same.
    pub fn is_like(&self, other: &Self) -> bool {
        let ended_by = other.ended_by;
        Self { ended_by, ..self.clone() } == *other
    }

    /// How it ended is the same as well; of what goes on that is not known yet.
    pub fn ended_like(&self, other: &Self) -> bool {
        self.is_like(other) && self.ended_by == other.ended_by && self.ended_by != IncidentEnd::Still
    }
}

/// Incidents like another.
#[derive(Clone, Debug, Default)]
pub struct Alike {
    /// The newest first, and whether each ended likewise.
    pub incidents: Vec<(Incident, bool)>,
    /// How many there are.
    pub count: usize,
    /// How many of them ended likewise.
    pub ended_likewise: usize,
    /// There may be more: older ones were not looked at.
    pub is_lower_bound: bool,
}

/// Incidents of the [`EARLIER_MS`] before another that were like it. `application` is that of who was at the root of one;
/// `query` says who may see what, and what a lock is now.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn alike(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    of: &Incident,
    application: &dyn Fn(&Incident) -> Option<Box<str>>,
) -> Result<Alike, StoreError> {
    let before = IncidentQuery { range: of.from - EARLIER_MS..of.from, ..query.clone() };
    let found = search(store, &before)?;
    let own = Signature::new(of, application(of));
    let is_other = |one: &Incident| one.from < of.from && one.runs.iter().all(|run| run.number != of.number);
    let mut alike = Alike { is_lower_bound: found.left_out > 0, ..Alike::default() };
    for one in found.incidents.into_iter().filter(is_other) {
        let signature = Signature::new(&one, application(&one));
        if !own.is_like(&signature) {
            continue;
        }
        let is_likewise = own.ended_like(&signature);
        alike.count += 1;
        alike.ended_likewise += usize::from(is_likewise);
        if alike.incidents.len() < ALIKE_MAX {
            alike.incidents.push((one, is_likewise));
        }
    }
    Ok(alike)
}
