//! What is too old, or too much, goes. A day of chunks that an ensemble lets go is gone for its readers at once; the
//! partition is dropped when all let it go, and where others keep it for longer, the rows are removed after a while. Rows
//! of spans, facts and minutes go with their partition when the ensemble that keeps them longest does not want them.

use lockscope_core::time::TimeMs;
use lockscope_postgres::client::Client;
use lockscope_postgres::client::types::ToSql;
use lockscope_postgres::{DatabaseError, Session};

use super::chunks::signed;
use super::schema::{self, Daily, day_of};
use crate::store::day::DAY_MS;
use crate::store::{Removed, Retention};

/// Rows that are removed at once where no partition can be dropped.
const ROWS_AT_ONCE: i64 = 20_000;
/// How long others are waited for before rows are removed one by one.
const OTHERS_MS: i64 = 3_600_000;

struct Kept {
    day: i32,
    first_seq: i64,
    last_seq: i64,
    last_at: i64,
    bytes: u64,
}

pub(super) async fn retain(
    session: &mut Session,
    ensemble: i32,
    now: TimeMs,
    retention: Retention,
) -> Result<Removed, DatabaseError> {
    let client = session.client();
    let ages = [retention.chunks_ms, retention.spans_ms, retention.minutes_ms];
    let sql = "UPDATE lockscope.ensemble SET chunks_ms = $2, spans_ms = $3, minutes_ms = $4 WHERE id = $1
        AND (chunks_ms, spans_ms, minutes_ms) IS DISTINCT FROM ($2, $3, $4)";
    client.execute(sql, &[&ensemble, &ages[0], &ages[1], &ages[2]]).await?;
    let mut removed = Removed::default();
    let mut days = kept(client, ensemble).await?;
    let mut bytes: u64 = days.iter().map(|day| day.bytes).sum();
    while let [oldest, _, ..] = &days[..] {
        if oldest.last_at >= now.0.saturating_sub(retention.chunks_ms) && bytes <= retention.chunk_bytes_max {
            break;
        }
        bytes = bytes.saturating_sub(oldest.bytes);
        let sql = "UPDATE lockscope.day SET gone_at = $3 WHERE ensemble = $1 AND day = $2";
        client.execute(sql, &[&ensemble, &oldest.day, &now.0]).await?;
        days.remove(0);
        removed.days += 1;
    }
    if let [only] = &days[..]
        && bytes > retention.chunk_bytes_max
    {
        removed.chunks = trim(client, ensemble, only).await?;
    }
    if removed != Removed::default() {
        let sql = "DELETE FROM lockscope.gap WHERE ensemble = $1 AND to_at <
            (SELECT min(first_at) FROM lockscope.day WHERE ensemble = $1 AND gone_at IS NULL)";
        client.execute(sql, &[&ensemble]).await?;
    }
    drop_chunks(client, ensemble, now).await?;
    for (table, column, own_ms) in [
        (Daily::Span, "spans_ms", retention.spans_ms),
        (Daily::Fact, "spans_ms", retention.spans_ms),
        (Daily::Minute, "minutes_ms", retention.minutes_ms),
    ] {
        drop_rows(client, ensemble, now, (table, column, own_ms)).await?;
    }
    Ok(removed)
}

async fn kept(client: &Client, ensemble: i32) -> Result<Vec<Kept>, DatabaseError> {
    let sql = "SELECT day, first_seq, last_seq, last_at, bytes FROM lockscope.day
        WHERE ensemble = $1 AND gone_at IS NULL ORDER BY day";
    let rows = client.query(sql, &[&ensemble]).await?;
    let read = |row: &lockscope_postgres::client::Row| {
        Ok(Kept {
            day: row.try_get(0)?,
            first_seq: row.try_get(1)?,
            last_seq: row.try_get(2)?,
            last_at: row.try_get(3)?,
            bytes: row.try_get::<_, i64>(4)?.unsigned_abs(),
        })
    };
    rows.iter().map(read).collect()
}

