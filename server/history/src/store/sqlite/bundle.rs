//! A window of the recording as one file. It is copied by SQLite itself, day after day, and has no name from its first
//! moment on: whatever becomes of this process, nothing is left behind.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};

use super::error::failed;
use super::files::{self, Day};
use super::rows_write::ABSENT;
use super::schema::{self, Content};
use super::{Place, SqliteStore, chunks, connection};
use crate::derive::MINUTE_MS;
use crate::store::bundle::{BundleError, BundleQuery};
use crate::store::{Gap, Store as _, StoreError};

pub(super) const PAGE_BYTES: u64 = 4_096;
/// So much of the disk stays free for the recording.
const ROOM_LEFT: u64 = 256 << 20;

/// The chunks of a window: with the checkpoint before it.
struct Chunks {
    seqs: RangeInclusive<u64>,
    days: Vec<Day>,
    gaps: Vec<Gap>,
    bytes: u64,
}

pub(super) fn make(store: &SqliteStore, query: &BundleQuery<'_>) -> Result<File, BundleError> {
    let chunks = if query.with_chunks { find(store, query)? } else { None };
    let needed = chunks.as_ref().map_or(0, |chunks| chunks.bytes);
    let directory = directory(store);
    let (free, (mut connection, file)) = (room(&directory, needed)?, open(&directory, &store.ensemble)?);
    let pages_max = i64::try_from(query.bytes_max.min(free) / PAGE_BYTES).unwrap_or(i64::MAX);
    connection.pragma_update(None, "max_page_count", pages_max).map_err(failed)?;
    connection::give_up_at(&mut connection, Some(query.give_up_at))?;
    match fill(&connection, store, query, chunks.as_ref()) {
        Ok(()) => Ok(file),
        // The bound or the disk: SQLite calls both the same.
        Err(StoreError::Full(why)) => {
            let written = file.metadata().map_or(0, |metadata| metadata.len());
            let has_room = room(&directory, 0).is_ok_and(|room| room.saturating_add(written) >= query.bytes_max);
            Err(if has_room { BundleError::TooLarge { fits_from: None } } else { StoreError::Full(why).into() })
        }
        Err(error) => Err(error.into()),
    }
}

fn directory(store: &SqliteStore) -> PathBuf {
    match &store.place {
        Place::Directory(directory) => directory.clone(),
        Place::Bundle(_) => std::env::temp_dir(),
    }
}

