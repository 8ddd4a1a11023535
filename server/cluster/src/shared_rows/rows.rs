//! The table of rows, and one exchange with it.
//!
//! Every write raises the revision of its cluster first and holds that row until it is committed. So writes are visible in
//! the order of their revisions, and whoever has seen one has seen all before it.

use lockscope_postgres::client::{Client, Row};
use lockscope_postgres::{Database, DatabaseError, READ_BYTES_MAX, Tables, rows_within};
use lockscope_runtime::shared_rows::SharedRow;

/// Rows that one look brings. Overflow policy: of changes the rest comes with the next look; all that is there is refused.
pub const ROWS_MAX: usize = 20_000;

/// Steps from nothing to the present version; each stays as it is for ever.
pub(crate) const TABLES: Tables = Tables { part: "shared", steps: &[FIRST] };

const FIRST: &str = "
CREATE TABLE lockscope.shared_revision (cluster text PRIMARY KEY, revision bigint NOT NULL);
CREATE TABLE lockscope.shared (
    cluster text NOT NULL, kind text NOT NULL, key text NOT NULL CHECK (octet_length(key) <= 128),
    body text NOT NULL CHECK (octet_length(body) <= 16384), stamp bigint NOT NULL, is_over boolean NOT NULL,
    expires_at bigint NOT NULL, revision bigint NOT NULL, PRIMARY KEY (cluster, kind, key));
CREATE INDEX shared_since ON lockscope.shared (cluster, revision);
";

/// One statement, so that a process that is stopped in the middle keeps nobody else waiting.
const SEND: &str = "
WITH next AS (
    INSERT INTO lockscope.shared_revision AS r (cluster, revision) VALUES ($1, 1)
    ON CONFLICT (cluster) DO UPDATE SET revision = r.revision + 1 RETURNING revision)
INSERT INTO lockscope.shared AS s (cluster, kind, key, body, stamp, is_over, expires_at, revision)
SELECT $1, new.kind, new.key, new.body, new.stamp, new.is_over, new.expires_at, next.revision
FROM next, unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::bigint[])
    AS new (kind, key, body, stamp, is_over, expires_at)
ON CONFLICT (cluster, kind, key) DO UPDATE SET
    body = CASE WHEN EXCLUDED.stamp > s.stamp THEN EXCLUDED.body ELSE s.body END,
    stamp = greatest(s.stamp, EXCLUDED.stamp), is_over = s.is_over OR EXCLUDED.is_over,
    expires_at = greatest(s.expires_at, EXCLUDED.expires_at), revision = EXCLUDED.revision";

const CHANGES: &str = "
SELECT r.revision, s.kind, s.key, s.body, s.stamp, s.is_over, s.expires_at, s.revision
FROM lockscope.shared_revision r LEFT JOIN lockscope.shared s ON s.cluster = r.cluster AND s.revision > $2
    AND octet_length(s.kind) <= 64 AND octet_length(s.key) <= 128 AND octet_length(s.body) <= 16384
WHERE r.cluster = $1 ORDER BY s.revision LIMIT $3";

const ALL: &str = "
SELECT r.revision, s.kind, s.key, s.body, s.stamp, s.is_over, s.expires_at, s.revision
FROM lockscope.shared_revision r LEFT JOIN lockscope.shared s ON s.cluster = r.cluster AND NOT s.is_over
    AND s.expires_at > $2
    AND octet_length(s.kind) <= 64 AND octet_length(s.key) <= 128 AND octet_length(s.body) <= 16384
WHERE r.cluster = $1 LIMIT $3";

/// By the database's clock, an hour late: whoever's clock is behind may need one still.
const FORGET: &str = "
DELETE FROM lockscope.shared WHERE cluster = $1 AND expires_at < (extract(epoch FROM now()) * 1000)::bigint - 3600000";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those that changed after a revision.
    After(i64),
    /// All that is neither over nor expired at an instant, ms since the epoch.
    All(i64),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Up to which revision it is complete.
    pub(crate) revision: i64,
    /// Rows with their kinds.
    pub(crate) rows: Vec<(String, SharedRow)>,
    pub(crate) has_more: bool,
}

