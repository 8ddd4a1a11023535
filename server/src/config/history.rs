//! The settings of the history: whether what is observed is recorded, where, and how much of it is kept. The address of
//! a database may hold a password, so it is never repeated.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockscope_history::store::Retention;

use super::ConfigError;
use super::layers::Layers;

/// What is kept of the past when nothing is said.
const RETENTION: Retention = Retention {
    chunks_ms: 7 * 86_400_000,
    chunk_bytes_max: 4_000_000_000,
    spans_ms: 30 * 86_400_000,
    minutes_ms: 90 * 86_400_000,
};
/// The folder in the data directory.
const FOLDER: &str = "history";

/// Where the past is kept, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Where.
    pub place: HistoryPlace,
    /// How much.
    pub retention: Retention,
}

/// Where the past is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryPlace {
    /// Files in a directory.
    Directory(PathBuf),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Database(lockscope_history::store::postgres::Target),
}

impl History {
    /// In a data directory, and as much of it as is usual.
    pub fn in_dir(data_dir: &Path) -> Self {
        Self { place: HistoryPlace::Directory(data_dir.join(FOLDER)), retention: RETENTION }
    }
}

impl HistoryPlace {
    /// For people.
    pub fn described(&self) -> String {
        match self {
            Self::Directory(dir) => format!("SQLite files in {}", dir.display()),
            #[cfg(feature = "postgres")]
            Self::Database(target) => format!("PostgreSQL, {}", target.shown()),
        }
    }
}

/// The history; None when it is off, or there is no place for it.
pub(super) fn read(layers: &Layers<'_>, data_dir: Option<&Path>) -> Result<Option<History>, ConfigError> {
    let keys = &layers.settings.top;
    let is_on = keys.history.is_on("write off to record nothing, or leave it out")?;
    let dir = keys.history_dir.read()?;
    let ms = |age: Duration| i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    let chunks_ms = keys.history_age.read()?.map_or(RETENTION.chunks_ms, ms);
    let chunk_bytes_max = keys.history_size.read_or(RETENTION.chunk_bytes_max)?;
    let spans_ms = keys.history_spans_age.read()?.map_or(RETENTION.spans_ms, ms);
    let minutes_ms = keys.history_minutes_age.read()?.map_or(RETENTION.minutes_ms, ms).max(spans_ms);
    let place = match (read_database(layers)?, dir) {
        (Some(_), Some(_)) => return refuse!("history_dir and history_url name two places; leave one of them out"),
        (Some(database), None) => Some(database),
        (None, dir) => dir.or_else(|| data_dir.map(|dir| dir.join(FOLDER))).map(HistoryPlace::Directory),
    };
    match place {
        None if is_on == Some(true) => {
            refuse!("the history needs a place; name one with history_dir, history_url or --data-dir")
        }
        Some(place) if is_on != Some(false) => {
            Ok(Some(History { place, retention: Retention { chunks_ms, chunk_bytes_max, spans_ms, minutes_ms } }))
        }
        _ => Ok(None),
    }
}

/// The database, when one is named; by itself, or in a file.
fn read_database(layers: &Layers<'_>) -> Result<Option<HistoryPlace>, ConfigError> {
    let keys = &layers.settings.top;
    match (&keys.history_url.given, &keys.history_url_file.given) {
        (None, None) => Ok(None),
        (Some(url), None) => database(&url.from, &url.text()?).map(Some),
        (None, Some(file)) => {
            let url = layers.read_secret(file, "name a file that can be")?;
            database(&format!("the URL in {:?}", file.text()?), &url).map(Some)
        }
        (Some(_), Some(file)) => {
            refuse!("{} names a database, as `history_url` does; leave one of them out", file.from)
        }
    }
}

#[cfg(feature = "postgres")]
fn database(from: &str, url: &str) -> Result<HistoryPlace, ConfigError> {
    let target = lockscope_history::store::postgres::Target::parse(url);
    target.map(HistoryPlace::Database).map_err(|wrong| mistake!("{from} {}; {}", wrong.why, wrong.remedy))
}

#[cfg(not(feature = "postgres"))]
fn database(from: &str, _url: &str) -> Result<HistoryPlace, ConfigError> {
    refuse!("{from} needs PostgreSQL, which this program was built without; use history_dir")
}
