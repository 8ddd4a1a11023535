//! What an incident looked like, without names of locks and without numbers: by it others are found that were like it,
//! wherever they were.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_view::past::{AlikeIncident, AlikeIncidents};

use super::{EARLIER_MS, Incident, IncidentQuery, IncidentSignature, Life, Run, WaitShape, search};
use crate::derive::view_verdict;
use crate::store::{Store, StoreError};

/// Incidents that were like another and are told. Overflow policy: of more, the newest are, and the rest is counted.
pub const ALIKE_MAX: usize = 10;
/// Locks of an incident that are told apart: so many or more are the same.
const LOCKS_MAX: usize = 3;

/// From when to when; without an end while it goes on.
type Stretch = (TimeMs, Option<TimeMs>);

/// Who waited for whom, in runs that belong together and the lives of their locks.
pub(super) fn shape_of(runs: &[Run], lives: &[&Life], (from, until): (TimeMs, TimeMs), victims: usize) -> WaitShape {
    if runs.iter().any(|run| matches!(run.worst, Verdict::Deadlocked | Verdict::MaybeDeadlocked)) {
        return WaitShape::Circle;
    }
    if victims == 0 {
        return WaitShape::Nobody;
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
    if waits.iter().any(is_of_holder) { WaitShape::Chain } else { WaitShape::Line }
}

/// Holds of one session that are compared with one of its waits. Overflow policy: further ones are not.
const PLACES_MAX: usize = 200;

/// What an incident looked like, with the application of who was at its root.
pub fn signature(of: &Incident, application: Option<String>) -> IncidentSignature {
    IncidentSignature {
        recipe: of.recipe.as_deref().map(Into::into),
        worst: view_verdict(of.worst),
        findings: of.findings.iter().map(|code| code.to_string()).collect(),
        shape: of.shape,
        locks: of.locks().len().min(LOCKS_MAX),
        application,
        ended_by: of.ended_by,
    }
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
    application: &dyn Fn(&Incident) -> Option<String>,
) -> Result<AlikeIncidents, StoreError> {
    let before = IncidentQuery { range: of.from - EARLIER_MS..of.from, ..query.clone() };
    let found = search(store, &before)?;
    let own = signature(of, application(of));
    let (mut count, mut ended_likewise, mut incidents) = (0, 0, Vec::new());
    let is_other = |one: &Incident| one.from < of.from && one.runs.iter().all(|run| run.number != of.number);
    for one in found.incidents.into_iter().filter(is_other) {
        let other = signature(&one, application(&one));
        if !own.is_like(&other) {
            continue;
        }
        let is_likewise = own.ended_like(&other);
        count += 1;
        ended_likewise += usize::from(is_likewise);
        if incidents.len() < ALIKE_MAX {
            incidents.push(AlikeIncident {
                id: one.id(),
                from_at_ms: one.from.0,
                lasted_ms: one.until(query.now).since(one.from),
                root_lock: one.root_lock().to_owned(),
                ended_by: one.ended_by,
                is_likewise,
            });
        }
    }
    let is_lower_bound = found.left_out > 0;
    Ok(AlikeIncidents { signature: own, count, ended_likewise, is_lower_bound, incidents, sentence: String::new() })
}