/// How many bytes it may take of the disk, where that is at least so many: the recording comes first.
pub(super) fn room(directory: &Path, needed: u64) -> Result<u64, StoreError> {
    let disk = rustix::fs::statvfs(directory).map_err(|error| files::failed(directory, &error.into()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let room = free.saturating_sub(ROOM_LEFT);
    if needed < room {
        return Ok(room);
    }
    Err(StoreError::Full(format!(
        "a bundle of {needed} bytes is made in {}, which has {free} left, of which {ROOM_LEFT} stay for the recording",
        directory.display()
    )))
}

/// A new database without a name, and the file that it is.
pub(super) fn open(directory: &Path, ensemble: &str) -> Result<(Connection, File), StoreError> {
    let path = files::new_bundle(directory)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(&path, flags).map_err(failed);
    let file = File::open(&path);
    let unnamed = std::fs::remove_file(&path);
    let (mut connection, file) = (opened?, file.map_err(|error| files::failed(&path, &error))?);
    unnamed.map_err(|error| files::failed(&path, &error))?;
    // Of a file that nobody finds again nothing has to be restored.
    for (name, value) in [("journal_mode", "OFF"), ("synchronous", "OFF"), ("temp_store", "MEMORY")] {
        connection.pragma_update(None, name, value).map_err(failed)?;
    }
    connection::harden(&mut connection)?;
    schema::make_bundle(&connection, ensemble)?;
    Ok((connection, file))
}

/// The chunks of a window, if there are some and they fit.
fn find(store: &SqliteStore, query: &BundleQuery<'_>) -> Result<Option<Chunks>, BundleError> {
    let begin = match store.head_at(query.range.start)? {
        Some(head) => store.checkpoint_before(head.seq)?,
        None => None,
    };
    let begin = match begin {
        Some(begin) => Some(begin),
        None => store.checkpoint_after(0)?,
    };
    let (Some(begin), Some(end)) = (begin, store.head_at(query.range.end - 1)?) else { return Ok(None) };
    if begin.seq > end.seq {
        return Ok(None);
    }
    let seqs = begin.seq..=end.seq;
    let overlapping = |totals: &chunks::Totals| totals.first_seq <= end.seq && totals.last_seq >= begin.seq;
    let days: Vec<Day> =
        store.state().days.iter().filter(|(_, totals)| overlapping(totals)).map(|(day, _)| *day).collect();
    let bytes_max = query.bytes_max / 10 * 9;
    let (mut bytes, mut fits_from) = (0_u64, None);
    for day in days.iter().rev() {
        let sizes = store.reading(*day, |connection| chunks::sizes(connection, &seqs))?.unwrap_or_default();
        for (first_at, is_checkpoint, size) in sizes {
            bytes = bytes.saturating_add(size);
            if is_checkpoint && bytes <= bytes_max {
                fits_from = Some(first_at);
            }
        }
    }
    if bytes > bytes_max {
        return Err(BundleError::TooLarge { fits_from });
    }
    let gaps = store.gaps(begin.first_at..query.range.end)?;
    Ok(Some(Chunks { seqs, days, gaps, bytes }))
}

fn fill(
    connection: &Connection,
    store: &SqliteStore,
    query: &BundleQuery<'_>,
    chunks: Option<&Chunks>,
) -> Result<(), StoreError> {
    if let Some(Chunks { seqs, days, gaps, bytes: _ }) = chunks {
        for day in days {
            attached(connection, store, *day, Content::Chunks, |connection| {
                let sql = "INSERT INTO main.chunk SELECT * FROM day.chunk WHERE seq BETWEEN ?1 AND ?2";
                connection.execute(sql, chunks::signed_range(seqs)).map(drop).map_err(failed)
            })?;
        }
        gaps.iter().try_for_each(|gap| chunks::insert_gap(connection, gap))?;
    }
    let (first, last) = (Day::of(query.range.start.0), Day::of(query.range.end.0));
    for path in store.row_files(&query.range)? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let day = Day::of_file(&name, Content::Rows).unwrap_or(first).clamp(first, last);
        // Of an earlier version it is brought to this one; where it may not be written it stays what it is.
        let written = connection::write(&path, Content::Rows, &store.ensemble);
        if let Err(why) = written.or_else(|_| connection::read(&path, Content::Rows)) {
            tracing::error!(file = %path.display(), %why, "rows of a day are left out of a bundle");
            continue;
        }
        attached(connection, store, day, Content::Rows, |connection| copy_rows(connection, query))?;
    }
    describe(connection, query)
}

/// Writes what is in it.
pub(super) fn describe(connection: &Connection, query: &BundleQuery<'_>) -> Result<(), StoreError> {
    let about = [
        ("content", if query.with_chunks { "changes and rows" } else { "rows" }.to_owned()),
        ("from_at", query.range.start.0.to_string()),
        ("to_at", query.range.end.0.to_string()),
    ];
    let sql = "INSERT OR REPLACE INTO about VALUES (?1, ?2)";
    about.iter().try_for_each(|pair| connection.execute(sql, params![pair.0, pair.1]).map(drop)).map_err(failed)
}

/// Does something with the file of a day at hand, in one transaction.
fn attached(
    connection: &Connection,
    store: &SqliteStore,
    day: Day,
    content: Content,
    copy: impl FnOnce(&Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let path = store.path(day, content);
    let Some(name) = path.to_str() else {
        return Err(StoreError::Failed(format!("{} has no name in UTF-8", path.display())));
    };
    connection.execute("ATTACH DATABASE ?1 AS day", [name]).map_err(failed)?;
    let copied = connection.unchecked_transaction().map_err(failed).and_then(|transaction| {
        copy(&transaction)?;
        transaction.commit().map_err(failed)
    });
    let detached = connection.execute("DETACH DATABASE day", []).map(drop).map_err(failed);
    copied.and(detached)
}

/// Copies what of a day's rows is wanted. Locks and clients have other numbers in each file.
fn copy_rows(connection: &Connection, query: &BundleQuery<'_>) -> Result<(), StoreError> {
    number_locks(connection, query)?;
    let label = if query.with_labels { "known.label" } else { "?4" };
    let clients = format!(
        "INSERT OR IGNORE INTO main.client (label, host) SELECT DISTINCT {label}, known.host FROM day.span
         JOIN temp.seen ON seen.was = span.lock JOIN day.client AS known ON known.id = span.client
         WHERE left_at >= ?1 AND left_at < ?2 AND ?3 = ?3 AND ?4 = ?4"
    );
    let (from, to) = (query.range.start.0, query.range.end.0);
    let minute = from.div_euclid(MINUTE_MS) * MINUTE_MS;
    connection.execute(&clients, params![from, to, minute, ABSENT]).map_err(failed)?;
    for (table, condition) in [
        ("span", "of_day.left_at >= ?1 AND of_day.left_at < ?2"),
        ("minute", "of_day.at >= ?3 AND of_day.at < ?2"),
        ("fact", "of_day.at >= ?1 AND of_day.at < ?2"),
    ] {
        let columns = columns_of(connection, table)?;
        let wanted: Vec<String> = columns
            .iter()
            .map(|column| match column.as_str() {
                "lock" => "seen.id".to_owned(),
                "client" => "main.client.id".to_owned(),
                column => format!("of_day.{column}"),
            })
            .collect();
        let clients = if columns.iter().any(|column| column == "client") {
            format!(
                "LEFT JOIN day.client AS known ON known.id = of_day.client
                LEFT JOIN main.client ON main.client.label = {label} AND main.client.host = known.host"
            )
        } else {
            String::new()
        };
        // Facts may be of no lock.
        let sql = format!(
            "INSERT OR IGNORE INTO main.{table} ({}) SELECT {} FROM day.{table} AS of_day
             LEFT JOIN temp.seen ON seen.was = of_day.lock {clients}
             WHERE {condition} AND (seen.id NOTNULL OR of_day.lock ISNULL) AND ?1 = ?1 AND ?2 = ?2 AND ?3 = ?3 AND ?4 = ?4",
            columns.join(", "),
            wanted.join(", ")
        );
        connection.execute(&sql, params![from, to, minute, ABSENT]).map_err(failed)?;
    }
    Ok(())
}

/// Gives the locks of the window that may be seen their numbers.
fn number_locks(connection: &Connection, query: &BundleQuery<'_>) -> Result<(), StoreError> {
    let begin = "CREATE TEMP TABLE IF NOT EXISTS seen (was INTEGER PRIMARY KEY, id INTEGER NOT NULL);
        DELETE FROM temp.seen;";
    connection.execute_batch(begin).map_err(failed)?;
    let sql = "SELECT id, path, recipe FROM day.lock WHERE id IN (
        SELECT lock FROM day.span WHERE left_at >= ?1 AND left_at < ?2
        UNION SELECT lock FROM day.minute WHERE at >= ?3 AND at < ?2
        UNION SELECT lock FROM day.fact WHERE at >= ?1 AND at < ?2)";
    let minute = query.range.start.0.div_euclid(MINUTE_MS) * MINUTE_MS;
    let mut locks = connection.prepare(sql).map_err(failed)?;
    let mut add = connection
        .prepare("INSERT INTO main.lock (path, recipe) VALUES (?1, ?2) ON CONFLICT (path) DO UPDATE SET recipe = CASE ?2 WHEN '' THEN recipe ELSE ?2 END RETURNING id")
        .map_err(failed)?;
    let mut note = connection.prepare("INSERT INTO temp.seen VALUES (?1, ?2)").map_err(failed)?;
    let mut rows = locks.query(params![query.range.start.0, query.range.end.0, minute]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let (was, path, recipe): (i64, String, String) =
            (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?, row.get(2).map_err(failed)?);
        if !(query.sees)(&path) {
            continue;
        }
        let id: i64 = add.query_row([&path, &recipe], |row| row.get(0)).map_err(failed)?;
        note.execute([was, id]).map_err(failed)?;
    }
    Ok(())
}

fn columns_of(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT name FROM pragma_table_info(?1, 'main')";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let names = statement.query_map([table], |row| row.get(0)).map_err(failed)?;
    names.collect::<Result<_, _>>().map_err(failed)
}

impl SqliteStore {
    /// Opens a bundle to look at it; nobody writes it.
    ///
    /// # Errors
    /// It is none, or can't be read.
    pub fn open_bundle(file: &std::path::Path) -> Result<Self, StoreError> {
        let connection = connection::read(file, Content::Chunks)?;
        let Some(ensemble) = schema::bundle_ensemble(&connection)? else {
            return Err(StoreError::Damaged(format!("{} is no bundle", file.display())));
        };
        let (totals, gaps) = (chunks::totals(&connection)?, chunks::gaps(&connection)?);
        let mut state = super::State { gaps, ..super::State::default() };
        if totals.chunks > 0 {
            state.days.insert(Day::of(totals.first_at), totals);
        }
        Ok(Self {
            place: Place::Bundle(file.to_owned()),
            ensemble,
            state: parking_lot::Mutex::new(state),
            readers: super::Readers::default(),
            row_writer: super::RowWriter::default(),
            unread: parking_lot::Mutex::default(),
            _taken: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds a table to a day decides what of it goes into a bundle.
    #[test]
    fn every_table_of_a_day_is_in_a_bundle() {
        let connection = Connection::open_in_memory().unwrap();
        schema::make_bundle(&connection, "prod").unwrap();
        let mut statement =
            connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").unwrap();
        let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(names, ["about", "chunk", "client", "fact", "gap", "lock", "minute", "span"]);
        for content in [Content::Chunks, Content::Rows] {
            assert!(schema::check(&connection, content).unwrap() > 0);
        }
    }
}