/// Makes room in the only day that is left: a quarter at a time; the newest checkpoint stays with all behind it.
async fn trim(client: &mut Client, ensemble: i32, only: &Kept) -> Result<u64, DatabaseError> {
    let wanted = only.first_seq + (only.last_seq - only.first_seq) / 4 + 1;
    let sql = "SELECT coalesce(
        (SELECT min(seq) FROM lockscope.chunk WHERE ensemble = $1 AND day = $2 AND kind = 1 AND part = 0 AND seq >= $3),
        (SELECT max(seq) FROM lockscope.chunk WHERE ensemble = $1 AND day = $2 AND kind = 1 AND part = 0))";
    let row = client.query_one(sql, &[&ensemble, &only.day, &wanted]).await?;
    let keep_from: Option<i64> = row.try_get(0)?;
    let Some(keep_from) = keep_from.filter(|seq| *seq > only.first_seq) else { return Ok(0) };
    let transaction = client.transaction().await?;
    let sql = "DELETE FROM lockscope.chunk WHERE ensemble = $1 AND day = $2 AND seq < $3";
    let removed = transaction.execute(sql, &[&ensemble, &only.day, &keep_from]).await?;
    let sql = format!(
        "UPDATE lockscope.day SET (first_seq, first_at, zxid, chunks, checkpoints, bytes) = (
            SELECT min(seq), min(first_at), max(zxid), count(*), count(*) FILTER (WHERE kind = 1 AND part = 0),
            coalesce(sum(octet_length(body)), 0)::bigint + count(*) * {}
            FROM lockscope.chunk WHERE ensemble = $1 AND day = $2) WHERE ensemble = $1 AND day = $2",
        super::append::ROW_BYTES
    );
    transaction.execute(&sql, &[&ensemble, &only.day]).await?;
    transaction.commit().await?;
    Ok(removed)
}

/// Drops partitions that nobody keeps, and removes what others' keeping holds back.
async fn drop_chunks(client: &mut Client, ensemble: i32, now: TimeMs) -> Result<(), DatabaseError> {
    let sql = "SELECT day, bool_and(gone_at IS NOT NULL), coalesce(bool_or(ensemble = $1 AND gone_at < $2), false)
        FROM lockscope.day GROUP BY day HAVING bool_or(ensemble = $1 AND gone_at IS NOT NULL) ORDER BY day";
    let long_ago = now.0.saturating_sub(OTHERS_MS);
    for row in client.query(sql, &[&ensemble, &long_ago]).await? {
        let (day, by_all, is_long_ago): (i32, bool, bool) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if by_all {
            drop_day(client, day).await?;
        } else if is_long_ago && remove(client, Daily::Chunk, ensemble, day).await? {
            client.execute("DELETE FROM lockscope.day WHERE ensemble = $1 AND day = $2", &[&ensemble, &day]).await?;
        }
    }
    Ok(())
}

/// Drops a day of chunks, unless somebody keeps it by now.
async fn drop_day(client: &mut Client, day: i32) -> Result<(), DatabaseError> {
    let transaction = client.transaction().await?;
    schema::lock(&transaction).await?;
    let sql = "SELECT EXISTS (SELECT FROM lockscope.day WHERE day = $1 AND gone_at IS NULL)";
    if !transaction.query_one(sql, &[&day]).await?.try_get::<_, bool>(0)? {
        match Daily::Chunk.drop(&transaction, day).await {
            Ok(()) => {}
            // Somebody reads it. With the next round.
            Err(DatabaseError::TooLong) => return Ok(()),
            Err(error) => return Err(error),
        }
        transaction.execute("DELETE FROM lockscope.day WHERE day = $1", &[&day]).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// The same of rows, whose days nobody counts.
async fn drop_rows(
    client: &mut Client,
    ensemble: i32,
    now: TimeMs,
    (table, column, own_ms): (Daily, &str, i64),
) -> Result<(), DatabaseError> {
    let sql = format!("SELECT coalesce(max({column}), 0) FROM lockscope.ensemble");
    let longest_ms: i64 = client.query_one(&sql, &[]).await?.try_get(0)?;
    let before = |ms: i64| day_of(now.0.saturating_sub(ms).saturating_sub(DAY_MS + 1));
    let (drop_until, remove_until) = (before(longest_ms.max(own_ms)), before(own_ms));
    for day in table.days(client).await?.into_iter().take_while(|day| *day <= remove_until) {
        if day > drop_until {
            remove(client, table, ensemble, day).await?;
            continue;
        }
        let transaction = client.transaction().await?;
        schema::lock(&transaction).await?;
        match table.drop(&transaction, day).await {
            Ok(()) => transaction.commit().await?,
            Err(DatabaseError::TooLong) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes some rows of an ensemble's day; whether that was all.
async fn remove(client: &Client, table: Daily, ensemble: i32, day: i32) -> Result<bool, DatabaseError> {
    let partition = table.partition(day);
    let sql = format!(
        "DELETE FROM {partition} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {partition} WHERE ensemble = $1 LIMIT $2))"
    );
    let values: [&(dyn ToSql + Sync); 2] = [&ensemble, &ROWS_AT_ONCE];
    let removed = client.execute(&sql, &values).await?;
    Ok(signed(removed) < ROWS_AT_ONCE)
}
