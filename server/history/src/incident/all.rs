//! All incidents of a recording that has ended, however long it is: facts are read once, from the oldest on and piece by
//! piece, so that memory does not grow with them.

use std::ops::Range;

use lockscope_core::time::TimeMs;

use super::Run;
use super::run::RunFinder;
use super::search::{IncidentQuery, IncidentsFound, incidents_of};
use crate::derive::HARMFUL;
use crate::store::rows::{Fact, FactKind, FactQuery, ROWS_READ_MAX};
use crate::store::{Store, StoreError};

/// Runs of which incidents are made. Overflow policy: of more, the newest are, and that is said.
pub const ALL_RUNS_MAX: usize = 20_000;
/// Runs that overlap each other of which incidents are made. Overflow policy: of more, the longest are, and that is said.
const CLUSTER_MAX: usize = 2_000;
/// The piece of time that is read first; a piece with more facts than are read at once is halved, one with few is doubled.
const PIECE_MS: i64 = 3_600_000;

/// All incidents of `query.range`, the newest first. What is left out are runs: the oldest where there are more than
/// [`ALL_RUNS_MAX`], and, of more than 2,000 that overlap each other, the shortest of these.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn all(store: &dyn Store, query: &IncidentQuery<'_>) -> Result<IncidentsFound, StoreError> {
    let (runs, left_out) = runs_of(store, query)?;
    let mut found = IncidentsFound { incidents: Vec::new(), left_out };
    for mut cluster in clusters(runs, query.now) {
        let too_many = cluster.len().saturating_sub(CLUSTER_MAX);
        if too_many > 0 {
            cluster.sort_by_key(|run| std::cmp::Reverse(run.until(query.now).since(run.from)));
            cluster.truncate(CLUSTER_MAX);
            cluster.sort_by_key(|run| (run.from, run.number));
        }
        found.left_out += too_many;
        found.incidents.extend(incidents_of(store, query, cluster)?);
    }
    found.incidents.sort_by_key(|incident| std::cmp::Reverse((incident.from, incident.number)));
    Ok(found)
}

/// Runs in order, cut where none is under way: what is not of one piece is not connected.
fn clusters(runs: Vec<Run>, now: TimeMs) -> Vec<Vec<Run>> {
    let (mut all, mut until) = (Vec::<Vec<Run>>::new(), None);
    for run in runs {
        let end = run.until(now);
        match all.last_mut().filter(|_| until.is_some_and(|until| run.from <= until)) {
            Some(cluster) => cluster.push(run),
            None => all.push(vec![run]),
        }
        until = until.max(Some(end));
    }
    all
}

/// Every run, the oldest first, and how many older ones were left out.
fn runs_of(store: &dyn Store, query: &IncidentQuery<'_>) -> Result<(Vec<Run>, usize), StoreError> {
    let (start, end) = (query.range.start, query.range.end.min(query.now + 1));
    let mut finder = RunFinder::new(&store.gaps(start..end)?);
    let (mut from, mut piece_ms, mut left_out) = (start, PIECE_MS, 0);
    while from < end {
        let to = (from + piece_ms).min(end);
        let (facts, is_whole) = facts_of(store, query, from..to)?;
        // Of one millisecond no more than are read at once are looked at.
        if !is_whole && piece_ms > 1 {
            piece_ms = (piece_ms / 2).max(1);
            continue;
        }
        facts.iter().for_each(|fact| finder.take(fact));
        left_out += finder.settle(to, ALL_RUNS_MAX);
        if facts.len() < ROWS_READ_MAX / 4 {
            piece_ms = piece_ms.saturating_mul(2).min(PIECE_MS * 24);
        }
        from = to;
    }
    let mut runs = finder.finish();
    let more = runs.len().saturating_sub(ALL_RUNS_MAX);
    runs.drain(..more);
    Ok((runs, left_out + more))
}

/// Those of a piece of time that may be seen, the oldest first, and whether that is all of them.
fn facts_of(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    range: Range<TimeMs>,
) -> Result<(Vec<Fact>, bool), StoreError> {
    let (mut found, mut is_whole) = (Vec::new(), true);
    for (kind, codes) in [(FactKind::Verdict, None), (FactKind::Finding, Some(&HARMFUL[..]))] {
        let give_up_at = Some(query.give_up_at);
        let of_kind = FactQuery { range: range.clone(), kind: Some(kind), codes, give_up_at, ..FactQuery::default() };
        let facts = store.facts(&of_kind)?;
        is_whole &= facts.len() < ROWS_READ_MAX;
        found.extend(facts);
    }
    found.retain(|fact| fact.lock.as_deref().is_some_and(|lock| (query.sees)(lock)));
    found.sort_unstable_by_key(|fact| fact.number);
    Ok((found, is_whole))
}
