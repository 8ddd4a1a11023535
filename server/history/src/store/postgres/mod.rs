//! The shared store: a PostgreSQL database that several servers and ensembles use. Its tables are in the schema
//! `lockscope`, with a partition a day.
//!
//! Each ensemble has one recording, and one server at a time that writes it: the one that holds the ensemble's lock in the
//! database, by the very connection that writes. A server that loses its connection loses the lock, and whoever takes it
//! raises the ensemble's epoch; a server that comes back to another epoch writes nothing of what it has, and begins anew
//! behind what the other one wrote. So no number is given twice, whatever network and processes do. The same after a
//! failover, which may lose what was written last.
//!
//! Every call returns within a bound. Looks are made by few connections that all ensembles share, and while the database
//! is down they fail at once.

mod append;
mod chunks;
mod failed;
mod retention;
mod rows_read;
mod rows_write;
mod schema;

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
pub use lockscope_postgres::Target;
use lockscope_postgres::client::Client;
use lockscope_postgres::{Database, DatabaseError, DatabaseStats, Job, Lane, Session, WRITE_MAX};
use parking_lot::{Mutex, MutexGuard};

use self::append::Written;
use self::chunks::Look;
use self::failed::write_failed;
use self::rows_write::lock_number;
use super::bundle::{BundleError, BundleQuery};
use super::rows::{Density, DensityQuery, Fact, FactQuery, Minute, MinuteQuery, Rows, Span, SpanQuery};
use super::sqlite::bundle_of;
use super::{
    CHUNKS_READ_MAX, ChunkHead, Connections, Coverage, Gap, Removed, Retention, Store, StoreError, generated_before,
};
use crate::codec::Chunk;

/// Connections that write; ensembles share them.
pub const WRITERS_MAX: usize = 4;
/// How long a lock may take to be given back.
const GIVE_BACK_MAX: Duration = Duration::from_secs(1);

/// A database with recordings; cheap to clone.
#[derive(Clone, Debug)]
pub struct PostgresHistory {
    database: Database,
    lanes: Vec<Lane>,
}

impl PostgresHistory {
    /// Where recordings are; nothing is connected yet.
    pub fn new(target: Target) -> Result<Self, StoreError> {
        let database = Database::new(target).map_err(|error| StoreError::Failed(error.to_string()))?;
        let lanes = (0..WRITERS_MAX).map(|_| database.lane()).collect();
        Ok(Self { database, lanes })
    }

    /// Connects and looks at the tables, which are not changed. Blocking, within a bound.
    pub fn check(&self) -> Result<(), StoreError> {
        let version =
            self.database.read(None, |client| Box::pin(async move { schema::TABLES.version(client).await }))?;
        tracing::debug!(?version, "the database of the history can be used");
        Ok(())
    }

    fn lane(&self, ensemble: &str) -> &Lane {
        let at = usize::try_from(lock_number(ensemble).unsigned_abs() % WRITERS_MAX as u64).unwrap_or(0);
        // There are always some.
        &self.lanes[at]
    }
}

#[derive(Debug)]
pub struct PostgresStore {
    database: Database,
    /// The ensemble's name, and its number in the database.
    name: String,
    ensemble: i32,
    writer: Option<Writer>,
}

/// What makes this the one that writes.
#[derive(Debug)]
struct Writer {
    lane: Lane,
    /// The ensemble's lock in the database.
    key: i64,
    /// Whose it is among those of this process.
    whose: u64,
    begun: Begun,
    written: Mutex<Written>,
}

/// As what it began to write: as long as both are the same, what it wrote is there, and nobody else has written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Begun {
    epoch: i64,
    /// The history of the database: another one after a failover, in which what was written last may be missing. None where
    /// the server does not say.
    timeline: Option<String>,
}

