//! What an incident looked like, without names of locks and without numbers: by it others are found that were like it,
//! wherever they were.

use lockscope_view::past::{AlikeIncident, AlikeIncidents, IncidentSignature};

use super::view_verdict;
use crate::incident::{EARLIER_MS, Incident, IncidentQuery, search};
use crate::store::{Store, StoreError};

/// Incidents that were like another and are told. Overflow policy: of more, the newest are, and the rest is counted.
const ALIKE_MAX: usize = 10;
/// Locks of an incident that are told apart: so many or more are the same.
const LOCKS_MAX: usize = 3;

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
