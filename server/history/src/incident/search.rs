//! Incidents of a range of a recording.

use std::ops::Range;
use std::time::Instant;

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;

use super::{Incident, Life, Run, connect, runs};
use crate::derive::HARMFUL;
use crate::store::rows::{Fact, FactKind, FactQuery, ROWS_READ_MAX, SpanQuery};
use crate::store::{Store, StoreError};

/// Runs of which incidents are made. Overflow policy: of more, the newest are, and that is said.
pub const RUNS_MAX: usize = 500;
/// Lives of one run that are looked at. Overflow policy: of more, the newest are, and the incident is a lower bound.
pub const LIVES_A_RUN_MAX: usize = 2_000;
/// Lives of all runs together that are looked at: of many runs each has fewer, but never less than [`LIVES_A_RUN_MIN`].
pub const LIVES_MAX: usize = 100_000;
/// Lives of one run that are looked at in any case.
pub const LIVES_A_RUN_MIN: usize = 100;
/// Changes of verdicts that are read for one question; of more it is given up.
const FACTS_MAX: usize = 200_000;
/// Changes of verdicts before the range that are looked at, for what began earlier.
const FACTS_BEFORE_MAX: usize = 2 * ROWS_READ_MAX;
/// How far around the range is looked for the beginnings and the ends of what lies in it.
const AROUND_MS: i64 = 7 * 86_400_000;
/// Whoever waited or held in a run and left later than this after it is not looked at.
const LATER_MS: i64 = 600_000;
/// What happens this soon after a run's end may have ended it.
const SOON_MS: i64 = 1_000;
/// Changes of one lock's verdict that are looked at for earlier incidents.
const EARLIER_FACTS_MAX: usize = 2_000;
/// How far back earlier incidents are looked for.
pub const EARLIER_MS: i64 = 30 * 86_400_000;

#[derive(Clone, Debug, Default)]
pub struct Present {
    pub is_in_trouble: bool,
    pub is_live: bool,
    pub lives: Vec<Life>,
}

#[derive(Clone)]
pub struct IncidentQuery<'a> {
    pub range: Range<TimeMs>,
    pub now: TimeMs,
    /// Whether a lock may be looked at.
    pub sees: &'a dyn Fn(&str) -> bool,
    pub present: &'a dyn Fn(&str) -> Present,
    pub give_up_at: Instant,
}

#[derive(Clone, Debug, Default)]
pub struct IncidentsFound {
    /// The newest first.
    pub incidents: Vec<Incident>,
    /// Runs that were left out, which are older.
    pub left_out: usize,
}

/// The incidents that overlap a range.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn search(store: &dyn Store, query: &IncidentQuery<'_>) -> Result<IncidentsFound, StoreError> {
    let (found, left_out) = runs_in(store, query)?;
    Ok(IncidentsFound { incidents: incidents_of(store, query, found)?, left_out })
}

/// The incidents that runs are, the newest first.
pub(super) fn incidents_of(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    mut found: Vec<Run>,
) -> Result<Vec<Incident>, StoreError> {
    let (mut lives, mut is_cut) = (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
    let most = (LIVES_MAX / found.len().max(1)).clamp(LIVES_A_RUN_MIN, LIVES_A_RUN_MAX);
    for run in &mut found {
        let present = (query.present)(&run.lock);
        if run.is_open() && !present.is_in_trouble {
            run.cut();
        }
        let (of_run, is_lower_bound) = lives_of(store, query, run, present.lives, most)?;
        lives.push(of_run);
        is_cut.push(is_lower_bound);
    }
    let incident = |group: Vec<usize>| {
        let runs = group.iter().filter_map(|one| found.get(*one).cloned()).collect();
        let lives: Vec<&Life> = group.iter().filter_map(|one| lives.get(*one)).flatten().collect();
        let is_lower_bound = group.iter().any(|one| is_cut.get(*one) == Some(&true));
        Incident::new(runs, lives, query.now, is_lower_bound)
    };
    let groups = connect(&found, &lives, query.now);
    let mut incidents: Vec<Incident> = groups.into_iter().map(incident).filter(Incident::is_harm).collect();
    incidents.sort_by_key(|incident| std::cmp::Reverse((incident.from, incident.number)));
    Ok(incidents)
}

/// The incident that a run with this number belongs to; None where there is none that may be seen.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn incident_of(store: &dyn Store, query: &IncidentQuery<'_>, number: u64) -> Result<Option<Incident>, StoreError> {
    let mut range = query.range.clone();
    let mut known: Option<Incident> = None;
    // What is connected with it may be connected with more.
    for _ in 0..4 {
        let wider = IncidentQuery { range: range.clone(), ..*query };
        let all = search(store, &wider)?.incidents;
        let found = all.into_iter().find(|incident| incident.runs.iter().any(|run| run.number == number));
        let Some(found) = found else { break };
        let is_same = known.as_ref().is_some_and(|known| known.runs.len() == found.runs.len());
        range = found.from..found.until(query.now) + 1;
        known = Some(found);
        if is_same {
            break;
        }
    }
    Ok(known)
}

