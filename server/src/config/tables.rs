//! The tables of the configuration file: `[[lock]]` says what locks are by their paths, `[lints]` which findings are
//! reported and from where on.

use lockscope_core::configured::Configured;
use lockscope_core::finding::{Code, Limits, MUST_BE_HELD_MAX};
use lockscope_core::recipe::Recipe;
use lockscope_core::tally::GAVE_UP_MAX;
use toml::Value;

use super::ConfigError;
use super::toml_file::{Entry, Section};

/// Names of recipes as the API has them; `none` says that a path is no lock.
const RECIPES: [(&str, Recipe); 10] = [
    ("sequential_mutex", Recipe::SequentialMutex),
    ("read_write", Recipe::ReadWrite),
    ("semaphore", Recipe::Semaphore),
    ("single_node_mutex", Recipe::SingleNodeMutex),
    ("election", Recipe::Election),
    ("barrier", Recipe::Barrier),
    ("double_barrier", Recipe::DoubleBarrier),
    ("queue", Recipe::Queue),
    ("membership", Recipe::Membership),
    ("none", Recipe::Unknown),
];

/// Entries of `[[lock]]` at most: each is tried on every new lock.
const LOCKS_MAX: usize = 1_000;

/// Reads `[[lock]]`.
pub(super) fn locks(entry: Option<Entry<'_>>) -> Result<Vec<Configured>, ConfigError> {
    entry.map_or(Ok(Vec::new()), |entry| entry.sections(LOCKS_MAX)?.iter().map(lock).collect())
}

fn lock(fields: &Section<'_>) -> Result<Configured, ConfigError> {
    let Some(path) = fields.get("path") else {
        return fields.lacks("path", "write the path it is about, like path = \"/x/*\"");
    };
    let pattern = match path.value {
        Value::String(path) if path.starts_with('/') => path.clone(),
        other => {
            return Err(ConfigError(format!(
                "{} is {}; write a path that starts with a slash, like \"/x/*\"",
                path.from,
                shown(other)
            )));
        }
    };
    let recipe = fields.get("recipe").map(|entry| recipe(&entry)).transpose()?;
    let max = fields.get("max").map(|entry| number(&entry, 1, u32::MAX)).transpose()?;
    if recipe.is_none() && max.is_none() {
        return Err(ConfigError(format!(
            "{} has no setting for {pattern}; give it a `recipe` or a `max`",
            fields.from()
        )));
    }
    Ok(Configured { pattern, recipe, max })
}

fn recipe(entry: &Entry<'_>) -> Result<Recipe, ConfigError> {
    let found = entry.value.as_str().and_then(|text| RECIPES.iter().find(|(known, _)| *known == text));
    found.map(|(_, recipe)| *recipe).ok_or_else(|| {
        let names = RECIPES.map(|(name, _)| name).join(", ");
        ConfigError(format!("{} is {}; use one of {names}", entry.from, shown(entry.value)))
    })
}

/// Reads `[lints]`: a code is `"on"` or `"off"`, or true or false, a limit is a number. Anything else is reported as a mistake.
pub(super) fn lints(entry: Option<Entry<'_>>) -> Result<Limits, ConfigError> {
    let mut limits = Limits::default();
    let Some(entry) = entry else { return Ok(limits) };
    for entry in entry.section()?.entries() {
        if let Some(code) = Code::ALL.into_iter().find(|code| code.name() == entry.key) {
            match entry.value {
                Value::Boolean(true) => {}
                Value::Boolean(false) => limits.off.push(code),
                Value::String(text) if text == "on" => {}
                Value::String(text) if text == "off" => limits.off.push(code),
                _ if code == Code::MustBeHeld => {
                    limits.must_be_held = patterns(&entry, MUST_BE_HELD_MAX, "must_be_held = [\"/elections/*\"]")?;
                }
                _ => {
                    return Err(ConfigError(format!(
                        "{} is {}; write \"on\" or \"off\"",
                        entry.from,
                        shown(entry.value)
                    )));
                }
            }
            continue;
        }
        let limit = match entry.key.as_str() {
            "herd_waiters" => &mut limits.herd_waiters,
            "deep_contenders" => &mut limits.deep_contenders,
            "sequence_percent" => &mut limits.sequence_percent,
            "empty_locks_min" => &mut limits.empty_locks,
            "hoard_znodes" => &mut limits.hoard_znodes,
            "churn_attempts" => &mut limits.churn_attempts,
            _ => continue,
        };
        *limit = number(&entry, 1, most(&entry.key))?;
    }
    Ok(limits)
}

/// A value as it stands in the file; of a table only that it is one.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(instant) => instant.to_string(),
        Value::Array(_) | Value::Table(_) => format!("a {}", value.type_str()),
    }
}

/// The largest value a limit may have and still be reached: only so many attempts are remembered, and a percentage
/// ends at 100.
fn most(limit: &str) -> u32 {
    match limit {
        "churn_attempts" => u32::try_from(GAVE_UP_MAX).unwrap_or(u32::MAX),
        "sequence_percent" => 100,
        _ => u32::MAX,
    }
}

/// A list of patterns of paths, and how one is written.
pub(super) fn patterns(entry: &Entry<'_>, most: usize, example: &str) -> Result<Vec<String>, ConfigError> {
    let remedy = format!("write a list of paths that start with a slash, like {example}");
    let Value::Array(items) = entry.value else {
        return Err(ConfigError(format!("{} is {}; {remedy}", entry.from, shown(entry.value))));
    };
    if items.len() > most {
        return Err(ConfigError(format!(
            "{} has {} patterns; write at most {most}, with stars for what they share",
            entry.from,
            items.len()
        )));
    }
    let pattern = |item: &Value| {
        let path = item.as_str().filter(|path| path.starts_with('/')).map(str::to_owned);
        path.ok_or_else(|| ConfigError(format!("{} has {}; {remedy}", entry.from, shown(item))))
    };
    items.iter().map(pattern).collect()
}

pub(super) fn number(entry: &Entry<'_>, least: u32, most: u32) -> Result<u32, ConfigError> {
    let number = entry
        .value
        .as_integer()
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        ConfigError(format!("{} is {}; write a whole number from {least} to {most}", entry.from, shown(entry.value)))
    })
}
