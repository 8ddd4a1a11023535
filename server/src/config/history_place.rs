//! Where the past is kept. The address of a database may hold a password, so it is never repeated.

use std::path::PathBuf;

use super::{ConfigError, Layers};

/// Where the past is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryPlace {
    /// Files in a directory.
    Directory(PathBuf),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Database(lockscope_history::store::postgres::Target),
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

/// The database, when one is named; by itself, or in a file.
pub(super) fn of(layers: &Layers<'_>) -> Result<Option<HistoryPlace>, ConfigError> {
    let (url, file) = (layers.one("history_url", None)?, layers.one("history_url_file", None)?);
    let (from, url) = match (url, file) {
        (None, None) => return Ok(None),
        (Some(url), None) => (url.from, url.value),
        (None, Some(file)) => {
            let url = layers.read_secret(&file, "name a file that can be")?;
            (format!("the URL in {:?}", file.value), url)
        }
        (Some(_), Some(file)) => {
            return Err(ConfigError(format!(
                "{} names a database, as `history_url` does; leave one of them out",
                file.from
            )));
        }
    };
    database(&from, &url).map(Some)
}

#[cfg(feature = "postgres")]
fn database(from: &str, url: &str) -> Result<HistoryPlace, ConfigError> {
    let target = lockscope_history::store::postgres::Target::parse(url);
    target.map(HistoryPlace::Database).map_err(|wrong| ConfigError(format!("{from} {}; {}", wrong.why, wrong.remedy)))
}

#[cfg(not(feature = "postgres"))]
fn database(from: &str, _url: &str) -> Result<HistoryPlace, ConfigError> {
    Err(ConfigError(format!("{from} needs PostgreSQL, which this program was built without; use history_dir")))
}