impl PostgresStore {
    /// Opens the recording of an ensemble to write it.
    ///
    /// # Errors
    /// The database can't be used, or another server writes this recording.
    pub fn open(history: &PostgresHistory, ensemble: &str) -> Result<Self, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let whose = NUMBER.fetch_add(1, Ordering::Relaxed);
        let (lane, key, name) = (history.lane(ensemble).clone(), ensemble_key(ensemble), ensemble.to_owned());
        let opened = lane.write(WRITE_MAX, move |session| {
            Box::pin(async move {
                schema::TABLES.migrate(session.client()).await?;
                let id = id_of(session.client(), &name).await?;
                if !session.lock(key, whose).await? {
                    return Ok(None);
                }
                let begun = begin(session.client(), id).await;
                if begun.is_err() {
                    session.unlock(key, whose).await?;
                }
                begun.map(|(begun, written)| Some((id, begun, written)))
            })
        });
        let Some((number, begun, written)) = opened.map_err(write_failed)? else {
            return Err(in_use(&history.database));
        };
        let writer = Writer { lane, key, whose, begun, written: Mutex::new(written) };
        let name = ensemble.to_owned();
        Ok(Self { database: history.database.clone(), name, ensemble: number, writer: Some(writer) })
    }

    /// Opens the recording of an ensemble that another server may be writing, to read it.
    ///
    /// # Errors
    /// The database can't be used.
    pub fn open_to_read(history: &PostgresHistory, ensemble: &str) -> Result<Self, StoreError> {
        let name = ensemble.to_owned();
        let opened = history.lane(ensemble).write(WRITE_MAX, move |session| {
            Box::pin(async move {
                schema::TABLES.migrate(session.client()).await?;
                id_of(session.client(), &name).await
            })
        });
        let number = opened.map_err(write_failed)?;
        Ok(Self { database: history.database.clone(), name: ensemble.to_owned(), ensemble: number, writer: None })
    }

    fn read<T, F>(&self, give_up_at: Option<Instant>, look: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a Client, i32) -> Job<'a, T> + Send + 'static,
    {
        let ensemble = self.ensemble;
        Ok(self.database.read(give_up_at, move |client| look(client, ensemble))?)
    }

    /// Writes something, where this is still the one that writes.
    fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Session, i32) -> Job<'a, T> + Send + 'static,
    {
        let Some(writer) = &self.writer else { return Err(in_use(&self.database)) };
        let (ensemble, key, whose, begun) = (self.ensemble, writer.key, writer.whose, writer.begun.clone());
        let done = writer.lane.write(WRITE_MAX, move |session| {
            Box::pin(async move {
                match standing(session, (key, whose), (ensemble, &begun)).await? {
                    Standing::Ours => job(session, ensemble).await.map(Ok),
                    standing => Ok(Err(standing)),
                }
            })
        });
        done.map_err(write_failed)?.map_err(|standing| match standing {
            Standing::Restored => StoreError::Restored(self.database.target().shown().to_owned()),
            Standing::Ours | Standing::Taken => in_use(&self.database),
        })
    }

    fn look(&self, look: Look) -> Result<Option<ChunkHead>, StoreError> {
        self.read(None, |client, ensemble| Box::pin(async move { look.find(client, ensemble).await }))
    }
}

impl Writer {
    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock()
    }
}

fn in_use(database: &Database) -> StoreError {
    StoreError::InUse(database.target().shown().to_owned())
}

/// Who holds a lock. Of other users a server may tell no more than their names.
const HELD_BY: &str = "
SELECT left(format('the session %s of user %s (%s, from %s)', pid, usename,
    coalesce(nullif(application_name, ''), 'unnamed'), coalesce(client_addr::text, 'an address that is not told')), 300)
FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = $1 LIMIT 1";

/// The lock of an ensemble, in the database.
fn ensemble_key(ensemble: &str) -> i64 {
    lock_number(&format!("lockscope history {ensemble}"))
}

async fn id_of(client: &Client, name: &str) -> Result<i32, DatabaseError> {
    let name = rows_write::text(name);
    let sql = "SELECT id FROM lockscope.ensemble WHERE name = $1";
    if let Some(row) = client.query_opt(sql, &[&name]).await? {
        return Ok(row.try_get(0)?);
    }
    let sql =
        "INSERT INTO lockscope.ensemble (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = $1 RETURNING id";
    Ok(client.query_one(sql, &[&name]).await?.try_get(0)?)
}

/// Raises the epoch, and looks how far it is written.
async fn begin(client: &Client, ensemble: i32) -> Result<(Begun, Written), DatabaseError> {
    let sql = "UPDATE lockscope.ensemble SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch";
    let epoch = client.query_one(sql, &[&ensemble]).await?.try_get(0)?;
    let sql = "SELECT coalesce(max(last_seq), 0), max(day) FROM lockscope.day WHERE ensemble = $1";
    let row = client.query_one(sql, &[&ensemble]).await?;
    let last_seq = row.try_get::<_, i64>(0)?.unsigned_abs();
    let begun = Begun { epoch, timeline: timeline(client).await };
    Ok((begun, Written { last_seq, day: row.try_get(1)? }))
}

/// The timeline that is written, as the names of log files begin with it.
async fn timeline(client: &Client) -> Option<String> {
    let sql = "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";
    let found = client.query_one(sql, &[]).await.and_then(|row| row.try_get(0));
    found.inspect_err(|error| tracing::debug!(%error, "the database does not say its timeline")).ok()
}

/// Whether this is still the one that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ours,
    /// Somebody else writes, or has written since.
    Taken,
    /// The database is another one since a failover.
    Restored,
}

