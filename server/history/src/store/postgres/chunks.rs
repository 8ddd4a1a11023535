//! Chunks and gaps, looked for.

use std::ops::Range;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_postgres::client::types::ToSql;
use lockscope_postgres::client::{Client, Row};
use lockscope_postgres::{DatabaseError, READ_BYTES_MAX, rows_within};

use crate::codec::{BODY_BYTES_MAX, Chunk, ChunkKind};
use crate::store::{ChunkHead, Coverage, GAPS_READ_MAX, Gap, GapReason};

const HEAD: &str = "seq, first_at, last_at, zxid, kind, part";

/// Numbers count from 1 and never reach the sign.
pub(super) fn signed(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(super) fn is_first_part(kind: ChunkKind) -> bool {
    kind == ChunkKind::Checkpoint { part: 0 }
}

/// Kind and part, as the columns have them.
pub(super) fn coded(kind: ChunkKind) -> (i16, i64) {
    match kind {
        ChunkKind::Events => (0, 0),
        ChunkKind::Checkpoint { part } => (1, i64::from(part)),
    }
}

fn wrong(what: &str) -> DatabaseError {
    DatabaseError::Failed(format!("the history is damaged: {what}"))
}

fn head(row: &Row) -> Result<ChunkHead, DatabaseError> {
    let kind = match (row.try_get::<_, i16>(4)?, u32::try_from(row.try_get::<_, i64>(5)?)) {
        (0, Ok(0)) => ChunkKind::Events,
        (1, Ok(part)) => ChunkKind::Checkpoint { part },
        _ => return Err(wrong("a chunk is of no known kind")),
    };
    Ok(ChunkHead {
        seq: row.try_get::<_, i64>(0)?.unsigned_abs(),
        first_at: TimeMs(row.try_get(1)?),
        last_at: TimeMs(row.try_get(2)?),
        zxid: Zxid(row.try_get(3)?),
        kind,
    })
}

fn whole(row: &Row) -> Result<Chunk, DatabaseError> {
    let ChunkHead { seq, first_at, last_at, zxid, kind } = head(row)?;
    let crc: i64 = row.try_get(6)?;
    let body: &[u8] = row.try_get(7)?;
    // Whatever stands there: a wrong checksum is found by whoever decodes.
    let body = body.get(..body.len().min(BODY_BYTES_MAX)).unwrap_or_default().into();
    Ok(Chunk { seq, first_at, last_at, zxid, kind, crc: u32::try_from(crc).unwrap_or(0), body })
}

/// Which days may have what is looked for, and in which order.
pub(super) enum Look {
    /// The newest chunk that does not begin later.
    At(TimeMs),
    /// The oldest behind a number by whose end a transaction had been seen.
    Of(Zxid, u64),
    /// The newest checkpoint up to a number.
    CheckpointBefore(u64),
    /// The oldest from a number on.
    CheckpointAfter(u64),
}

impl Look {
    /// Of the days that may have it, and of the chunks of a day: the condition, where `$3` and `$4` are values.
    fn conditions(&self) -> (&'static str, &'static str) {
        match self {
            Self::At(_) => {
                ("first_at <= $2 AND $3::bigint = $3", "first_at <= $3 AND $4::bigint = $4 ORDER BY seq DESC")
            }
            Self::Of(..) => ("zxid >= $2 AND last_seq > $3", "zxid >= $3 AND seq > $4 ORDER BY seq"),
            Self::CheckpointBefore(_) => (
                "checkpoints > 0 AND first_seq <= $2 AND $3::bigint = $3",
                "kind = 1 AND part = 0 AND seq <= $3 AND $4::bigint = $4 ORDER BY seq DESC",
            ),
            Self::CheckpointAfter(_) => (
                "checkpoints > 0 AND last_seq >= $2 AND $3::bigint = $3",
                "kind = 1 AND part = 0 AND seq >= $3 AND $4::bigint = $4 ORDER BY seq",
            ),
        }
    }

    fn values(&self) -> (i64, i64) {
        match self {
            Self::At(at) => (at.0, 0),
            Self::Of(zxid, behind) => (zxid.0, signed(*behind)),
            Self::CheckpointBefore(seq) | Self::CheckpointAfter(seq) => (signed(*seq), 0),
        }
    }

    fn is_reversed(&self) -> bool {
        matches!(self, Self::At(_) | Self::CheckpointBefore(_))
    }

    /// Goes from day to day until one has it.
    pub(super) async fn find(&self, client: &Client, ensemble: i32) -> Result<Option<ChunkHead>, DatabaseError> {
        let (of_days, of_chunks) = self.conditions();
        let (first, second) = self.values();
        let order = if self.is_reversed() { "DESC" } else { "ASC" };
        let sql = format!(
            "SELECT day FROM lockscope.day WHERE ensemble = $1 AND gone_at IS NULL AND {of_days} ORDER BY day {order}"
        );
        let days = client.query(&sql, &[&ensemble, &first, &second]).await?;
        let sql =
            format!("SELECT {HEAD} FROM lockscope.chunk WHERE ensemble = $1 AND day = $2 AND {of_chunks} LIMIT 1");
        for day in days {
            let day: i32 = day.try_get(0)?;
            if let Some(row) = client.query_opt(&sql, &[&ensemble, &day, &first, &second]).await? {
                return head(&row).map(Some);
            }
        }
        Ok(None)
    }
}

pub(super) async fn from(client: &Client, ensemble: i32, seq: u64, limit: usize) -> Result<Vec<Chunk>, DatabaseError> {
    let sql = "SELECT day FROM lockscope.day WHERE ensemble = $1 AND gone_at IS NULL AND last_seq >= $2 ORDER BY day";
    let from = signed(seq);
    let days = client.query(sql, &[&ensemble, &from]).await?;
    let sql = format!(
        "SELECT {HEAD}, crc, body FROM lockscope.chunk WHERE ensemble = $1 AND day = $2 AND seq >= $3
             AND octet_length(body) <= {BODY_BYTES_MAX} ORDER BY seq LIMIT $4"
    );
    let (mut found, mut left) = (Vec::new(), READ_BYTES_MAX);
    for day in days {
        let wanted = signed((limit - found.len()) as u64);
        if wanted == 0 {
            break;
        }
        let day: i32 = day.try_get(0)?;
        let values: [&(dyn ToSql + Sync); 4] = [&ensemble, &day, &from, &wanted];
        let (rows, is_whole) = rows_within(client, &sql, &values, left).await?;
        for row in rows {
            left = left.saturating_sub(row.raw_size_bytes());
            found.push(whole(&row)?);
        }
        if !is_whole {
            // The rest comes with the next look.
            break;
        }
    }
    Ok(found)
}

pub(super) async fn gaps(client: &Client, ensemble: i32, range: Range<TimeMs>) -> Result<Vec<Gap>, DatabaseError> {
    let sql = "SELECT after_seq, from_at, to_at, why FROM lockscope.gap
        WHERE ensemble = $1 AND from_at < $2 AND to_at >= $3 AND octet_length(why) <= 64 ORDER BY after_seq DESC, from_at DESC LIMIT $4";
    let values: [&(dyn ToSql + Sync); 4] = [&ensemble, &range.end.0, &range.start.0, &(GAPS_READ_MAX as i64)];
    let mut gaps = Vec::new();
    for row in client.query(sql, &values).await? {
        gaps.push(Gap {
            after_seq: row.try_get::<_, i64>(0)?.unsigned_abs(),
            from: TimeMs(row.try_get(1)?),
            to: TimeMs(row.try_get(2)?),
            // A later program may know further reasons.
            why: GapReason::of(row.try_get(3)?).unwrap_or(GapReason::Damaged),
        });
    }
    gaps.reverse();
    Ok(gaps)
}

pub(super) async fn coverage(client: &Client, ensemble: i32) -> Result<Coverage, DatabaseError> {
    // The end is that of the newest day, by number: a clock may have been set back.
    let days = "SELECT min(first_at), (array_agg(last_at ORDER BY day DESC))[1], coalesce(max(last_seq), 0),
        coalesce(sum(chunks), 0)::bigint, coalesce(sum(checkpoints), 0)::bigint, coalesce(sum(bytes), 0)::bigint
        FROM lockscope.day WHERE ensemble = $1 AND gone_at IS NULL";
    let gaps = "SELECT count(*), least(coalesce(sum(to_at::numeric - from_at), 0), 9e18)::bigint, max(to_at)
        FROM lockscope.gap WHERE ensemble = $1";
    let days = client.query_one(days, &[&ensemble]).await?;
    let gaps = client.query_one(gaps, &[&ensemble]).await?;
    let count = |row: &Row, at: usize| Ok::<_, DatabaseError>(row.try_get::<_, i64>(at)?.unsigned_abs());
    let time = |row: &Row, at: usize| Ok::<_, DatabaseError>(row.try_get::<_, Option<i64>>(at)?.map(TimeMs));
    Ok(Coverage {
        from: time(&days, 0)?,
        to: time(&days, 1)?.max(time(&gaps, 2)?),
        last_seq: count(&days, 2)?,
        chunks: count(&days, 3)?,
        checkpoints: count(&days, 4)?,
        gaps: count(&gaps, 0)?,
        gap_ms: gaps.try_get(1)?,
        bytes: count(&days, 5)?,
    })
}
