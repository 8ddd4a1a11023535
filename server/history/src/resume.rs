//! Where a process goes on that was started again: the model as it was recorded last, and the rows of the last moments that
//! were derived by the one before and not written, since it was killed. They are derived once more, of the recording.

use std::collections::BTreeSet;

use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;

use crate::derive::{self, Deriver, MINUTE_MS, Tap, minute_of};
use crate::historian::{FLUSH_MS, MINUTES_FLUSH_MS, ROWS_FLUSH_MS};
use crate::replay::{ReplayError, Rewound, Taken};
use crate::store::rows::{Fact, FactQuery, Rows, Span, SpanQuery};
use crate::store::{ChunkHead, Gap, Store, StoreError};

/// Chunks that are gone through once more beyond those that the model and the lives need. Where a minute reaches back
/// further, its figures stay as they were written last.
const CHUNKS_MAX: u64 = 128;
/// Lives and facts that are older than this were written, unless the store failed.
const LIVES_WRITTEN_MS: i64 = (ROWS_FLUSH_MS + FLUSH_MS) as i64 + derive::SETTLE_MS + 3_000;
/// The same of minutes that are under way.
const WRITTEN_MS: i64 = MINUTES_FLUSH_MS as i64 + LIVES_WRITTEN_MS;

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
    let (stretches, is_whole) = stretches_for(store, head, since)?;
    let last = stretches.last().into_iter().copied().collect();
    let (observatory, deriver, is_whole) = match followed(store, stretches) {
        Ok((observatory, deriver)) => (observatory, deriver, is_whole),
        // What lies before the last gap is damaged. The model needs none of it.
        Err(ReplayError::InGap(_)) => {
            let (observatory, deriver) = followed(store, last)?;
            (observatory, deriver, false)
        }
        Err(error) => return Err(error),
    };
    rows_of(store, observatory, deriver, since, is_whole)
}

/// What was recorded without a break, from a checkpoint to a chunk.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    checkpoint: ChunkHead,
    head: ChunkHead,
}

/// Replays some stretches, and between two of them does what is done behind a gap while it is recorded.
fn followed(store: &dyn Store, stretches: Vec<Stretch>) -> Result<(Observatory, Deriver), ReplayError> {
    let (mut tap, mut deriver, mut is_first) = (Tap::default(), Deriver::default(), true);
    let mut events = Vec::new();
    let mut observatory = None;
    for Stretch { checkpoint, head } in stretches {
        let mut has_begun = false;
        let mut each = |model: &mut Observatory, taken: Taken| {
            let Taken { now, observation, is_checkpoint } = taken;
            if is_checkpoint {
                model.apply(now, observation);
                return;
            }
            if !std::mem::replace(&mut has_begun, true) {
                tap = Tap::default();
                tap.recall(model, now, &mut events);
                if std::mem::replace(&mut is_first, false) {
                    deriver.recall(now, std::mem::take(&mut events));
                } else {
                    events.clear();
                    Tap::default().all(model, checkpoint.first_at, &mut events);
                    deriver.begin(checkpoint.first_at, std::mem::take(&mut events));
                }
            }
            derive::apply(&mut tap, model, now, observation, &mut events);
            events.drain(..).for_each(|(at, event)| deriver.take(at, event));
            deriver.advance(now);
        };
        observatory = Some(Rewound::followed(store, checkpoint, head, &mut each)?.into_observatory());
    }
    let observatory = observatory.ok_or(ReplayError::NothingKept { before: None, after: None })?;
    Ok((observatory, deriver))
}

/// Keeps of the rows those that are not written.
fn rows_of(
    store: &dyn Store,
    observatory: Observatory,
    mut deriver: Deriver,
    since: TimeMs,
    is_whole: bool,
) -> Result<Resumed, ReplayError> {
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

/// From the newest checkpoint on from which everything since an instant can be derived; false where there is none, and the
/// one is taken from which on the most can be. Lives go back as far as they must: checkpoints are seconds apart, and few
/// chunks are between two of them.
fn stretches_for(store: &dyn Store, head: ChunkHead, since: TimeMs) -> Result<(Vec<Stretch>, bool), ReplayError> {
    let nothing = ReplayError::NothingKept { before: None, after: None };
    let newest = store.checkpoint_before(head.seq)?.ok_or(nothing)?;
    let gaps = store.gaps(since..TimeMs(i64::MAX))?;
    let mut stretches = vec![Stretch { checkpoint: newest, head }];
    let mut checkpoint = newest;
    let is_whole = loop {
        if checkpoint.first_at <= since {
            break true;
        }
        let Some(before) = store.checkpoint_before(checkpoint.seq.saturating_sub(1))? else {
            // Nothing is older: before it nothing was derived either.
            break checkpoint.seq == 1;
        };
        let is_enough = checkpoint.first_at <= head.last_at - LIVES_WRITTEN_MS;
        if is_enough && newest.seq - before.seq > CHUNKS_MAX {
            break false;
        }
        let between = gaps.iter().filter(|gap| (before.seq..checkpoint.seq).contains(&gap.after_seq));
        match last_before(store, between, checkpoint)? {
            Break::None => stretches.iter_mut().take(1).for_each(|first| first.checkpoint = before),
            Break::Behind(head) => stretches.insert(0, Stretch { checkpoint: before, head }),
            Break::Lost => break false,
        }
        checkpoint = before;
    };
    Ok((stretches, is_whole))
}

/// How the recording goes on up to a checkpoint.
enum Break {
    /// Without a break: in a gap nobody looked, and nothing was lost.
    None,
    /// It ended with a chunk, and the checkpoint begins it anew.
    Behind(ChunkHead),
    /// It ended with one that is not kept.
    Lost,
}

fn last_before<'a>(
    store: &dyn Store,
    gaps: impl Iterator<Item = &'a Gap>,
    checkpoint: ChunkHead,
) -> Result<Break, StoreError> {
    for gap in gaps {
        let next = store.chunks(gap.after_seq + 1, 1)?;
        if next.first().is_none_or(|next| next.seq != checkpoint.seq) {
            continue;
        }
        let last = store.chunks(gap.after_seq, 1)?;
        let last = last.first().filter(|last| last.seq == gap.after_seq);
        return Ok(last.map_or(Break::Lost, |last| Break::Behind(last.into())));
    }
    Ok(Break::None)
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
