//! How much happened when, and what stands out: for a time axis.

use std::collections::BTreeMap;

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_view::past::{Bucket, Mark, Marks};

use super::{Question, chosen, readable, view_verdict};
use crate::derive::{MINUTE_MS, verdict_of};
use crate::store::StoreError;
use crate::store::rows::{DensityQuery, Fact, FactKind, FactQuery, ROWS_READ_MAX};

const BUCKETS: i64 = 240;

/// How much happened when in the range, and what stands out: the newest `limit`. Only of one lock, unless `path` is empty.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn marks(question: &Question<'_>, path: &str, limit: usize) -> Result<Marks, StoreError> {
    let range = &question.range;
    let bucket_ms = (range.end.since(range.start) / BUCKETS / MINUTE_MS + 1) * MINUTE_MS;
    let marks = newest(question, path, limit)?;
    Ok(Marks {
        ensemble: question.ensemble.to_owned(),
        bucket_ms,
        buckets: buckets(question, path, bucket_ms)?,
        marks,
        coverage: question.coverage()?,
    })
}

/// How much happened in each piece of the range; there is none of a piece in which nothing happened.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn buckets(question: &Question<'_>, path: &str, bucket_ms: i64) -> Result<Vec<Bucket>, StoreError> {
    let begin = TimeMs(question.range.start.0.div_euclid(MINUTE_MS) * MINUTE_MS);
    let (range, give_up_at) = (begin..question.range.end, Some(question.give_up_at));
    let query = DensityQuery { range, lock: chosen(path), piece_ms: bucket_ms, give_up_at };
    let densities = question.store.densities(&query)?;
    let mut buckets: BTreeMap<i64, (u64, i64, Verdict)> = BTreeMap::new();
    for one in densities.iter().filter(|one| question.scope.covers(question.ensemble, &one.lock)) {
        let (events, waiting_ms, worst) = buckets.entry(one.piece).or_insert((0, 0, Verdict::Free));
        *events = events.saturating_add(one.events);
        *waiting_ms = waiting_ms.saturating_add(one.waiting_ms);
        *worst = (*worst).max(verdict_of(&one.worst).unwrap_or(Verdict::Unknown));
    }
    let bucket = |(piece, (events, waiting_ms, worst))| Bucket {
        at_ms: begin.0 + piece * bucket_ms,
        events,
        waiting_ms,
        worst: view_verdict(worst),
    };
    Ok(buckets.into_iter().map(bucket).collect())
}

/// The newest releases by Lockscope itself, of so many.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn releases(question: &Question<'_>, path: &str, limit: usize) -> Result<Vec<TimeMs>, StoreError> {
    let (range, give_up_at) = (question.range.clone(), Some(question.give_up_at));
    let (lock, kind) = (chosen(path), Some(FactKind::Release));
    let facts = question.store.facts(&FactQuery { range, lock, kind, limit, give_up_at, ..FactQuery::default() })?;
    Ok(facts.iter().filter(|fact| sees(question, fact)).map(|fact| fact.at).collect())
}

/// The newest that may be seen, gaps among them.
fn newest(question: &Question<'_>, path: &str, limit: usize) -> Result<Vec<Mark>, StoreError> {
    let (range, give_up_at) = (question.range.clone(), Some(question.give_up_at));
    let mut query = FactQuery { range: range.clone(), lock: chosen(path), give_up_at, ..FactQuery::default() };
    let mut found: Vec<Mark> = Vec::new();
    loop {
        let page = question.store.facts(&query)?;
        let last = page.last().filter(|_| page.len() == ROWS_READ_MAX).map(|fact| fact.at);
        let seen = page.into_iter().filter(|fact| sees(question, fact));
        found.extend(seen.take(limit.saturating_sub(found.len())).map(|fact| mark(fact, question)));
        match last {
            // Of one millisecond no more than a page is shown.
            Some(at) if found.len() < limit => query.range.end = at,
            _ => break,
        }
    }
    let gaps = question.store.gaps(range.clone())?.into_iter().filter(|gap| range.contains(&gap.from));
    found.extend(gaps.map(|gap| Mark {
        at_ms: gap.from.0,
        kind: FactKind::Gap.name().into(),
        code: gap.why.name().to_owned(),
        severity: 1,
        path: None,
        text: format!("Nothing is known of {} ms: {}.", gap.to.since(gap.from), gap.why),
    }));
    found.sort_by_key(|mark| mark.at_ms);
    found.drain(..found.len().saturating_sub(limit));
    Ok(found)
}

fn sees(question: &Question<'_>, fact: &Fact) -> bool {
    let Some(path) = &fact.lock else { return true };
    let Question { scope, ensemble, .. } = question;
    match fact.kind {
        FactKind::Root => scope.covers_ensemble(ensemble) && scope.overlaps(path),
        FactKind::Finding
        | FactKind::Verdict
        | FactKind::Link
        | FactKind::Deadlock
        | FactKind::Gap
        | FactKind::Release
        | FactKind::Alert => scope.covers(ensemble, path),
    }
}

pub fn mark(fact: Fact, question: &Question<'_>) -> Mark {
    let text = readable(&fact.code, &fact.text, question.scope).to_owned();
    Mark {
        at_ms: fact.at.0,
        kind: fact.kind.name().into(),
        code: fact.code.into(),
        severity: fact.severity,
        path: fact.lock.map(Into::into),
        text,
    }
}
