//! Spans, minutes and facts as they are read: each in the file of its day. Locks and clients are numbers within a file.

use std::ops::Range;
use std::time::Instant;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::charges::ChargeReader;
use super::error::failed;
use super::files::Day;
use super::rows_write::ABSENT;
use super::schema::Content;
use super::{SqliteStore, connection, is_unusable};
use crate::store::StoreError;
use crate::store::rows::{
    DENSITIES_READ_MAX, Density, DensityQuery, Fact, FactKind, FactQuery, Minute, MinuteQuery, ROWS_READ_MAX, Span,
    SpanEnd, SpanQuery,
};

/// Runs a query over the days of a range until there are enough rows.
fn over_days<T>(
    store: &SqliteStore,
    range: &Range<TimeMs>,
    limit: usize,
    is_reversed: bool,
    give_up_at: Option<Instant>,
    query: impl Fn(&Connection, usize) -> rusqlite::Result<Vec<T>>,
) -> Result<Vec<T>, StoreError> {
    let mut files = store.row_files(range)?;
    if is_reversed {
        files.reverse();
    }
    let mut found = Vec::new();
    for path in files {
        if found.len() >= limit {
            break;
        }
        if connection::is_given_up(give_up_at) {
            return Err(StoreError::TooLong);
        }
        let rows = connection::read_made(&path, Content::Rows).and_then(|connection| {
            let Some(mut connection) = connection else { return Ok(Vec::new()) };
            connection::give_up_at(&mut connection, give_up_at)?;
            query(&connection, limit - found.len()).map_err(failed)
        });
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let day = Day::of_file(name, Content::Rows);
        match rows {
            Ok(rows) => {
                found.extend(rows);
                day.map(|day| store.unread.lock().remove(&day));
            }
            Err(why) if is_unusable(&why) => {
                tracing::error!(file = %path.display(), %why, "rows of a day can't be read");
                store.unread.lock().extend(day);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// A condition with what it is compared with, for what is asked for only.
fn only(sql: &mut String, values: &mut Vec<Value>, column: &str, value: Option<Value>) {
    if let Some(value) = value {
        values.push(value);
        sql.push_str(&format!(" AND {column} = ?{}", values.len()));
    }
}

fn text(value: Option<&str>) -> Option<Value> {
    value.map(|value| Value::Text(value.to_owned()))
}

fn in_range(range: &Range<TimeMs>) -> Vec<Value> {
    vec![Value::Integer(range.start.0), Value::Integer(range.end.0)]
}

pub(super) fn spans(store: &SqliteStore, query: &SpanQuery) -> Result<Vec<Span>, StoreError> {
    let SpanQuery { range, lock, session, host, joined_before, before, limit, give_up_at } = query;
    // The only end by which the index is looked into: without it each page would go through all pages before it.
    let end = before.map_or(range.end, |(left_at, _)| range.end.min(left_at + 1));
    let mut values = in_range(&(range.start..end));
    let mut sql = " FROM span JOIN lock ON lock.id = span.lock
        LEFT JOIN client ON client.id = span.client WHERE left_at >= ?1 AND left_at < ?2"
        .to_owned();
    only(&mut sql, &mut values, "path", text(lock.as_deref()));
    only(&mut sql, &mut values, "session", session.map(|session| Value::Integer(session.0)));
    only(&mut sql, &mut values, "host", text(host.as_deref()));
    if let Some(joined_before) = joined_before {
        values.push(Value::Integer(joined_before.0));
        sql.push_str(&format!(" AND joined_at < ?{}", values.len()));
    }
    if let Some((left_at, czxid)) = before {
        values.extend([Value::Integer(left_at.0), Value::Integer(czxid.0)]);
        let last = values.len();
        sql.push_str(&format!(" AND (left_at, czxid) < (?{}, ?{last})", last - 1));
    }
    sql.push_str(" ORDER BY left_at DESC, czxid DESC LIMIT ");
    over_days(store, &(range.start..end), *limit.min(&ROWS_READ_MAX), true, *give_up_at, |connection, limit| {
        let charges = ChargeReader::of(connection)?;
        let columns = charges.columns();
        let mut statement = connection.prepare(&format!("SELECT {SPAN_COLUMNS}, {columns}{sql}{limit}"))?;
        statement.query_map(params_from_iter(&values), |row| span(row, &charges))?.collect()
    })
}

fn known(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Box<str>>> {
    let text: Option<Box<str>> = row.get(at)?;
    Ok(text.filter(|text| &**text != ABSENT))
}

fn one_of<T: Copy>(all: &[T], row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    let number: i64 = row.get(at)?;
    let found = usize::try_from(number).ok().and_then(|number| all.get(number));
    found.copied().ok_or(rusqlite::Error::IntegralValueOutOfRange(at, number))
}

const SPAN_COLUMNS: &str =
    "czxid, path, recipe, node, session, label, host, joined_at, held_at, left_at, how, wait_ms, is_lower_bound";
/// The first column behind them.
const CHARGES_AT: usize = 13;

fn span(row: &Row<'_>, charges: &ChargeReader<'_>) -> rusqlite::Result<Span> {
    Ok(Span {
        czxid: Zxid(row.get(0)?),
        lock: row.get(1)?,
        recipe: row.get(2)?,
        node: row.get(3)?,
        session: row.get::<_, Option<i64>>(4)?.map(SessionId),
        label: known(row, 5)?,
        host: known(row, 6)?,
        joined_at: TimeMs(row.get(7)?),
        held_at: row.get::<_, Option<i64>>(8)?.map(TimeMs),
        left_at: TimeMs(row.get(9)?),
        how: one_of(&SpanEnd::ALL, row, 10)?,
        wait_ms: row.get(11)?,
        is_lower_bound: row.get(12)?,
        charges: charges.read(row, CHARGES_AT)?,
    })
}

pub(super) fn minutes(store: &SqliteStore, query: &MinuteQuery) -> Result<Vec<Minute>, StoreError> {
    let MinuteQuery { range, lock, limit, give_up_at } = query;
    let mut values = in_range(range);
    let mut sql = "SELECT path, at, arrivals, acquired, gave_up, waits, holds, depth_max, waiting_ms, worst, top
        FROM minute JOIN lock ON lock.id = minute.lock WHERE at >= ?1 AND at < ?2"
        .to_owned();
    only(&mut sql, &mut values, "path", text(lock.as_deref()));
    sql.push_str(" ORDER BY at, path LIMIT ");
    over_days(store, range, *limit.min(&ROWS_READ_MAX), false, *give_up_at, |connection, limit| {
        let mut statement = connection.prepare(&format!("{sql}{limit}"))?;
        statement.query_map(params_from_iter(&values), minute)?.collect()
    })
}

fn minute(row: &Row<'_>) -> rusqlite::Result<Minute> {
    let bytes = |at: usize| Ok::<_, rusqlite::Error>(row.get::<_, Vec<u8>>(at)?.into_boxed_slice());
    Ok(Minute {
        lock: row.get(0)?,
        at: TimeMs(row.get(1)?),
        arrivals: row.get(2)?,
        acquired: row.get(3)?,
        gave_up: row.get(4)?,
        waits: bytes(5)?,
        holds: bytes(6)?,
        depth_max: row.get(7)?,
        waiting_ms: row.get(8)?,
        worst: row.get(9)?,
        top: bytes(10)?,
    })
}

pub(super) fn densities(store: &SqliteStore, query: &DensityQuery) -> Result<Vec<Density>, StoreError> {
    let DensityQuery { range, lock, piece_ms, give_up_at } = query;
    let mut values = in_range(range);
    let piece_ms = (*piece_ms).max(1);
    let mut sql = format!(
        "SELECT path, (at - ?1) / {piece_ms}, sum(arrivals + acquired + gave_up), sum(waiting_ms), worst
        FROM minute JOIN lock ON lock.id = minute.lock WHERE at >= ?1 AND at < ?2"
    );
    only(&mut sql, &mut values, "path", text(lock.as_deref()));
    sql.push_str(" GROUP BY 1, 2, 5 LIMIT ");
    let found = over_days(store, range, DENSITIES_READ_MAX + 1, false, *give_up_at, |connection, limit| {
        let mut statement = connection.prepare(&format!("{sql}{limit}"))?;
        statement.query_map(params_from_iter(&values), density)?.collect()
    })?;
    if found.len() > DENSITIES_READ_MAX { Err(StoreError::TooLong) } else { Ok(found) }
}

fn density(row: &Row<'_>) -> rusqlite::Result<Density> {
    let events: i64 = row.get(2)?;
    Ok(Density {
        lock: row.get(0)?,
        piece: row.get(1)?,
        events: events.unsigned_abs(),
        waiting_ms: row.get(3)?,
        worst: row.get(4)?,
    })
}

pub(super) fn facts(store: &SqliteStore, query: &FactQuery) -> Result<Vec<Fact>, StoreError> {
    let FactQuery { range, lock, kind, codes, limit, give_up_at } = query;
    let mut values = in_range(range);
    let mut sql = "SELECT number, at, path, kind, code, severity, text FROM fact
        LEFT JOIN lock ON lock.id = fact.lock WHERE at >= ?1 AND at < ?2"
        .to_owned();
    only(&mut sql, &mut values, "path", text(lock.as_deref()));
    only(&mut sql, &mut values, "kind", kind.map(|kind| Value::Integer(kind as i64)));
    if let Some(codes) = codes {
        // Names of the core: nothing that anybody wrote.
        let names: Vec<String> = codes.iter().map(|code| format!("'{}'", code.name())).collect();
        sql.push_str(&format!(" AND code IN ({})", names.join(", ")));
    }
    sql.push_str(" ORDER BY at DESC, number DESC LIMIT ");
    over_days(store, range, *limit.min(&ROWS_READ_MAX), true, *give_up_at, |connection, limit| {
        let mut statement = connection.prepare(&format!("{sql}{limit}"))?;
        statement.query_map(params_from_iter(&values), fact)?.collect()
    })
}

fn fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let number: i64 = row.get(0)?;
    Ok(Fact {
        number: number.unsigned_abs(),
        at: TimeMs(row.get(1)?),
        lock: row.get(2)?,
        kind: one_of(&FactKind::ALL, row, 3)?,
        code: row.get(4)?,
        severity: row.get(5)?,
        text: row.get(6)?,
    })
}
