//! Connections to the files of days, and what their errors mean.

use std::path::Path;
use std::time::{Duration, Instant};

use runtime::clock;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::files;
use super::schema::{self, Content};
use crate::store::StoreError;

/// How long one waits for another of this process: for the end of a transaction.
const BUSY: Duration = Duration::from_secs(5);
/// Kibibytes of pages that a connection keeps.
const CACHE_KIB: i64 = 2_048;
/// Pages in the log beside a file after which they go into the file: 4 MiB.
const WAL_PAGES: i64 = 1_000;

/// Opens a file to write, made where it is missing, and brings it to the present version.
pub(super) fn write(path: &Path, content: Content, ensemble: &str) -> Result<Connection, StoreError> {
    files::own(path).map_err(|error| files::failed(path, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    // The log survives the end of the process. Of a machine that loses power the last moments may be lost, never more.
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES).map_err(failed)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    schema::migrate(&mut connection, content, ensemble)?;
    Ok(connection)
}

/// Opens a file to read; None while whoever writes is making it.
pub(super) fn read_made(path: &Path, content: Content) -> Result<Option<Connection>, StoreError> {
    let (connection, version) = open_to_read(path, content)?;
    Ok((version > 0).then_some(connection))
}

/// Opens a file to read.
pub(super) fn read(path: &Path, content: Content) -> Result<Connection, StoreError> {
    let (connection, version) = open_to_read(path, content)?;
    if version == 0 {
        return Err(StoreError::Damaged(format!("{} has no tables", path.display())));
    }
    Ok(connection)
}

fn open_to_read(path: &Path, content: Content) -> Result<(Connection, i64), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    let version = schema::check(&connection, content)?;
    Ok((connection, version))
}

/// Steps of SQLite's machine between two looks at the clock.
const STEPS_A_LOOK: i32 = 20_000;

/// Ends what is asked of a connection at an instant.
pub(super) fn give_up_at(connection: &mut Connection, at: Option<Instant>) -> Result<(), StoreError> {
    let Some(at) = at else { return Ok(()) };
    connection.progress_handler(STEPS_A_LOOK, Some(move || clock::instant() >= at)).map_err(failed)
}

/// What an error of SQLite means.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull | ErrorCode::TooBig) => StoreError::Full(text),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Denied(text),
        Some(ErrorCode::OperationInterrupted) => StoreError::TooLong,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        Some(_) => StoreError::Failed(text),
        // What is there has another type than was written.
        None => match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..) => StoreError::Damaged(text),
            _ => StoreError::Failed(text),
        },
    }
}
