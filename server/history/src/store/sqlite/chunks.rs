//! Chunks and gaps in the file of a day.

use std::ops::RangeInclusive;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::error::failed;
use crate::codec::{BODY_BYTES_MAX, Chunk, ChunkKind};
use crate::store::{ChunkHead, Gap, GapReason, StoreError};

const HEAD: &str = "seq, first_at, last_at, zxid, kind, part";

/// What the file of a day holds, as far as all of it is kept in mind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) first_seq: u64,
    pub(super) last_seq: u64,
    pub(super) first_at: i64,
    pub(super) last_at: i64,
    pub(super) zxid: i64,
    pub(super) chunks: u64,
    pub(super) checkpoints: u64,
}

impl Totals {
    pub(super) fn add(&mut self, chunk: &Chunk) {
        if self.chunks == 0 {
            let (first_at, last_at) = (chunk.first_at.0, chunk.last_at.0);
            *self = Self { first_seq: chunk.seq, first_at, last_at, zxid: chunk.zxid.0, ..Self::default() };
        }
        if self.chunks == 0 || chunk.seq > self.last_seq {
            self.chunks += 1;
            self.checkpoints += u64::from(is_first_part(chunk.kind));
        }
        self.last_seq = chunk.seq;
        self.first_at = self.first_at.min(chunk.first_at.0);
        self.last_at = self.last_at.max(chunk.last_at.0);
        self.zxid = self.zxid.max(chunk.zxid.0);
    }
}

fn is_first_part(kind: ChunkKind) -> bool {
    kind == ChunkKind::Checkpoint { part: 0 }
}