/// Whether nobody else has written since, and what was written is there: on a connection that was made anew the lock is
/// taken again.
async fn standing(
    session: &mut Session,
    (key, whose): (i64, u64),
    (ensemble, begun): (i32, &Begun),
) -> Result<Standing, DatabaseError> {
    if session.holds(key, whose) {
        return Ok(Standing::Ours);
    }
    if !session.lock(key, whose).await? {
        return Ok(Standing::Taken);
    }
    let sql = "SELECT epoch FROM lockscope.ensemble WHERE id = $1";
    let row = session.client().query_opt(sql, &[&ensemble]).await?;
    let is_same = row.map(|row| row.try_get::<_, i64>(0)).transpose()? == Some(begun.epoch);
    let standing = match timeline(session.client()).await == begun.timeline {
        false => Standing::Restored,
        true if is_same => return Ok(Standing::Ours),
        true => Standing::Taken,
    };
    session.unlock(key, whose).await?;
    Ok(standing)
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        let Some(Writer { lane, key, whose, .. }) = self.writer.take() else { return };
        // Whether it is given back or not: it goes with the connection at the latest.
        let _ = lane.write(GIVE_BACK_MAX, move |session| Box::pin(async move { session.unlock(key, whose).await }));
    }
}

impl Store for PostgresStore {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    fn append(&self, chunks: &[Chunk], gaps: &[Gap]) -> Result<(), StoreError> {
        let Some(writer) = &self.writer else { return Err(in_use(&self.database)) };
        let mut written = writer.written();
        let (days, after) = append::in_days(chunks, *written)?;
        let gaps = gaps.to_vec();
        self.write(move |session, ensemble| {
            Box::pin(async move { append::append(session, ensemble, days, &gaps).await })
        })?;
        *written = after;
        Ok(())
    }

    fn chunks(&self, from_seq: u64, limit: usize) -> Result<Vec<Chunk>, StoreError> {
        let limit = limit.min(CHUNKS_READ_MAX);
        self.read(None, move |client, ensemble| {
            Box::pin(async move { chunks::from(client, ensemble, from_seq, limit).await })
        })
    }

    fn head_at(&self, at: TimeMs) -> Result<Option<ChunkHead>, StoreError> {
        self.look(Look::At(at))
    }

    fn head_of(&self, zxid: Zxid) -> Result<Option<ChunkHead>, StoreError> {
        let generated = generated_before(self)?.map_or(0, |gap| gap.after_seq);
        let observed = self.look(Look::Of(zxid, generated))?;
        if observed.is_some() || generated == 0 { Ok(observed) } else { self.look(Look::Of(zxid, 0)) }
    }

    fn checkpoint_before(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
        self.look(Look::CheckpointBefore(seq))
    }

    fn checkpoint_after(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
        self.look(Look::CheckpointAfter(seq))
    }

    fn gaps(&self, range: Range<TimeMs>) -> Result<Vec<Gap>, StoreError> {
        self.read(None, |client, ensemble| Box::pin(async move { chunks::gaps(client, ensemble, range).await }))
    }

    fn coverage(&self) -> Result<Coverage, StoreError> {
        self.read(None, |client, ensemble| Box::pin(async move { chunks::coverage(client, ensemble).await }))
    }

    fn retain(&self, now: TimeMs, retention: Retention) -> Result<Removed, StoreError> {
        self.write(move |session, ensemble| {
            Box::pin(async move { retention::retain(session, ensemble, now, retention).await })
        })
    }

    fn write_rows(&self, rows: &Rows) -> Result<(), StoreError> {
        let rows = rows.clone();
        self.write(move |session, ensemble| Box::pin(async move { rows_write::write(session, ensemble, &rows).await }))
    }

    fn spans(&self, query: &SpanQuery) -> Result<Vec<Span>, StoreError> {
        let query = query.clone();
        self.read(query.give_up_at, move |client, ensemble| {
            Box::pin(async move { rows_read::spans(client, ensemble, &query).await })
        })
    }

    fn minutes(&self, query: &MinuteQuery) -> Result<Vec<Minute>, StoreError> {
        let query = query.clone();
        self.read(query.give_up_at, move |client, ensemble| {
            Box::pin(async move { rows_read::minutes(client, ensemble, &query).await })
        })
    }

    fn densities(&self, query: &DensityQuery) -> Result<Vec<Density>, StoreError> {
        let query = query.clone();
        let found = self.read(query.give_up_at, move |client, ensemble| {
            Box::pin(async move { rows_read::densities(client, ensemble, &query).await })
        })?;
        found.ok_or(StoreError::TooLong)
    }

    fn held_by(&self) -> Option<String> {
        let key = ensemble_key(&self.name);
        let asked =
            self.read(None, move |client, _| Box::pin(async move { Ok(client.query_opt(HELD_BY, &[&key]).await?) }));
        asked.ok()??.try_get(0).ok()
    }

    fn connections(&self) -> Option<Connections> {
        let DatabaseStats { connects, connects_failed, timeouts } = self.database.stats();
        Some(Connections { made: connects, failed: connects_failed, timeouts })
    }

    fn bundle(&self, query: &BundleQuery<'_>) -> Result<File, BundleError> {
        bundle_of(self, &self.name, query)
    }

    fn facts(&self, query: &FactQuery) -> Result<Vec<Fact>, StoreError> {
        let query = query.clone();
        self.read(query.give_up_at, move |client, ensemble| {
            Box::pin(async move { rows_read::facts(client, ensemble, &query).await })
        })
    }
}
