//! Spans, minutes and facts, looked for. Each look names the days it needs, so that no other partition is opened.

use std::ops::Range;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_postgres::client::types::ToSql;
use lockscope_postgres::client::{Client, Row};
use lockscope_postgres::{DatabaseError, READ_BYTES_MAX, rows_within};

use super::rows_write::lock_number;
use super::schema::day_of;
use crate::store::charges::list;
use crate::store::rows::{
    Charged, Charges, DENSITIES_READ_MAX, Density, DensityQuery, Fact, FactKind, FactQuery, Minute, MinuteQuery,
    ROWS_READ_MAX, Span, SpanEnd, SpanQuery,
};

/// Bytes of one row: more than any path and what stands beside it.
const ROW_BYTES_MAX: usize = 4 << 20;

struct Query {
    sql: String,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Query {
    /// Rows of an ensemble in a range of a column. `long`: columns that may be long; a row of which they are too long was
    /// written by somebody else, and is left out.
    fn new(columns: &str, table: &str, (time, long): (&str, &str), ensemble: i32, range: &Range<TimeMs>) -> Self {
        let lengths: Vec<String> =
            long.split(' ').map(|column| format!("coalesce(octet_length({column}), 0)::bigint")).collect();
        let sql = format!(
            "SELECT {columns} FROM lockscope.{table} WHERE ensemble = $1 AND day BETWEEN $2 AND $3
             AND {time} >= $4 AND {time} < $5 AND {} <= {ROW_BYTES_MAX}",
            lengths.join(" + ")
        );
        let (start, end) = (range.start.0, range.end.0);
        let values: Vec<Box<dyn ToSql + Sync + Send>> =
            vec![Box::new(ensemble), Box::new(day_of(start)), Box::new(day_of(end)), Box::new(start), Box::new(end)];
        Self { sql, values }
    }

    /// The place of one more value.
    fn value(&mut self, value: impl ToSql + Sync + Send + 'static) -> usize {
        self.values.push(Box::new(value));
        self.values.len()
    }

    fn only(&mut self, column: &str, value: Option<impl ToSql + Sync + Send + 'static>) {
        if let Some(value) = value {
            let at = self.value(value);
            self.sql.push_str(&format!(" AND {column} = ${at}"));
        }
    }

    fn of_lock(&mut self, path: Option<&str>) {
        self.only("lock", path.map(lock_number));
        self.only("path", path.map(str::to_owned));
    }

    async fn run(self, client: &Client, rest: &str, limit: usize) -> Result<Vec<Row>, DatabaseError> {
        let sql = format!("{} {rest} LIMIT {limit}", self.sql);
        let values: Vec<&(dyn ToSql + Sync)> =
            self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        match rows_within(client, &sql, &values, READ_BYTES_MAX).await? {
            (rows, true) => Ok(rows),
            (_, false) => Err(DatabaseError::Failed("the rows of the history are too long to be read".to_owned())),
        }
    }
}

fn boxed(row: &Row, at: usize) -> Result<Box<str>, DatabaseError> {
    Ok(row.try_get::<_, &str>(at)?.into())
}

fn boxed_or_none(row: &Row, at: usize) -> Result<Option<Box<str>>, DatabaseError> {
    Ok(row.try_get::<_, Option<&str>>(at)?.map(Into::into))
}

fn bytes(row: &Row, at: usize) -> Result<Box<[u8]>, DatabaseError> {
    Ok(row.try_get::<_, &[u8]>(at)?.into())
}

fn small(row: &Row, at: usize) -> Result<u32, DatabaseError> {
    Ok(u32::try_from(row.try_get::<_, i64>(at)?).unwrap_or(u32::MAX))
}

fn one_of<T: Copy>(all: &[T], row: &Row, at: usize) -> Result<T, DatabaseError> {
    let number: i16 = row.try_get(at)?;
    let found = usize::try_from(number).ok().and_then(|number| all.get(number));
    found.copied().ok_or_else(|| DatabaseError::Failed(format!("the history is damaged: {number} stands for nothing")))
}

const SPAN: &str = "czxid, path, recipe, node, session, label, host, joined_at, held_at, left_at, how, wait_ms,
    is_lower_bound, charges::text, roots::text, others_ms, root_others_ms, hand_off_ms, unknown_ms";

pub(super) async fn spans(client: &Client, ensemble: i32, query: &SpanQuery) -> Result<Vec<Span>, DatabaseError> {
    let SpanQuery { range, lock, session, host, joined_before, before, limit, give_up_at: _ } = query;
    // The only end by which the index is looked into: without it each page would go through all pages before it.
    let end = before.map_or(range.end, |(left_at, _)| range.end.min(left_at + 1));
    let long = "path recipe node label host charges::text roots::text";
    let mut wanted = Query::new(SPAN, "span", ("left_at", long), ensemble, &(range.start..end));
    wanted.of_lock(lock.as_deref());
    wanted.only("session", session.map(|session| session.0));
    wanted.only("host", host.as_deref().map(str::to_owned));
    if let Some(joined_before) = joined_before {
        let at = wanted.value(joined_before.0);
        wanted.sql.push_str(&format!(" AND joined_at < ${at}"));
    }
    if let Some((left_at, czxid)) = before {
        let (left_at, czxid) = (wanted.value(left_at.0), wanted.value(czxid.0));
        wanted.sql.push_str(&format!(" AND (left_at, czxid) < (${left_at}, ${czxid})"));
    }
    let rows = wanted.run(client, "ORDER BY left_at DESC, czxid DESC", *limit.min(&ROWS_READ_MAX)).await?;
    rows.iter().map(span).collect()
}

fn span(row: &Row) -> Result<Span, DatabaseError> {
    Ok(Span {
        czxid: Zxid(row.try_get(0)?),
        lock: boxed(row, 1)?,
        recipe: boxed(row, 2)?,
        node: boxed(row, 3)?,
        session: row.try_get::<_, Option<i64>>(4)?.map(SessionId),
        label: boxed_or_none(row, 5)?,
        host: boxed_or_none(row, 6)?,
        joined_at: TimeMs(row.try_get(7)?),
        held_at: row.try_get::<_, Option<i64>>(8)?.map(TimeMs),
        left_at: TimeMs(row.try_get(9)?),
        how: one_of(&SpanEnd::ALL, row, 10)?,
        wait_ms: row.try_get(11)?,
        is_lower_bound: row.try_get(12)?,
        charges: charges(row)?,
    })
}

fn charges(row: &Row) -> Result<Option<Charges>, DatabaseError> {
    let read = |at: usize| {
        let text: Option<&str> = row.try_get(at)?;
        let wrong = |error| DatabaseError::Failed(format!("the history is damaged: charges: {error}"));
        text.map(|text| list(text).map_err(wrong)).transpose()
    };
    let Some(direct) = read(13)? else { return Ok(None) };
    let roots = read(14)?.unwrap_or_else(|| direct.clone());
    Ok(Some(Charges {
        direct: Charged { to: direct, others_ms: row.try_get(15)? },
        root: Charged { to: roots, others_ms: row.try_get(16)? },
        hand_off_ms: row.try_get(17)?,
        unknown_ms: row.try_get(18)?,
    }))
}

const MINUTE: &str = "path, at, arrivals, acquired, gave_up, waits, holds, depth_max, waiting_ms, worst, top";

pub(super) async fn minutes(client: &Client, ensemble: i32, query: &MinuteQuery) -> Result<Vec<Minute>, DatabaseError> {
    let MinuteQuery { range, lock, limit, give_up_at: _ } = query;
    let mut wanted = Query::new(MINUTE, "minute", ("at", "path waits holds worst top"), ensemble, range);
    wanted.of_lock(lock.as_deref());
    let rows = wanted.run(client, "ORDER BY at, path COLLATE \"C\"", *limit.min(&ROWS_READ_MAX)).await?;
    rows.iter().map(minute).collect()
}

fn minute(row: &Row) -> Result<Minute, DatabaseError> {
    Ok(Minute {
        lock: boxed(row, 0)?,
        at: TimeMs(row.try_get(1)?),
        arrivals: small(row, 2)?,
        acquired: small(row, 3)?,
        gave_up: small(row, 4)?,
        waits: bytes(row, 5)?,
        holds: bytes(row, 6)?,
        depth_max: small(row, 7)?,
        waiting_ms: row.try_get(8)?,
        worst: boxed(row, 9)?,
        top: bytes(row, 10)?,
    })
}

pub(super) async fn densities(
    client: &Client,
    ensemble: i32,
    query: &DensityQuery,
) -> Result<Option<Vec<Density>>, DatabaseError> {
    let DensityQuery { range, lock, piece_ms, give_up_at: _ } = query;
    let columns = format!(
        "path, (at - $4) / {}, sum(arrivals + acquired + gave_up)::bigint, sum(waiting_ms)::bigint, worst",
        (*piece_ms).max(1)
    );
    let mut wanted = Query::new(&columns, "minute", ("at", "path worst"), ensemble, range);
    wanted.of_lock(lock.as_deref());
    let rows = wanted.run(client, "GROUP BY 1, 2, 5", DENSITIES_READ_MAX + 1).await?;
    if rows.len() > DENSITIES_READ_MAX {
        return Ok(None);
    }
    let read = |row: &Row| {
        Ok(Density {
            lock: boxed(row, 0)?,
            piece: row.try_get(1)?,
            events: row.try_get::<_, i64>(2)?.unsigned_abs(),
            waiting_ms: row.try_get(3)?,
            worst: boxed(row, 4)?,
        })
    };
    rows.iter().map(read).collect::<Result<_, _>>().map(Some)
}

pub(super) async fn facts(client: &Client, ensemble: i32, query: &FactQuery) -> Result<Vec<Fact>, DatabaseError> {
    let FactQuery { range, lock, kind, codes, limit, give_up_at: _ } = query;
    let columns = "number, at, path, kind, code, severity, text";
    let mut wanted = Query::new(columns, "fact", ("at", "path code text"), ensemble, range);
    wanted.of_lock(lock.as_deref());
    wanted.only("kind", kind.map(|kind| kind as i16));
    if let Some(codes) = codes {
        let names: Vec<String> = codes.iter().map(|code| code.name().to_owned()).collect();
        let at = wanted.value(names);
        wanted.sql.push_str(&format!(" AND code = ANY (${at})"));
    }
    let rows = wanted.run(client, "ORDER BY at DESC, number DESC", *limit.min(&ROWS_READ_MAX)).await?;
    let read = |row: &Row| {
        Ok(Fact {
            number: row.try_get::<_, i64>(0)?.unsigned_abs(),
            at: TimeMs(row.try_get(1)?),
            lock: boxed_or_none(row, 2)?,
            kind: one_of(&FactKind::ALL, row, 3)?,
            code: boxed(row, 4)?,
            severity: u8::try_from(row.try_get::<_, i16>(5)?).unwrap_or(u8::MAX),
            text: boxed(row, 6)?,
        })
    };
    rows.iter().map(read).collect()
}
