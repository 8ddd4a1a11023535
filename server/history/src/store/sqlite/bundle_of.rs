//! A window of another store's recording as one SQLite file, read through what every store offers.

use std::fs::File;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use rusqlite::Connection;

use super::bundle::{PAGE_BYTES, describe, open, room};
use super::error::failed;
use super::rows_write::{Entry, write_some};
use super::{chunks, connection};
use crate::derive::MINUTE_MS;
use crate::store::bundle::{BundleError, BundleQuery};
use crate::store::rows::{FactQuery, MinuteQuery, ROWS_READ_MAX, Span, SpanQuery};
use crate::store::{CHUNKS_READ_MAX, Store, StoreError};

/// Makes it in the directory for temporary files.
pub(in crate::store) fn make(store: &dyn Store, ensemble: &str, query: &BundleQuery<'_>) -> Result<File, BundleError> {
    let directory = std::env::temp_dir();
    let (free, (mut connection, file)) = (room(&directory, 0)?, open(&directory, ensemble)?);
    let pages_max = i64::try_from(query.bytes_max.min(free) / PAGE_BYTES).unwrap_or(i64::MAX);
    connection.pragma_update(None, "max_page_count", pages_max).map_err(failed)?;
    connection::give_up_at(&mut connection, Some(query.give_up_at))?;
    match fill(&mut connection, store, query) {
        Ok(()) => Ok(file),
        // The bound or the disk: SQLite calls both the same.
        Err(BundleError::Store(StoreError::Full(why))) => {
            let written = file.metadata().map_or(0, |metadata| metadata.len());
            let has_room = room(&directory, 0).is_ok_and(|room| room.saturating_add(written) >= query.bytes_max);
            Err(if has_room { BundleError::TooLarge { fits_from: None } } else { StoreError::Full(why).into() })
        }
        Err(error) => Err(error),
    }
}

fn fill(connection: &mut Connection, store: &dyn Store, query: &BundleQuery<'_>) -> Result<(), BundleError> {
    if query.with_chunks {
        copy_chunks(connection, store, query)?;
    }
    copy_spans(connection, store, query)?;
    copy_minutes(connection, store, query)?;
    copy_facts(connection, store, query)?;
    describe(connection, query)?;
    Ok(())
}

/// The chunks of the window, from the checkpoint before it on, and its gaps.
fn copy_chunks(connection: &mut Connection, store: &dyn Store, query: &BundleQuery<'_>) -> Result<(), BundleError> {
    let begin = match store.head_at(query.range.start)? {
        Some(head) => store.checkpoint_before(head.seq)?,
        None => None,
    };
    let begin = match begin {
        Some(begin) => Some(begin),
        None => store.checkpoint_after(0)?,
    };
    let (Some(begin), Some(end)) = (begin, store.head_at(query.range.end - 1)?) else { return Ok(()) };
    let mut from = begin.seq;
    while from <= end.seq {
        in_time(query)?;
        let some = store.chunks(from, CHUNKS_READ_MAX)?;
        let Some(last) = some.last() else { break };
        from = last.seq + 1;
        let transaction = connection.transaction().map_err(failed)?;
        some.iter()
            .take_while(|chunk| chunk.seq <= end.seq)
            .try_for_each(|chunk| chunks::insert(&transaction, chunk))?;
        transaction.commit().map_err(failed)?;
    }
    let gaps = store.gaps(begin.first_at..query.range.end)?;
    gaps.iter().try_for_each(|gap| chunks::insert_gap(connection, gap))?;
    Ok(())
}

fn in_time(query: &BundleQuery<'_>) -> Result<(), StoreError> {
    if connection::is_given_up(Some(query.give_up_at)) { Err(StoreError::TooLong) } else { Ok(()) }
}

fn copy_spans(connection: &mut Connection, store: &dyn Store, query: &BundleQuery<'_>) -> Result<(), BundleError> {
    let mut before: Option<(TimeMs, Zxid)> = None;
    loop {
        in_time(query)?;
        let (range, give_up_at) = (query.range.clone(), Some(query.give_up_at));
        let spans = store.spans(&SpanQuery { range, before, give_up_at, ..SpanQuery::default() })?;
        before = spans.last().map(|span| (span.left_at, span.czxid));
        let is_last = spans.len() < ROWS_READ_MAX;
        let label = |span: Span| if query.with_labels { span } else { Span { label: None, ..span } };
        let seen: Vec<Span> = spans.into_iter().filter(|span| (query.sees)(&span.lock)).map(label).collect();
        let entries: Vec<Entry<'_>> = seen.iter().map(Entry::Span).collect();
        write_some(connection, &entries).map_err(failed)?;
        if is_last {
            return Ok(());
        }
    }
}

fn copy_minutes(connection: &mut Connection, store: &dyn Store, query: &BundleQuery<'_>) -> Result<(), BundleError> {
    let mut range = TimeMs(query.range.start.0.div_euclid(MINUTE_MS).saturating_mul(MINUTE_MS))..query.range.end;
    loop {
        in_time(query)?;
        let give_up_at = Some(query.give_up_at);
        let minutes = store.minutes(&MinuteQuery { range: range.clone(), give_up_at, ..MinuteQuery::default() })?;
        let entries: Vec<Entry<'_>> =
            minutes.iter().filter(|minute| (query.sees)(&minute.lock)).map(Entry::Minute).collect();
        write_some(connection, &entries).map_err(failed)?;
        let Some(last) = minutes.last().filter(|_| minutes.len() == ROWS_READ_MAX) else { return Ok(()) };
        // The last minute is read once more, as it may go on.
        if last.at == range.start {
            return Err(BundleError::TooLarge { fits_from: None });
        }
        range.start = last.at;
    }
}

fn copy_facts(connection: &mut Connection, store: &dyn Store, query: &BundleQuery<'_>) -> Result<(), BundleError> {
    let mut range = query.range.clone();
    loop {
        in_time(query)?;
        let give_up_at = Some(query.give_up_at);
        let facts = store.facts(&FactQuery { range: range.clone(), give_up_at, ..FactQuery::default() })?;
        // Facts may be of no lock.
        let seen = facts.iter().filter(|fact| fact.lock.as_ref().is_none_or(|lock| (query.sees)(lock)));
        let entries: Vec<Entry<'_>> = seen.map(Entry::Fact).collect();
        write_some(connection, &entries).map_err(failed)?;
        let Some(oldest) = facts.last().filter(|_| facts.len() == ROWS_READ_MAX) else { return Ok(()) };
        if oldest.at + 1 >= range.end {
            return Err(BundleError::TooLarge { fits_from: None });
        }
        range.end = oldest.at + 1;
    }
}
