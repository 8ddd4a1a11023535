//! `[metrics]`: which locks have series of their own at `/metrics`.

use lockscope_core::configured::MetricSelection;

use super::ConfigError;
use super::tables::{number, patterns};
use super::toml_file::Entry;

/// Each has five series.
const TOP_LOCKS_MAX: u32 = 200;
/// Patterns at most: each is tried on every lock at every scrape.
const PATTERNS_MAX: usize = 50;

/// Reads `[metrics]`.
pub(super) fn of(entry: Option<Entry<'_>>) -> Result<MetricSelection, ConfigError> {
    let Some(entry) = entry else { return Ok(MetricSelection::usual()) };
    let fields = entry.section()?;
    let top = fields.get("top_locks").map(|entry| number(&entry, 0, TOP_LOCKS_MAX)).transpose()?;
    let top = top.and_then(|top| usize::try_from(top).ok()).unwrap_or(MetricSelection::usual().top);
    let patterns = fields.get("locks").map(|entry| patterns(&entry, PATTERNS_MAX, "locks = [\"/orders/*\"]"));
    Ok(MetricSelection { top, patterns: patterns.transpose()?.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::super::toml_file::TomlFile;
    use super::*;

    fn load(text: &str) -> Result<MetricSelection, String> {
        let file = TomlFile::parse("x.toml".to_owned(), text).unwrap();
        of(file.top().get("metrics")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        assert_eq!(load(""), Ok(MetricSelection { top: 20, patterns: Vec::new() }));
        assert_eq!(
            load("[metrics]\ntop_locks = 0\nlocks = [\"/a/*\"]"),
            Ok(MetricSelection { top: 0, patterns: vec!["/a/*".to_owned()] })
        );
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        let remedy = "write a list of paths that start with a slash, like locks = [\"/orders/*\"]";
        let many = format!("[metrics]\nlocks = [{}]", "\"/a\",".repeat(51));
        for (text, sentence) in [
            (
                "metrics = 1",
                "x.toml:1: `metrics` is a integer; write it as a table that begins with [metrics]".to_owned(),
            ),
            (
                "[metrics]\ntop_locks = 201",
                "x.toml:2: `top_locks` in [metrics] is 201; write a whole number from 0 to 200".to_owned(),
            ),
            (
                "[metrics]\ntop_locks = -1",
                "x.toml:2: `top_locks` in [metrics] is -1; write a whole number from 0 to 200".to_owned(),
            ),
            ("[metrics]\nlocks = \"/a\"", format!("x.toml:2: `locks` in [metrics] is \"/a\"; {remedy}")),
            ("[metrics]\nlocks = [\"a\"]", format!("x.toml:2: `locks` in [metrics] has \"a\"; {remedy}")),
            (
                &many,
                "x.toml:2: `locks` in [metrics] has 51 patterns; write at most 50, with stars for what they share"
                    .to_owned(),
            ),
        ] {
            assert_eq!(load(text), Err(sentence), "{text}");
        }
    }
}
