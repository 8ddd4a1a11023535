//! The tables, and their partitions: one a day for each table whose rows go with their day.

use lockscope_postgres::client::{Client, Transaction};
use lockscope_postgres::{DatabaseError, Tables};

use crate::store::day::Day;

/// Steps from nothing to the present version; each stays as it is for ever.
pub(super) const TABLES: Tables = Tables { part: "history", steps: &[FIRST] };

/// `lock` is the beginning of the SHA-256 of `path`, which may be longer than an index takes. A `day` row says what an
/// ensemble keeps of a day of chunks; where it is gone, nobody may read them any more. `ages`: how long an ensemble keeps
/// rows.
const FIRST: &str = "
CREATE TABLE lockscope.ensemble (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, epoch bigint NOT NULL DEFAULT 0,
    chunks_ms bigint NOT NULL DEFAULT 0, spans_ms bigint NOT NULL DEFAULT 0, minutes_ms bigint NOT NULL DEFAULT 0);
CREATE TABLE lockscope.day (
    ensemble int NOT NULL, day int NOT NULL, first_seq bigint NOT NULL, last_seq bigint NOT NULL,
    first_at bigint NOT NULL, last_at bigint NOT NULL, zxid bigint NOT NULL, chunks bigint NOT NULL,
    checkpoints bigint NOT NULL, bytes bigint NOT NULL, gone_at bigint, PRIMARY KEY (ensemble, day));
CREATE TABLE lockscope.gap (
    ensemble int NOT NULL, after_seq bigint NOT NULL, from_at bigint NOT NULL, to_at bigint NOT NULL, why text NOT NULL,
    PRIMARY KEY (ensemble, after_seq, from_at));
CREATE TABLE lockscope.chunk (
    day int NOT NULL, ensemble int NOT NULL, seq bigint NOT NULL, first_at bigint NOT NULL, last_at bigint NOT NULL,
    zxid bigint NOT NULL, kind smallint NOT NULL, part bigint NOT NULL, crc bigint NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (ensemble, seq, day) INCLUDE (first_at, zxid, kind, part)) PARTITION BY LIST (day);
CREATE INDEX chunk_time ON lockscope.chunk USING brin (first_at) WITH (pages_per_range = 16);
CREATE TABLE lockscope.span (
    day int NOT NULL, ensemble int NOT NULL, czxid bigint NOT NULL, lock bigint NOT NULL, path text NOT NULL,
    recipe text NOT NULL, node text NOT NULL, session bigint, label text, host text, joined_at bigint NOT NULL,
    held_at bigint, left_at bigint NOT NULL, how smallint NOT NULL, charged_to bigint, root bigint, wait_ms bigint NOT NULL,
    is_lower_bound boolean NOT NULL, charges json, roots json, others_ms bigint, root_others_ms bigint,
    hand_off_ms bigint, unknown_ms bigint, PRIMARY KEY (ensemble, lock, left_at, czxid, day)) PARTITION BY LIST (day);
CREATE INDEX span_left_at ON lockscope.span (ensemble, left_at, czxid);
CREATE TABLE lockscope.minute (
    day int NOT NULL, ensemble int NOT NULL, lock bigint NOT NULL, path text NOT NULL, at bigint NOT NULL,
    arrivals bigint NOT NULL, acquired bigint NOT NULL, gave_up bigint NOT NULL, waits bytea NOT NULL,
    holds bytea NOT NULL, depth_max bigint NOT NULL, waiting_ms bigint NOT NULL, worst text NOT NULL, top bytea NOT NULL,
    PRIMARY KEY (ensemble, lock, at, day)) PARTITION BY LIST (day);
CREATE INDEX minute_time ON lockscope.minute USING brin (at) WITH (pages_per_range = 16);
CREATE TABLE lockscope.fact (
    day int NOT NULL, ensemble int NOT NULL, number bigint NOT NULL, at bigint NOT NULL, lock bigint, path text,
    kind smallint NOT NULL, code text NOT NULL, severity smallint NOT NULL, text text NOT NULL,
    PRIMARY KEY (ensemble, number, day)) PARTITION BY LIST (day);
CREATE INDEX fact_at ON lockscope.fact (ensemble, at, number);
";

