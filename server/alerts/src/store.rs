//! Keeps alerts, silences and snoozes of lock orders over a restart: one small SQLite file. Blocking.

use std::path::Path;
use std::time::Duration;

use lockscope_view::OrderSnooze;
use rusqlite::{Connection, OptionalExtension as _};
use serde::de::DeserializeOwned;

use crate::book::{KeptAlert, KeptSilence, Unsaved};

/// The format of the file.
const VERSION: i64 = 1;
/// How long another process may have the file.
const BUSY: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("alerts.db can't be used: {0}")]
    File(#[from] rusqlite::Error),
    #[error("the directory of alerts.db can't be made: {0}")]
    Directory(#[from] std::io::Error),
    /// What is to be stored can't be written down.
    #[error("an alert can't be stored: {0}")]
    Text(#[from] serde_json::Error),
    /// A later version wrote it.
    #[error("alerts.db is of version {0}, which this server does not know; start the later one, or move the file away")]
    Later(i64),
}

#[derive(Debug)]
pub struct Store(Connection);

pub type Kept = (Vec<KeptAlert>, Vec<KeptSilence>, Vec<OrderSnooze>);

impl Store {
    /// Opens the file in a directory, and reads all of it.
    pub fn open(dir: &Path) -> Result<(Self, Kept), StoreError> {
        std::fs::create_dir_all(dir)?;
        let path = dir.join("alerts.db");
        restrict(&path)?;
        let file = Connection::open(path)?;
        file.busy_timeout(BUSY)?;
        file.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS alert (key TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
             CREATE TABLE IF NOT EXISTS silence (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
             CREATE TABLE IF NOT EXISTS order_snooze (id INTEGER PRIMARY KEY, body TEXT NOT NULL);",
        )?;
        let version = file.query_row("SELECT version FROM meta", [], |row| row.get(0)).optional()?;
        match version {
            None => drop(file.execute("INSERT INTO meta (version) VALUES (?1)", [VERSION])?),
            Some(version) if version > VERSION => return Err(StoreError::Later(version)),
            Some(_) => {}
        }
        let alerts = read(&file, "SELECT body FROM alert")?;
        let silences = read(&file, "SELECT body FROM silence ORDER BY id")?;
        let snoozes = read(&file, "SELECT body FROM order_snooze ORDER BY id")?;
        Ok((Self(file), (alerts, silences, snoozes)))
    }

    /// Stores snoozes of lock orders, and forgets those of some numbers, all of it or nothing. It is on the disk when
    /// this returns.
    pub fn save_snoozes<'a>(
        &mut self,
        new: impl Iterator<Item = &'a OrderSnooze>,
        over: impl Iterator<Item = u64>,
    ) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        let number = |id: u64| i64::try_from(id).unwrap_or(i64::MAX);
        for id in over {
            transaction.execute("DELETE FROM order_snooze WHERE id = ?1", [number(id)])?;
        }
        for snooze in new {
            transaction
                .prepare("INSERT OR REPLACE INTO order_snooze (id, body) VALUES (?1, ?2)")?
                .execute((number(snooze.id), serde_json::to_string(snooze)?))?;
        }
        Ok(transaction.commit()?)
    }

    /// Stores what changed, all of it or nothing; it is on the disk when this returns.
    pub fn save(&mut self, unsaved: &Unsaved) -> Result<(), StoreError> {
        if unsaved.alerts.is_empty() && unsaved.silences.is_empty() {
            return Ok(());
        }
        let transaction = self.0.transaction()?;
        for (key, kept) in &unsaved.alerts {
            match kept {
                Some(kept) => transaction
                    .prepare("INSERT OR REPLACE INTO alert (key, body) VALUES (?1, ?2)")?
                    .execute((key, serde_json::to_string(kept)?))?,
                None => transaction.prepare("DELETE FROM alert WHERE key = ?1")?.execute([key])?,
            };
        }
        for (id, silence) in &unsaved.silences {
            let id = i64::try_from(*id).unwrap_or(i64::MAX);
            match silence {
                Some(silence) => transaction
                    .prepare("INSERT OR REPLACE INTO silence (id, body) VALUES (?1, ?2)")?
                    .execute((id, serde_json::to_string(silence)?))?,
                None => transaction.prepare("DELETE FROM silence WHERE id = ?1")?.execute([id])?,
            };
        }
        Ok(transaction.commit()?)
    }
}

fn read<T: DeserializeOwned>(file: &Connection, query: &str) -> Result<Vec<T>, StoreError> {
    let mut statement = file.prepare(query)?;
    let texts = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut found = Vec::new();
    for text in texts {
        let one = match text {
            Ok(text) => serde_json::from_str(&text).map_err(|error| error.to_string()),
            // It is no text.
            Err(
                error @ (rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::Utf8Error(..)),
            ) => Err(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        match one {
            Ok(one) => found.push(one),
            // Nothing else is lost with it.
            Err(error) => tracing::warn!("a row of alerts.db can't be read and is left out: {error}"),
        }
    }
    Ok(found)
}

/// Nobody but the server reads it: sentences may have in them what znodes carry.
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path).map(drop)
}
