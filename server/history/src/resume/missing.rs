//! Which of the rows that were derived once more are not written: lives and facts are written in the order in which they are
//! derived, so that all behind the last one that is there are missing.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

use super::SET_BACK_MAX_MS;
use crate::derive::{MINUTE_MS, no_less};
use crate::store::rows::{Fact, FactQuery, Minute, MinuteQuery, ROWS_READ_MAX, Rows, Span, SpanQuery};
use crate::store::{Store, StoreError};

const SPANS_AT_ONCE: usize = 500;

/// The rows that are not written. What was derived begins with `from`; minutes are whole from `since` on.
pub(super) fn missing_of(
    store: &dyn Store,
    rows: Rows,
    (from, since): (TimeMs, TimeMs),
    until: TimeMs,
) -> Result<Rows, StoreError> {
    let Rows { spans, minutes, facts } = rows;
    let range = from..until + MINUTE_MS;
    let minutes = minutes.into_iter().filter(|minute| minute.at >= since).collect();
    Ok(Rows {
        spans: missing_spans(store, spans, range.clone())?,
        minutes: no_less_than_written(store, minutes, since)?,
        facts: missing_facts(store, facts, range)?,
    })
}

fn missing_spans(store: &dyn Store, spans: Vec<Span>, range: std::ops::Range<TimeMs>) -> Result<Vec<Span>, StoreError> {
    let derived: BTreeMap<Zxid, usize> = spans.iter().enumerate().map(|(at, span)| (span.czxid, at)).collect();
    let (mut written, mut last, mut before) = (BTreeSet::new(), None, None);
    while !derived.is_empty() {
        let query = SpanQuery { range: range.clone(), before, limit: SPANS_AT_ONCE, ..SpanQuery::default() };
        let some = store.spans(&query)?;
        written.extend(some.iter().map(|span| span.czxid).filter(|czxid| derived.contains_key(czxid)));
        last = last.max(some.iter().filter_map(|span| derived.get(&span.czxid)).max().copied());
        let Some(oldest) = some.last().filter(|_| some.len() == SPANS_AT_ONCE) else { break };
        // Clocks differ by a little: what comes from another one may lie behind it.
        let ended = last.and_then(|last| spans.get(last)).map(|span| span.left_at);
        if ended.is_some_and(|ended| oldest.left_at < ended - SET_BACK_MAX_MS) {
            break;
        }
        before = Some((oldest.left_at, oldest.czxid));
    }
    // Of those that ended together any may be there.
    let ended = last.and_then(|last| spans.get(last)).map(|span| span.left_at);
    let is_missing = |(at, span): &(usize, Span)| {
        !written.contains(&span.czxid) && (last.is_none_or(|last| *at > last) || Some(span.left_at) == ended)
    };
    Ok(spans.into_iter().enumerate().filter(is_missing).map(|(_, span)| span).collect())
}

/// A gap that the process before saw more of than it recorded, since the store failed, makes a minute no smaller. Of more locks
/// than are read at once the rest is as it was derived.
fn no_less_than_written(store: &dyn Store, minutes: Vec<Minute>, since: TimeMs) -> Result<Vec<Minute>, StoreError> {
    let Some(last) = minutes.iter().map(|minute| minute.at).max() else { return Ok(minutes) };
    let mut written = BTreeMap::new();
    let mut at = since;
    while at <= last {
        let query = MinuteQuery { range: at..at + MINUTE_MS, limit: ROWS_READ_MAX, ..MinuteQuery::default() };
        written.extend(store.minutes(&query)?.into_iter().map(|minute| ((minute.lock.clone(), minute.at), minute)));
        at = at + MINUTE_MS;
    }
    let raised = |minute: Minute| match written.get(&(minute.lock.clone(), minute.at)) {
        Some(written) => no_less(minute, written),
        None => minute,
    };
    Ok(minutes.into_iter().map(raised).collect())
}

fn missing_facts(store: &dyn Store, facts: Vec<Fact>, range: std::ops::Range<TimeMs>) -> Result<Vec<Fact>, StoreError> {
    if facts.is_empty() {
        return Ok(facts);
    }
    let written = store.facts(&FactQuery { range, limit: ROWS_READ_MAX, ..FactQuery::default() })?;
    // By what they say: behind a clock that was set back numbers say nothing of when.
    let written: BTreeSet<_> = written.iter().map(said).collect();
    let behind = facts.iter().rposition(|fact| written.contains(&said(fact))).map_or(0, |last| last + 1);
    let mut number = newest_fact(store)?;
    let missing = facts.into_iter().skip(behind);
    Ok(missing
        .map(|fact| {
            number = fact.number.max(number + 1);
            Fact { number, ..fact }
        })
        .collect())
}

fn said(fact: &Fact) -> (TimeMs, Option<&str>, &'static str, &str, &str) {
    (fact.at, fact.lock.as_deref(), fact.kind.name(), &fact.code, &fact.text)
}

/// The number of the newest fact; 0 where there is none.
pub(super) fn newest_fact(store: &dyn Store) -> Result<u64, StoreError> {
    let newest = store.facts(&FactQuery { limit: 1, ..FactQuery::default() })?;
    Ok(newest.first().map_or(0, |fact| fact.number))
}