/// Numbers count from 1 and never reach the sign.
fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn unsigned(value: i64, column: usize) -> rusqlite::Result<u64> {
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

fn kind_of(kind: i64, part: i64) -> rusqlite::Result<ChunkKind> {
    match (kind, u32::try_from(part)) {
        (0, Ok(0)) => Ok(ChunkKind::Events),
        (1, Ok(part)) => Ok(ChunkKind::Checkpoint { part }),
        _ => Err(rusqlite::Error::IntegralValueOutOfRange(4, kind)),
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<ChunkHead> {
    Ok(ChunkHead {
        seq: unsigned(row.get(0)?, 0)?,
        first_at: TimeMs(row.get(1)?),
        last_at: TimeMs(row.get(2)?),
        zxid: Zxid(row.get(3)?),
        kind: kind_of(row.get(4)?, row.get(5)?)?,
    })
}

fn whole(row: &Row<'_>) -> rusqlite::Result<Chunk> {
    let ChunkHead { seq, first_at, last_at, zxid, kind } = head(row)?;
    let crc: i64 = row.get(6)?;
    let body = row.get_ref(7)?.as_blob().map_err(|_| rusqlite::Error::IntegralValueOutOfRange(7, 0))?;
    // Whatever stands there: a wrong checksum is found by whoever decodes.
    let body = body.get(..body.len().min(BODY_BYTES_MAX)).unwrap_or_default().into();
    Ok(Chunk { seq, first_at, last_at, zxid, kind, crc: u32::try_from(crc).unwrap_or(0), body })
}

pub(super) fn insert(transaction: &Transaction<'_>, chunk: &Chunk) -> Result<(), StoreError> {
    let Chunk { seq, first_at, last_at, zxid, kind, crc, body } = chunk;
    let (kind, part) = match kind {
        ChunkKind::Events => (0, 0),
        ChunkKind::Checkpoint { part } => (1, *part),
    };
    let mut statement = transaction
        .prepare(
            "INSERT INTO chunk VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (seq) DO UPDATE SET last_at = ?3, zxid = ?4, crc = ?7, body = ?8",
        )
        .map_err(failed)?;
    statement
        .execute(params![signed(*seq), first_at.0, last_at.0, zxid.0, kind, part, i64::from(*crc), &body[..]])
        .map_err(failed)?;
    Ok(())
}

pub(super) fn insert_gap(transaction: &Connection, gap: &Gap) -> Result<(), StoreError> {
    let Gap { after_seq, from, to, why } = gap;
    transaction
        .execute(
            "INSERT OR REPLACE INTO gap VALUES (?1, ?2, ?3, ?4)",
            params![signed(*after_seq), from.0, to.0, why.name()],
        )
        .map_err(failed)?;
    Ok(())
}

pub(super) fn totals(connection: &Connection) -> Result<Totals, StoreError> {
    let count = |sql: &str| connection.query_row(sql, [], |row| unsigned(row.get(0)?, 0)).map_err(failed);
    let chunks = count("SELECT count(*) FROM chunk")?;
    if chunks == 0 {
        return Ok(Totals::default());
    }
    let checkpoints = count("SELECT count(*) FROM chunk WHERE kind = 1 AND part = 0")?;
    let (first_seq, last_seq) = (count("SELECT min(seq) FROM chunk")?, count("SELECT max(seq) FROM chunk")?);
    let of = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
    let (first_at, zxid) = (of("SELECT min(first_at) FROM chunk")?, of("SELECT max(zxid) FROM chunk")?);
    // The end of a chunk is after its beginning, and chunks are short: the newest by either end last.
    let last_at = of("SELECT max(last_at) FROM chunk
        WHERE seq = (SELECT max(seq) FROM chunk) OR first_at = (SELECT max(first_at) FROM chunk)")?;
    Ok(Totals { first_seq, last_seq, first_at, last_at, zxid, chunks, checkpoints })
}

pub(super) fn gaps(connection: &Connection) -> Result<Vec<Gap>, StoreError> {
    let mut statement = connection
        .prepare("SELECT after_seq, from_at, to_at, why FROM gap ORDER BY after_seq, from_at")
        .map_err(failed)?;
    let read = |row: &Row<'_>| {
        let why: String = row.get(3)?;
        // A later program may know further reasons.
        let why = GapReason::of(&why).unwrap_or(GapReason::Damaged);
        Ok(Gap { after_seq: unsigned(row.get(0)?, 0)?, from: TimeMs(row.get(1)?), to: TimeMs(row.get(2)?), why })
    };
    let gaps = statement.query_map([], read).map_err(failed)?;
    gaps.collect::<Result<_, _>>().map_err(failed)
}

pub(super) fn signed_range(seqs: &RangeInclusive<u64>) -> [i64; 2] {
    [signed(*seqs.start()), signed(*seqs.end())]
}

/// Of each chunk, the newest first: when it begins, whether a checkpoint begins with it, and its bytes.
pub(super) fn sizes(
    connection: &Connection,
    seqs: &RangeInclusive<u64>,
) -> Result<Vec<(TimeMs, bool, u64)>, StoreError> {
    let sql = "SELECT first_at, kind = 1 AND part = 0, length(body) FROM chunk WHERE seq BETWEEN ?1 AND ?2
        ORDER BY seq DESC";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let read = |row: &Row<'_>| Ok((TimeMs(row.get(0)?), row.get(1)?, unsigned(row.get(2)?, 2)?));
    let sizes = statement.query_map(signed_range(seqs), read).map_err(failed)?;
    sizes.collect::<Result<_, _>>().map_err(failed)
}

pub(super) fn from(connection: &Connection, seq: u64, limit: usize) -> Result<Vec<Chunk>, StoreError> {
    let sql = format!("SELECT {HEAD}, crc, body FROM chunk WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let chunks = statement.query_map(params![signed(seq), signed(limit as u64)], whole).map_err(failed)?;
    chunks.collect::<Result<_, _>>().map_err(failed)
}

fn one(connection: &Connection, rest: &str, value: i64) -> Result<Option<ChunkHead>, StoreError> {
    let sql = format!("SELECT {HEAD} FROM chunk WHERE {rest}");
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    statement.query_row([value], head).optional().map_err(failed)
}

pub(super) fn head_at(connection: &Connection, at: TimeMs) -> Result<Option<ChunkHead>, StoreError> {
    one(connection, "seq = (SELECT max(seq) FROM chunk WHERE first_at <= ?1)", at.0)
}

/// The same behind a number.
pub(super) fn head_of(connection: &Connection, zxid: Zxid, behind: u64) -> Result<Option<ChunkHead>, StoreError> {
    let rest = format!("seq = (SELECT min(seq) FROM chunk WHERE zxid >= ?1 AND seq > {behind})");
    one(connection, &rest, zxid.0)
}

pub(super) fn checkpoint_before(connection: &Connection, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
    one(connection, "kind = 1 AND part = 0 AND seq <= ?1 ORDER BY seq DESC LIMIT 1", signed(seq))
}

pub(super) fn checkpoint_after(connection: &Connection, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
    one(connection, "kind = 1 AND part = 0 AND seq >= ?1 ORDER BY seq LIMIT 1", signed(seq))
}

pub(super) fn remove_below(connection: &Connection, seq: u64, limit: usize) -> Result<u64, StoreError> {
    let sql = "DELETE FROM chunk WHERE seq IN (SELECT seq FROM chunk WHERE seq < ?1 ORDER BY seq LIMIT ?2)";
    let removed = connection.execute(sql, params![signed(seq), signed(limit as u64)]).map_err(failed)?;
    Ok(removed as u64)
}

pub(super) fn used_bytes(connection: &Connection) -> Result<u64, StoreError> {
    let value = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let pages = value("page_count")?.saturating_sub(value("freelist_count")?);
    Ok(u64::try_from(pages.saturating_mul(value("page_size")?)).unwrap_or(0))
}
