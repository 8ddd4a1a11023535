//! What an ensemble is, as pairs of texts: filters of the fleet page go by them.

use std::collections::BTreeMap;

use toml::Value;

use super::ConfigError;
use super::toml_file::Entry;

/// Labels of one ensemble.
const LABELS_MAX: usize = 16;
/// Longest key and longest value, in characters: they stand on every tile.
const CHARS_MAX: usize = 40;

/// Reads `labels`.
pub(super) fn of(entry: Option<Entry<'_>>) -> Result<BTreeMap<String, String>, ConfigError> {
    let Some(entry) = entry else { return Ok(BTreeMap::new()) };
    let remedy = "write pairs like { env = \"prod\", region = \"eu\" }";
    let Value::Table(pairs) = entry.value else {
        return Err(ConfigError(format!("{} is a {}; {remedy}", entry.from, entry.value.type_str())));
    };
    if pairs.len() > LABELS_MAX {
        return Err(ConfigError(format!("{} has {} labels; write at most {LABELS_MAX}", entry.from, pairs.len())));
    }
    let pair = |(key, value): (&String, &Value)| match value {
        Value::String(text) if is_good(key) && is_good(text) => Ok((key.clone(), text.clone())),
        Value::String(text) => Err(ConfigError(format!(
            "{} has {key:?} = {text:?}; write 1 to {CHARS_MAX} letters, digits, dots, dashes, underscores or slashes for each",
            entry.from
        ))),
        other => Err(ConfigError(format!("{} has a {} for {key:?}; {remedy}", entry.from, other.type_str()))),
    };
    pairs.iter().map(pair).collect()
}

fn is_good(text: &str) -> bool {
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    !text.is_empty() && text.chars().count() <= CHARS_MAX && text.chars().all(is_good)
}
