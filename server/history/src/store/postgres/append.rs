//! Chunks and gaps, written: all of a call in one transaction, under the lock of the ensemble. Writing the same twice
//! changes nothing.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use lockscope_postgres::client::Transaction;
use lockscope_postgres::client::types::ToSql;
use lockscope_postgres::{DatabaseError, Session};

use super::chunks::{coded, is_first_part, signed};
use super::schema::{Daily, day_of};
use crate::codec::{Chunk, ChunkKind};
use crate::store::{Gap, StoreError};

/// What a row takes beside what is in it.
pub(super) const ROW_BYTES: i64 = 96;

/// How far it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) last_seq: u64,
    pub(super) day: Option<i32>,
}

/// Each chunk with its day, and how far it is written then. A day begins with a checkpoint, and none is gone back to.
pub(super) fn in_days(chunks: &[Chunk], written: Written) -> Result<(BTreeMap<i32, Vec<Chunk>>, Written), StoreError> {
    let Written { mut last_seq, mut day } = written;
    let mut days: BTreeMap<i32, Vec<Chunk>> = BTreeMap::new();
    for chunk in chunks {
        if chunk.seq < last_seq || chunk.seq == 0 {
            return Err(StoreError::Failed(format!("chunk {} comes after chunk {last_seq}", chunk.seq)));
        }
        last_seq = chunk.seq;
        let own = day_of(chunk.first_at.0);
        let of = match day {
            Some(newest) if chunk.kind != (ChunkKind::Checkpoint { part: 0 }) => newest,
            Some(newest) => newest.max(own),
            None => own,
        };
        day = Some(of);
        days.entry(of).or_default().push(chunk.clone());
    }
    Ok((days, Written { last_seq, day }))
}

pub(super) async fn append(
    session: &mut Session,
    ensemble: i32,
    days: BTreeMap<i32, Vec<Chunk>>,
    gaps: &[Gap],
) -> Result<(), DatabaseError> {
    for day in days.keys() {
        Daily::Chunk.make(session.client(), *day).await?;
    }
    let transaction = session.client().transaction().await?;
    for (day, chunks) in &days {
        append_day(&transaction, ensemble, *day, chunks).await?;
    }
    let sql = "INSERT INTO lockscope.gap VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (ensemble, after_seq, from_at) DO UPDATE SET to_at = excluded.to_at, why = excluded.why";
    for Gap { after_seq, from, to, why } in gaps {
        let values: [&(dyn ToSql + Sync); 5] = [&ensemble, &signed(*after_seq), &from.0, &to.0, &why.name()];
        transaction.execute(sql, &values).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn append_day(
    transaction: &Transaction<'_>,
    ensemble: i32,
    day: i32,
    chunks: &[Chunk],
) -> Result<(), DatabaseError> {
    let ([first, ..], [.., last]) = (chunks, chunks) else { return Ok(()) };
    // What is there already: one that has grown, or all of them, when an earlier call was carried out and its answer lost.
    let known = "SELECT count(*), count(*) FILTER (WHERE kind = 1 AND part = 0),
        coalesce(sum(octet_length(body)), 0)::bigint
        FROM lockscope.chunk WHERE ensemble = $1 AND day = $2 AND seq BETWEEN $3 AND $4";
    let known = transaction.query_one(known, &[&ensemble, &day, &signed(first.seq), &signed(last.seq)]).await?;
    let (known, known_checkpoints, known_bytes): (i64, i64, i64) =
        (known.try_get(0)?, known.try_get(1)?, known.try_get(2)?);
    let insert = transaction
        .prepare(
            "INSERT INTO lockscope.chunk VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (ensemble, seq, day) DO UPDATE
             SET last_at = excluded.last_at, zxid = excluded.zxid, crc = excluded.crc, body = excluded.body",
        )
        .await?;
    let insert = &insert;
    try_join_all(chunks.iter().map(|chunk| async move {
        let (kind, part) = coded(chunk.kind);
        let (seq, crc, body) = (signed(chunk.seq), i64::from(chunk.crc), &chunk.body[..]);
        let (first_at, last_at, zxid) = (chunk.first_at.0, chunk.last_at.0, chunk.zxid.0);
        let values: [&(dyn ToSql + Sync); 10] =
            [&day, &ensemble, &seq, &first_at, &last_at, &zxid, &kind, &part, &crc, &body];
        transaction.execute(insert, &values).await
    }))
    .await?;
    let count = chunks.iter().map(|chunk| chunk.seq).collect::<std::collections::BTreeSet<_>>().len();
    let new = signed(count as u64) - known;
    let checkpoints = chunks.iter().filter(|chunk| is_first_part(chunk.kind)).count();
    let body_bytes: usize = chunks.iter().map(|chunk| chunk.body.len()).sum();
    let bytes = signed(body_bytes as u64) - known_bytes + new * ROW_BYTES;
    let least = chunks.iter().map(|chunk| chunk.first_at.0).min().unwrap_or_default();
    let most = chunks.iter().map(|chunk| chunk.last_at.0).max().unwrap_or_default();
    let zxid = chunks.iter().map(|chunk| chunk.zxid.0).max().unwrap_or_default();
    let sql = "INSERT INTO lockscope.day VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (ensemble, day) DO UPDATE SET first_seq = least(day.first_seq, excluded.first_seq),
        last_seq = greatest(day.last_seq, excluded.last_seq), first_at = least(day.first_at, excluded.first_at),
        last_at = greatest(day.last_at, excluded.last_at), zxid = greatest(day.zxid, excluded.zxid),
        chunks = day.chunks + excluded.chunks, checkpoints = day.checkpoints + excluded.checkpoints,
        bytes = day.bytes + excluded.bytes, gone_at = NULL";
    let (first_seq, last_seq) = (signed(first.seq), signed(last.seq));
    let checkpoints = signed(checkpoints as u64) - known_checkpoints;
    let values: [&(dyn ToSql + Sync); 10] =
        [&ensemble, &day, &first_seq, &last_seq, &least, &most, &zxid, &new, &checkpoints, &bytes];
    transaction.execute(sql, &values).await?;
    Ok(())
}
