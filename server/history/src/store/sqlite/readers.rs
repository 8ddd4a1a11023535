//! Connections that read, kept for the next look. Opening one costs more than most looks.

use std::path::Path;

use parking_lot::Mutex;
use rusqlite::Connection;

use super::connection;
use super::files::Day;
use super::schema::Content;
use crate::store::StoreError;

/// Connections that are kept; beyond, the one that was used longest ago is closed.
const READERS_MAX: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Readers(Mutex<Vec<(Day, Connection)>>);

impl Readers {
    /// Runs a look over the file of a day.
    pub(super) fn with<T>(
        &self,
        day: Day,
        path: &Path,
        content: Content,
        look: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if connection::is_given_up(None) {
            return Err(StoreError::TooLong);
        }
        let kept = {
            let mut kept = self.0.lock();
            let at = kept.iter().position(|(of, _)| *of == day);
            at.map(|at| kept.remove(at).1)
        };
        let mut connection = match kept {
            Some(connection) => connection,
            None => connection::read(path, content)?,
        };
        connection::give_up_at(&mut connection, None)?;
        let found = look(&connection)?;
        let mut kept = self.0.lock();
        kept.push((day, connection));
        if kept.len() > READERS_MAX {
            kept.remove(0);
        }
        Ok(found)
    }

    /// Closes those of a day whose file goes.
    pub(super) fn forget(&self, day: Day) {
        self.0.lock().retain(|(of, _)| *of != day);
    }
}
