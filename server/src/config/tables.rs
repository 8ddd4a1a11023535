//! `[[lock]]` says what locks are by their paths, `[lints]` which findings are reported and from where on, `[metrics]`
//! which locks have series of their own.

use lockscope_core::configured::{Configured, MetricSelection};
use lockscope_core::finding::{Code, Limits, MUST_BE_HELD_MAX};
use toml::Value;

use super::ConfigError;
use super::given::{Given, Section, Table, Tables, open, shown};
use super::settings::{LockKeys, MetricsKeys, Settings};

/// Patterns of `[metrics]` at most: each is tried on every lock at every scrape.
const METRICS_MAX: usize = 50;

pub(super) fn read_locks(tables: &Tables<LockKeys>) -> Result<Vec<Configured>, ConfigError> {
    open(tables)?.map_or(Ok(Vec::new()), |tables| tables.keys.iter().map(read_lock).collect())
}

fn read_lock(table: &Section<LockKeys>) -> Result<Configured, ConfigError> {
    let keys = &table.keys;
    let Some(path) = &keys.path.given else {
        return table.lacks("path", "write the path it is about, like path = \"/x/*\"");
    };
    let Some(pattern) = path.value.as_str().filter(|path| path.starts_with('/')).map(str::to_owned) else {
        return refuse!("{} is {}; write a path that starts with a slash, like \"/x/*\"", path.from, path.shown());
    };
    let (recipe, max) = (keys.recipe.read()?, keys.max.read()?);
    if recipe.is_none() && max.is_none() {
        return refuse!("{} has no setting for {pattern}; give it a `recipe` or a `max`", table.from);
    }
    Ok(Configured { pattern, recipe, max })
}

pub(super) fn read_lints(settings: &Settings) -> Result<Limits, ConfigError> {
    let mut limits = Limits::default();
    let (Some(table), Some(findings)) = (open(&settings.lints)?, open(&settings.findings)?) else { return Ok(limits) };
    let (keys, findings) = (&table.keys, &findings.keys);
    for code in Code::ALL {
        let Some(given @ Given { from, value, .. }) = findings.get(code.name()) else { continue };
        match value {
            Value::Boolean(true) => {}
            Value::Boolean(false) => limits.off.push(code),
            Value::String(text) if text == "on" => {}
            Value::String(text) if text == "off" => limits.off.push(code),
            _ if code == Code::MustBeHeld => {
                limits.must_be_held = patterns(given, MUST_BE_HELD_MAX, "must_be_held = [\"/elections/*\"]")?;
            }
            _ => return refuse!("{from} is {}; write \"on\" or \"off\"", given.shown()),
        }
    }
    limits.herd_waiters = keys.herd_waiters.read_or(limits.herd_waiters)?;
    limits.deep_contenders = keys.deep_contenders.read_or(limits.deep_contenders)?;
    limits.sequence_percent = keys.sequence_percent.read_or(limits.sequence_percent)?;
    limits.empty_locks = keys.empty_locks_min.read_or(limits.empty_locks)?;
    limits.hoard_znodes = keys.hoard_znodes.read_or(limits.hoard_znodes)?;
    limits.churn_attempts = keys.churn_attempts.read_or(limits.churn_attempts)?;
    Ok(limits)
}

pub(super) fn read_metrics(table: &Table<MetricsKeys>) -> Result<MetricSelection, ConfigError> {
    let usual = MetricSelection::usual();
    let Some(Section { keys, .. }) = open(table)? else { return Ok(usual) };
    let top = keys.top_locks.read()?.and_then(|top| usize::try_from(top).ok()).unwrap_or(usual.top);
    let patterns = keys.locks.given.as_ref().map(|given| patterns(given, METRICS_MAX, "locks = [\"/orders/*\"]"));
    Ok(MetricSelection { top, patterns: patterns.transpose()?.unwrap_or_default() })
}

/// A list of patterns of paths, and how one is written.
fn patterns(given: &Given, most: usize, example: &str) -> Result<Vec<String>, ConfigError> {
    let from = &given.from;
    let remedy = format!("write a list of paths that start with a slash, like {example}");
    let Value::Array(items) = &given.value else { return refuse!("{from} is {}; {remedy}", given.shown()) };
    if items.len() > most {
        let count = items.len();
        return refuse!("{from} has {count} patterns; write at most {most}, with stars for what they share");
    }
    let pattern = |item: &Value| match item.as_str().filter(|path| path.starts_with('/')) {
        Some(path) => Ok(path.to_owned()),
        None => refuse!("{from} has {}; {remedy}", shown(item)),
    };
    items.iter().map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use super::super::layers::read_text;
    use super::*;

    fn load(text: &str) -> Result<MetricSelection, String> {
        let (settings, _) = read_text("x.toml", text, false).unwrap();
        read_metrics(&settings.metrics).map_err(|error| error.to_string())
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
