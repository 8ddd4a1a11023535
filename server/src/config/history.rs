//! The settings of the history: whether what is observed is recorded, where, and how much of it is kept.

use std::path::Path;
use std::time::Duration;

use super::history_place::{self, HistoryPlace};
use super::{ConfigError, Layers, SettingValue, check};
use lockscope_history::store::Retention;

/// How long chunks are kept when nothing is said, and how much of them at most.
const AGE_DEFAULT: Duration = Duration::from_secs(7 * 86_400);
const BYTES_DEFAULT: u64 = 4 << 30;
/// Less would not hold two checkpoints of a large ensemble.
const BYTES_MIN: u64 = 16 << 20;
/// How long spans and facts are kept, and minutes.
const SPANS_AGE_DEFAULT: Duration = Duration::from_secs(30 * 86_400);
const MINUTES_AGE_DEFAULT: Duration = Duration::from_secs(90 * 86_400);
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

impl History {
    /// In a data directory, and as much of it as is usual.
    pub fn in_dir(data_dir: &Path) -> Self {
        Self { place: HistoryPlace::Directory(data_dir.join(FOLDER)), retention: usual() }
    }
}

fn usual() -> Retention {
    Retention {
        chunks_ms: ms(AGE_DEFAULT),
        chunk_bytes_max: BYTES_DEFAULT,
        spans_ms: ms(SPANS_AGE_DEFAULT),
        minutes_ms: ms(MINUTES_AGE_DEFAULT),
    }
}

fn ms(age: Duration) -> i64 {
    i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// The history; None when it is off, or there is no place for it.
pub(super) fn of(layers: &Layers<'_>, data_dir: Option<&Path>) -> Result<Option<History>, ConfigError> {
    let remedy = "write off to record nothing, or leave it out";
    let is_on = layers.checked("history", None, |word| check::switch(word, remedy))?;
    let dir = layers.checked("history_dir", None, check::data_dir)?;
    let age = layers.checked("history_age", None, check::lifetime)?;
    let chunk_bytes_max = layers.checked("history_size", None, bytes)?;
    let spans = layers.checked("history_spans_age", None, check::lifetime)?;
    let minutes = layers.checked("history_minutes_age", None, check::lifetime)?;
    let place = match (history_place::of(layers)?, dir) {
        (Some(_), Some(_)) => {
            return Err(ConfigError("history_dir and history_url name two places; leave one of them out".to_owned()));
        }
        (Some(database), None) => Some(database),
        (None, dir) => dir.or_else(|| data_dir.map(|dir| dir.join(FOLDER))).map(HistoryPlace::Directory),
    };
    let Some(place) = place else {
        let is_wanted = is_on == Some(true);
        return match is_wanted {
            true => Err(ConfigError(
                "the history needs a place; name one with history_dir, history_url or --data-dir".to_owned(),
            )),
            false => Ok(None),
        };
    };
    let usual = usual();
    let chunks_ms = age.map_or(usual.chunks_ms, ms);
    let spans_ms = spans.map_or(usual.spans_ms, ms);
    let retention = Retention {
        chunks_ms,
        chunk_bytes_max: chunk_bytes_max.unwrap_or(usual.chunk_bytes_max),
        spans_ms,
        minutes_ms: minutes.map_or(usual.minutes_ms, ms).max(spans_ms),
    };
    Ok((is_on != Some(false)).then_some(History { place, retention }))
}

/// A size like `4GB`.
fn bytes(setting: &SettingValue) -> Result<u64, ConfigError> {
    let text = setting.value.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim_start() {
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "TB" => Some(1_000_000_000_000),
        _ => None,
    };
    let bytes = factor.zip(number.parse::<u64>().ok()).and_then(|(factor, number)| number.checked_mul(factor));
    match bytes.filter(|bytes| *bytes >= BYTES_MIN) {
        Some(bytes) => Ok(bytes),
        None => check::wrong(setting, "is no size", "write it like 4GB or 500MB, at least 17MB"),
    }
}
