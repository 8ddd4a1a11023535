//! Connections to the files of days. A file may come from elsewhere: nothing of it is believed
//! before its tables are known to be ours, and nothing that is asked of it takes all the time or memory there is.

use std::path::Path;
use std::time::{Duration, Instant};

use lockscope_runtime::{cancel, clock};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::error::failed;
use super::files;
use super::schema::{self, Content};
use crate::codec::BODY_BYTES_MAX;
use crate::store::StoreError;

/// How long one waits for another of this process: for the end of a transaction.
const BUSY: Duration = Duration::from_secs(5);
/// Kibibytes of pages that a connection keeps.
const CACHE_KIB: i64 = 2_048;
/// Pages in the log beside a file after which they go into the file: 4 MiB.
const WAL_PAGES: i64 = 1_000;

/// Bytes of one value or row: the largest body of a chunk, and what stands beside it.
const VALUE_BYTES_MAX: usize = BODY_BYTES_MAX + (1 << 20);
/// How long one question or transaction takes where whoever asks gives no time.
const STEP_MAX: Duration = Duration::from_secs(60);

/// Opens a file to write, made where it is missing, and brings it to the present version.
pub(super) fn write(path: &Path, content: Content, ensemble: &str) -> Result<Connection, StoreError> {
    files::check_regular(path)?;
    files::own(path).map_err(|error| files::failed(path, &error))?;
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // The log survives the end of the process. Of a machine that loses power the last moments may be lost, never more.
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES).map_err(failed)?;
    schema::migrate(&mut connection, content, ensemble)?;
    Ok(connection)
}

/// Opens a file to read; None while whoever writes is making it.
pub(super) fn read_made(path: &Path, content: Content) -> Result<Option<Connection>, StoreError> {
    let (connection, version) = open_to_read(path, content)?;
    Ok((version > 0).then_some(connection))
}

pub(super) fn read(path: &Path, content: Content) -> Result<Connection, StoreError> {
    let (connection, version) = open_to_read(path, content)?;
    if version == 0 {
        return Err(StoreError::Damaged(format!("{} has no tables", path.display())));
    }
    Ok(connection)
}

fn open_to_read(path: &Path, content: Content) -> Result<(Connection, i64), StoreError> {
    files::check_regular(path)?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let version = schema::check(&connection, content)?;
    Ok((connection, version))
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let mut connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failed)?;
    harden(&mut connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    Ok(connection)
}

/// Bounds what a file can make of a question.
pub(super) fn harden(connection: &mut Connection) -> Result<(), StoreError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(failed)?;
    let value_max = i32::try_from(VALUE_BYTES_MAX).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, value_max).map_err(failed)?;
    give_up_at(connection, None)
}

/// Steps of SQLite's machine between two looks at the clock.
const STEPS_A_LOOK: i32 = 20_000;

/// Ends what is asked of a connection at an instant, after a usual time where there is none, or when nobody waits for it any
/// more.
pub(super) fn give_up_at(connection: &mut Connection, at: Option<Instant>) -> Result<(), StoreError> {
    let at = at.unwrap_or_else(|| clock::instant() + STEP_MAX);
    connection.progress_handler(STEPS_A_LOOK, Some(move || is_given_up(Some(at)))).map_err(failed)
}

/// Whether what this thread asks is given up.
pub(super) fn is_given_up(at: Option<Instant>) -> bool {
    cancel::is_cancelled() || at.is_some_and(|at| clock::instant() >= at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_bounded_in_bytes_and_time() {
        let mut connection = Connection::open_in_memory().unwrap();
        harden(&mut connection).unwrap();
        let ask = |connection: &Connection, sql: &str| connection.query_row(sql, [], |_| Ok(())).map_err(failed);
        let long = |bytes: usize| format!("SELECT zeroblob({bytes})");
        assert!(ask(&connection, &long(BODY_BYTES_MAX)).is_ok());
        assert!(matches!(ask(&connection, &long(1 << 30)), Err(StoreError::Damaged(_))));
        give_up_at(&mut connection, Some(clock::instant())).unwrap();
        let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
        assert!(matches!(ask(&connection, endless), Err(StoreError::TooLong)));
        give_up_at(&mut connection, None).unwrap();
        assert!(ask(&connection, "SELECT 1").is_ok(), "the next has its own time");
    }

    #[tokio::test]
    async fn a_query_that_nobody_waits_for_ends() {
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = tokio::sync::oneshot::channel();
        let query = cancel::spawn_blocking(move || {
            let mut connection = Connection::open_in_memory().unwrap();
            give_up_at(&mut connection, None).unwrap();
            let _ = begin.send(());
            let long =
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) SELECT max(i) FROM n";
            let _ = end.send(connection.query_row(long, [], |row| row.get::<_, i64>(0)).map_err(failed));
        });
        tokio::select! {
            _ = query => unreachable!("it takes long"),
            begun = begun => begun.unwrap(),
        }
        assert_eq!(ended.await.unwrap(), Err(StoreError::TooLong));
    }
}