/// The lock of whoever makes or drops partitions, in the database.
const LOCK: i64 = 0x4c6b_5363_6f70_6502;
const PARTITIONS_MAX: i64 = 10_000;
/// A partition that is read is dropped another time: whoever comes after whoever waits for it would wait as well.
const DROP_WAIT: &str = "SET LOCAL lock_timeout = '500ms'";

/// A table that has a partition a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Daily {
    Chunk,
    Span,
    Minute,
    Fact,
}

impl Daily {
    fn name(self) -> &'static str {
        match self {
            Self::Chunk => "chunk",
            Self::Span => "span",
            Self::Minute => "minute",
            Self::Fact => "fact",
        }
    }

    pub(super) fn partition(self, day: i32) -> String {
        format!("lockscope.\"{}\"", self.bare(day))
    }

    fn bare(self, day: i32) -> String {
        let (year, month, of_month) = Day(i64::from(day)).date();
        format!("{}_{year:04}_{month:02}_{of_month:02}", self.name())
    }

    fn day_of(self, partition: &str) -> Option<i32> {
        let date = partition.strip_prefix(self.name())?.strip_prefix('_')?;
        let mut parts = date.rsplitn(3, '_').map(|part| part.parse::<i64>().ok());
        let (of_month, month, year) = (parts.next()??, parts.next()??, parts.next()??);
        let day = i32::try_from(Day::of_date(year, month, of_month).0).ok()?;
        (self.bare(day) == partition).then_some(day)
    }

    /// Makes the partition of a day where it is missing.
    pub(super) async fn make(self, client: &mut Client, day: i32) -> Result<(), DatabaseError> {
        let (table, partition) = (self.name(), self.partition(day));
        let sql = "SELECT to_regclass($1) IS NOT NULL";
        if client.query_one(sql, &[&partition]).await?.try_get::<_, bool>(0)? {
            return Ok(());
        }
        let transaction = client.transaction().await?;
        lock(&transaction).await?;
        if !transaction.query_one(sql, &[&partition]).await?.try_get::<_, bool>(0)? {
            // Attached, not made as a part: that would wait for whoever reads the table.
            let make = format!(
                "CREATE TABLE {partition} (LIKE lockscope.{table} INCLUDING DEFAULTS);
                 ALTER TABLE lockscope.{table} ATTACH PARTITION {partition} FOR VALUES IN ({day})"
            );
            transaction.batch_execute(&make).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Days that have a partition, the oldest first.
    pub(super) async fn days(self, client: &Client) -> Result<Vec<i32>, DatabaseError> {
        let sql = "SELECT relname::text FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = to_regclass($1) LIMIT $2";
        let table = format!("lockscope.{}", self.name());
        let rows = client.query(sql, &[&table, &PARTITIONS_MAX]).await?;
        let names = rows.iter().filter_map(|row| row.try_get::<_, String>(0).ok());
        let mut days: Vec<i32> = names.filter_map(|name| self.day_of(&name)).collect();
        days.sort_unstable();
        Ok(days)
    }

    /// Drops the partition of a day, in a transaction that holds the lock of [`lock`].
    pub(super) async fn drop(self, transaction: &Transaction<'_>, day: i32) -> Result<(), DatabaseError> {
        transaction.batch_execute(DROP_WAIT).await?;
        transaction.batch_execute(&format!("DROP TABLE IF EXISTS {}", self.partition(day))).await?;
        Ok(())
    }
}

/// Takes the lock of whoever makes or drops partitions, until the transaction ends.
pub(super) async fn lock(transaction: &Transaction<'_>) -> Result<(), DatabaseError> {
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    Ok(())
}

/// The day of an instant, as the tables have it.
pub(super) fn day_of(at_ms: i64) -> i32 {
    let day = Day::of(at_ms).0.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    i32::try_from(day).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_have_the_names_of_their_days() {
        assert_eq!(Daily::Chunk.partition(20_783), "lockscope.\"chunk_2026_11_26\"");
        for day in [i32::MIN, -800_000, -1, 0, 20_783, i32::MAX] {
            assert_eq!(Daily::Fact.day_of(&Daily::Fact.bare(day)), Some(day));
        }
        for name in ["fact", "fact_2026_11_31", "fact_x_1_1", "span_2026_11_26", "fact_2026_1_2"] {
            assert_eq!(Daily::Fact.day_of(name), None, "{name}");
        }
        assert_eq!((day_of(i64::MIN), day_of(-1), day_of(i64::MAX)), (i32::MIN, -1, i32::MAX));
    }
}
