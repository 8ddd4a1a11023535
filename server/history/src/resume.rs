//! Where a process goes on that was started again: the model as it was recorded last, and the rows of the last moments that
//! were derived by the one before and not written, since it was killed. They are derived once more, of the recording.

use std::collections::BTreeSet;

use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

use crate::derive::{self, Deriver, MINUTE_MS, Tap, minute_of};
use crate::historian::{MINUTES_FLUSH_MS, ROWS_FLUSH_MS};
use crate::replay::{ReplayError, Rewound, Taken};
use crate::store::rows::{Fact, FactQuery, Rows, Span, SpanQuery};
use crate::store::{ChunkHead, Store, StoreError};

/// Chunks that are gone through once more beyond those that the model needs. Where a minute reaches back further, its
/// figures stay as they were written last.
const CHUNKS_MAX: u64 = 128;
/// What is older than this was written, unless the store failed.
const WRITTEN_MS: i64 = (MINUTES_FLUSH_MS + ROWS_FLUSH_MS) as i64 + derive::SETTLE_MS + 3_000;

/// Where to go on.
#[derive(Debug)]
pub struct Resumed {
    /// The model.
    pub observatory: Observatory,
    /// What derives rows of it, with the rows that are missing, and with all that it had followed; without that where the
    /// minute that was under way can't be derived anew.
    pub deriver: Deriver,
}

/// Replays the end of a recording.
///
/// # Errors
/// Nothing is kept, or the store can't be read.
pub fn resume(store: &dyn Store) -> Result<Resumed, ReplayError> {
    let Some(head) = store.head_at(TimeMs(i64::MAX))? else {
        return Err(ReplayError::NothingKept { before: None, after: None });
    };
    let since = minute_of(head.last_at - WRITTEN_MS);
    let (checkpoint, is_whole) = checkpoint_for(store, &head, since)?;
    let (mut tap, mut deriver, mut has_begun) = (Tap::default(), Deriver::default(), false);
    let mut events = Vec::new();
    let mut each = |model: &mut Observatory, taken: Taken| {
        let Taken { now, observation, is_checkpoint } = taken;
        if is_checkpoint {
            model.apply(now, observation);
            return;
        }
        if !std::mem::replace(&mut has_begun, true) {
            tap.recall(model, now, &mut events);
            deriver.recall(now, std::mem::take(&mut events));
        }
        derive::apply(&mut tap, model, now, observation, &mut events);
        events.drain(..).for_each(|(at, event)| deriver.take(at, event));
        deriver.advance(now);
    };
    let rewound = Rewound::followed(store, checkpoint, &mut each)?;
    let observatory = rewound.into_observatory();
    let Some(until) = deriver.now() else { return Ok(Resumed { observatory, deriver: Deriver::default() }) };
    if !is_whole {
        // Of the minute only a part would be derived; lives and facts are what they are.
        let rows = Rows { minutes: Vec::new(), ..deriver.finish() };
        let mut deriver = Deriver::default();
        deriver.resume(Vec::new(), rows.facts.iter().map(|fact| fact.number).max().unwrap_or(0));
        deriver.put_back(missing_of(store, rows, since, until)?);
        return Ok(Resumed { observatory, deriver });
    }
    let mut rows = deriver.complete();
    rows.minutes.extend(deriver.under_way());
    deriver.put_back(missing_of(store, rows, since, until)?);
    Ok(Resumed { observatory, deriver })
}

/// The newest checkpoint from which on everything since an instant can be derived; false where there is none, and the one
/// from which on the most can be: behind a gap, or behind too many chunks.
fn checkpoint_for(store: &dyn Store, head: &ChunkHead, since: TimeMs) -> Result<(ChunkHead, bool), ReplayError> {
    let nothing = ReplayError::NothingKept { before: None, after: None };
    let newest = store.checkpoint_before(head.seq)?.ok_or(nothing)?;
    let gaps = store.gaps(since..TimeMs(i64::MAX))?;
    let mut checkpoint = newest;
    while checkpoint.first_at > since {
        let before = store.checkpoint_before(checkpoint.seq.saturating_sub(1))?;
        let is_gap = |before: &ChunkHead| gaps.iter().any(|gap| (before.seq..checkpoint.seq).contains(&gap.after_seq));
        match before.filter(|before| before.seq < checkpoint.seq && newest.seq - before.seq <= CHUNKS_MAX) {
            // Nothing is older: before it nothing was derived either.
            None if checkpoint.seq == 1 => return Ok((checkpoint, true)),
            Some(before) if !is_gap(&before) => checkpoint = before,
            None | Some(_) => return Ok((checkpoint, false)),
        }
    }
    Ok((checkpoint, true))
}

/// The rows that are not written. Lives are written in the order in which they end, and facts in that of their numbers.
fn missing_of(store: &dyn Store, rows: Rows, since: TimeMs, until: TimeMs) -> Result<Rows, StoreError> {
    let Rows { spans, minutes, facts } = rows;
    Ok(Rows {
        spans: missing_spans(store, spans, until)?,
        minutes: minutes.into_iter().filter(|minute| minute.at >= since).collect(),
        facts: missing_facts(store, facts)?,
    })
}

fn missing_spans(store: &dyn Store, spans: Vec<Span>, until: TimeMs) -> Result<Vec<Span>, StoreError> {
    let Some(oldest) = spans.iter().map(|span| span.left_at).min() else { return Ok(spans) };
    let range = oldest..until + MINUTE_MS;
    let newest = store.spans(&SpanQuery { range, limit: 1, ..SpanQuery::default() })?;
    let Some(last_at) = newest.first().map(|span| span.left_at) else { return Ok(spans) };
    let range = last_at..last_at + 1;
    let limit = crate::store::rows::ROWS_READ_MAX;
    let of_last: BTreeSet<Zxid> =
        store.spans(&SpanQuery { range, limit, ..SpanQuery::default() })?.iter().map(|span| span.czxid).collect();
    let is_missing =
        |span: &Span| span.left_at > last_at || (span.left_at == last_at && !of_last.contains(&span.czxid));
    Ok(spans.into_iter().filter(is_missing).collect())
}

fn missing_facts(store: &dyn Store, facts: Vec<Fact>) -> Result<Vec<Fact>, StoreError> {
    let newest = store.facts(&FactQuery { limit: 1, ..FactQuery::default() })?;
    let last = newest.first().map_or(0, |fact| fact.number);
    Ok(facts.into_iter().filter(|fact| fact.number > last).collect())
}
