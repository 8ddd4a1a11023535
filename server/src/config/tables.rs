//! The tables of the configuration file: `[[lock]]` says what locks are by their paths, `[lints]` which findings are told
//! and from where on.

use app::domain::configured::Configured;
use app::domain::finding::{Code, Limits};
use app::domain::recipe::Recipe;
use app::domain::tally::GAVE_UP_MAX;
use toml::{Table, Value};

use super::ConfigError;

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
pub(super) fn locks(value: Option<&Value>, file: &str) -> Result<Vec<Configured>, ConfigError> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let Value::Array(entries) = value else {
        return Err(ConfigError(format!("`lock` in {file} is a {}; write it as tables that begin with [[lock]]", value.type_str())));
    };
    if entries.len() > LOCKS_MAX {
        return Err(ConfigError(format!("{file} has {} [[lock]] entries; write at most {LOCKS_MAX}, with patterns like \"/x/*\"", entries.len())));
    }
    (1..).zip(entries).map(|(number, entry)| lock(entry, &format!("[[lock]] entry {number} in {file}"))).collect()
}

fn lock(entry: &Value, name: &str) -> Result<Configured, ConfigError> {
    let Value::Table(fields) = entry else {
        return Err(ConfigError(format!("{name} is a {}; write path, recipe and max below [[lock]]", entry.type_str())));
    };
    known(fields, &["path", "recipe", "max"], name)?;
    let pattern = match fields.get("path") {
        Some(Value::String(path)) if path.starts_with('/') => path.clone(),
        Some(other) => {
            return Err(ConfigError(format!("`path` of {name} is {}; write a path that starts with a slash, like \"/x/*\"", shown(other))));
        }
        None => return Err(ConfigError(format!("{name} has no `path`; write the path it is about, like path = \"/x/*\""))),
    };
    let recipe = fields.get("recipe").map(|value| recipe(value, name)).transpose()?;
    let max = fields.get("max").map(|value| number(value, &format!("`max` of {name}"), 1, u32::MAX)).transpose()?;
    if recipe.is_none() && max.is_none() {
        return Err(ConfigError(format!("{name} says nothing of {pattern}; give it a `recipe` or a `max`")));
    }
    Ok(Configured { pattern, recipe, max })
}

fn recipe(value: &Value, name: &str) -> Result<Recipe, ConfigError> {
    let found = value.as_str().and_then(|text| RECIPES.iter().find(|(known, _)| *known == text));
    found.map(|(_, recipe)| *recipe).ok_or_else(|| {
        let names = RECIPES.map(|(name, _)| name).join(", ");
        ConfigError(format!("`recipe` of {name} is {}; use one of {names}", shown(value)))
    })
}

/// Reads `[lints]`: a code is `"on"` or `"off"`, a limit is a number.
pub(super) fn lints(value: Option<&Value>, file: &str) -> Result<Limits, ConfigError> {
    let mut limits = Limits::default();
    let Some(value) = value else { return Ok(limits) };
    let Value::Table(fields) = value else {
        return Err(ConfigError(format!("`lints` in {file} is a {}; write it as a table that begins with [lints]", value.type_str())));
    };
    for (key, value) in fields {
        let name = format!("`{key}` in [lints] of {file}");
        if let Some(code) = Code::ALL.into_iter().find(|code| code.name() == key) {
            match value.as_str() {
                Some("on") => {}
                Some("off") => limits.off.push(code),
                _ => return Err(ConfigError(format!("{name} is {}; write \"on\" or \"off\"", shown(value)))),
            }
            continue;
        }
        let limit = match key.as_str() {
            "herd_waiters" => &mut limits.herd_waiters,
            "deep_contenders" => &mut limits.deep_contenders,
            "sequence_percent" => &mut limits.sequence_percent,
            "empty_locks_min" => &mut limits.empty_locks,
            "hoard_znodes" => &mut limits.hoard_znodes,
            "churn_attempts" => &mut limits.churn_attempts,
            _ => return Err(unknown_lint(&name)),
        };
        *limit = number(value, &name, 1, most(key))?;
    }
    Ok(limits)
}

fn unknown_lint(name: &str) -> ConfigError {
    let codes = Code::ALL.map(Code::name).join(", ");
    ConfigError(format!(
        "{name} is neither a lint nor a limit; lints are {codes}; limits are herd_waiters, deep_contenders, sequence_percent, empty_locks_min, \
         hoard_znodes, churn_attempts"
    ))
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

pub(super) fn known(fields: &Table, names: &[&str], of: &str) -> Result<(), ConfigError> {
    let Some(key) = fields.keys().find(|key| !names.contains(&key.as_str())) else { return Ok(()) };
    Err(ConfigError(format!("{of} has the unknown key `{key}`; the keys are {}", names.join(", "))))
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

pub(super) fn number(value: &Value, name: &str, least: u32, most: u32) -> Result<u32, ConfigError> {
    let number = value.as_integer().and_then(|number| u32::try_from(number).ok()).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| ConfigError(format!("{name} is {}; write a whole number from {least} to {most}", shown(value))))
}