/// Who held or waited at the locks of an incident while it lasted.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn lives_in(store: &dyn Store, query: &IncidentQuery<'_>, incident: &Incident) -> Result<Vec<Life>, StoreError> {
    let mut all = Vec::new();
    for run in &incident.runs {
        let there = (query.present)(&run.lock).lives;
        all.extend(lives_of(store, query, run, there, LIVES_A_RUN_MAX)?.0);
    }
    Ok(super::distinct(all.iter().collect()).into_iter().cloned().collect())
}

/// Earlier runs of a lock with the same verdict as their worst, the oldest first.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn earlier(
    store: &dyn Store,
    lock: &str,
    worst: Verdict,
    before: TimeMs,
    give_up_at: Instant,
) -> Result<Vec<Run>, StoreError> {
    let query = FactQuery {
        range: before - EARLIER_MS..before,
        lock: Some(lock.into()),
        kind: Some(FactKind::Verdict),
        limit: EARLIER_FACTS_MAX,
        give_up_at: Some(give_up_at),
        ..FactQuery::default()
    };
    let mut facts = store.facts(&query)?;
    facts.reverse();
    let gaps = store.gaps(query.range)?;
    let is_like = |run: &Run| run.worst == worst && run.to.is_some_and(|to| before.since(to) > super::QUIET_MS);
    Ok(runs(&facts, &gaps).into_iter().filter(is_like).collect())
}

/// The runs that overlap the range, the oldest first, and how many older ones were left out.
fn runs_in(store: &dyn Store, query: &IncidentQuery<'_>) -> Result<(Vec<Run>, usize), StoreError> {
    let end = query.now.max(query.range.end).min(query.range.end + AROUND_MS);
    let (mut facts, is_whole) = facts(store, query, query.range.start..end + 1, FACTS_MAX)?;
    if !is_whole {
        return Err(StoreError::TooLong);
    }
    let around = query.range.start - AROUND_MS..query.range.start;
    facts.extend(self::facts(store, query, around.clone(), FACTS_BEFORE_MAX)?.0);
    facts.sort_unstable_by_key(|fact| fact.number);
    let gaps = store.gaps(around.start..end + 1)?;
    let overlaps = |run: &Run| run.from < query.range.end && run.until(query.now) >= query.range.start;
    let mut found: Vec<Run> = runs(&facts, &gaps).into_iter().filter(overlaps).collect();
    let left_out = found.len().saturating_sub(RUNS_MAX);
    found.drain(..left_out);
    Ok((found, left_out))
}

/// Those of a range that may be seen, and whether that is all of it: what may not be seen is read as well.
fn facts(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    range: Range<TimeMs>,
    most: usize,
) -> Result<(Vec<Fact>, bool), StoreError> {
    let (mut found, mut is_whole) = (Vec::new(), true);
    for (kind, codes) in [(FactKind::Verdict, None), (FactKind::Finding, Some(&HARMFUL[..]))] {
        let give_up_at = Some(query.give_up_at);
        let of_kind = FactQuery { range: range.clone(), kind: Some(kind), codes, give_up_at, ..FactQuery::default() };
        is_whole &= facts_of(store, query, of_kind, most, &mut found)?;
    }
    Ok((found, is_whole))
}

/// Those of one kind, and whether that is all of it.
fn facts_of(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    mut of_page: FactQuery,
    most: usize,
    found: &mut Vec<Fact>,
) -> Result<bool, StoreError> {
    let mut read = 0;
    loop {
        let page = store.facts(&of_page)?;
        read += page.len();
        let last = page.last().filter(|_| page.len() == ROWS_READ_MAX).map(|fact| fact.at);
        found.extend(page.into_iter().filter(|fact| fact.lock.as_deref().is_some_and(|lock| (query.sees)(lock))));
        match last {
            // Of one millisecond no more than a page is looked at.
            Some(at) if read < most => of_page.range.end = at,
            last => return Ok(last.is_none()),
        }
    }
}

/// Lives that touch a run, and whether there are more.
fn lives_of(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    run: &Run,
    there: Vec<Life>,
    most: usize,
) -> Result<(Vec<Life>, bool), StoreError> {
    let until = run.until(query.now);
    let spans = |range: Range<TimeMs>| {
        let (lock, give_up_at) = (Some(run.lock.clone()), Some(query.give_up_at));
        store.spans(&SpanQuery { range, lock, give_up_at, limit: most, ..SpanQuery::default() })
    };
    let soon = until + SOON_MS;
    let within = spans(run.from..soon + 1)?;
    let later = if soon < query.now { spans(soon + 1..(until + LATER_MS).max(soon + 2))? } else { Vec::new() };
    let is_more = within.len() >= most || later.len() >= most;
    let began = |life: &Life| life.joined_at <= until;
    let lives = within.into_iter().chain(later).map(Life::from).chain(there).filter(began);
    Ok((lives.collect(), is_more))
}
