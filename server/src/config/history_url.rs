//! The address of the database that keeps the history. It may hold a password, so it is never repeated.

use super::history::HistoryPlace;
use super::{ConfigError, Layers};

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