/// Writes rows with their kinds, all of them or none. No kind has a key twice.
pub(crate) async fn send(
    client: &Client,
    cluster: &str,
    rows: &[(&'static str, SharedRow)],
) -> Result<(), DatabaseError> {
    if rows.is_empty() {
        return Ok(());
    }
    let kinds: Vec<&str> = rows.iter().map(|(kind, _)| *kind).collect();
    let keys: Vec<&str> = rows.iter().map(|(_, row)| row.key.as_str()).collect();
    let bodies: Vec<&str> = rows.iter().map(|(_, row)| row.body.as_str()).collect();
    let stamps: Vec<i64> = rows.iter().map(|(_, row)| row.stamp).collect();
    let over: Vec<bool> = rows.iter().map(|(_, row)| row.is_over).collect();
    let expire: Vec<i64> = rows.iter().map(|(_, row)| row.expires_at_ms).collect();
    client.execute(SEND, &[&cluster, &kinds, &keys, &bodies, &stamps, &over, &expire]).await?;
    Ok(())
}

pub(crate) async fn find(client: &Client, cluster: &str, wanted: Wanted) -> Result<Found, DatabaseError> {
    let (sql, number) = match wanted {
        Wanted::After(revision) => (CHANGES, revision),
        Wanted::All(now_ms) => (ALL, now_ms),
    };
    let limit = i64::try_from(ROWS_MAX + 1).unwrap_or(i64::MAX);
    let (read, is_whole) = rows_within(client, sql, &[&cluster, &number, &limit], READ_BYTES_MAX).await?;
    let Some(first) = read.first() else { return Ok(Found::default()) };
    let revision: i64 = first.try_get(0)?;
    let mut rows = Vec::with_capacity(read.len());
    for row in &read {
        rows.extend(parse(row)?);
    }
    if is_whole && rows.len() <= ROWS_MAX {
        let rows = rows.into_iter().map(|(kind, row, _)| (kind, row)).collect();
        return Ok(Found { revision, rows, has_more: false });
    }
    let Wanted::After(_) = wanted else {
        return Err(DatabaseError::Failed(format!(
            "the table lockscope.shared has more than {ROWS_MAX} rows in force, or too long ones"
        )));
    };
    // Rows of the last revision may be missing: they come next time, as they were all written at once.
    let last = rows.last().map_or(revision, |(_, _, at)| *at);
    let revision = last - 1;
    let rows = rows.into_iter().filter(|(_, _, at)| *at < last).map(|(kind, row, _)| (kind, row)).collect();
    Ok(Found { revision, rows, has_more: true })
}

/// The rows of a kind that servers of a cluster share, as they stand.
///
/// # Errors
/// The database can't be read, or has no such table.
pub async fn rows_of(
    database: &Database,
    cluster: String,
    kind: &'static str,
) -> Result<Vec<SharedRow>, DatabaseError> {
    let look =
        database.look(None, move |client| Box::pin(async move { find(client, &cluster, Wanted::All(i64::MIN)).await }));
    let rows = look.await?.rows;
    Ok(rows.into_iter().filter(|(of, _)| of == kind).map(|(_, row)| row).collect())
}

fn parse(row: &Row) -> Result<Option<(String, SharedRow, i64)>, DatabaseError> {
    let Some(kind) = row.try_get::<_, Option<String>>(1)? else { return Ok(None) };
    let found = SharedRow {
        key: row.try_get(2)?,
        body: row.try_get(3)?,
        stamp: row.try_get(4)?,
        is_over: row.try_get(5)?,
        expires_at_ms: row.try_get(6)?,
    };
    Ok(Some((kind, found, row.try_get(7)?)))
}

/// Forgets what expired.
pub(crate) async fn forget(client: &Client, cluster: &str) -> Result<(), DatabaseError> {
    client.execute(FORGET, &[&cluster]).await?;
    Ok(())
}
