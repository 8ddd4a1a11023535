//! One ensemble: what may be said of it, in a table of its own or at the top of the file.

use std::collections::BTreeMap;

use lockscope_view::EnsembleColor;

use super::identity::{self, Identity};
use super::toml_file::Section;
use super::{ConfigError, Layers, SettingValue, check, labels};

/// What to write for `evidence`.
pub(super) const EVIDENCE: &str = "write on, or off to ask the members nothing";
/// Ensembles one server watches.
pub(super) const ENSEMBLES_MAX: usize = 10_000;
/// Longest name, in characters: it stands on every row.
const NAME_CHARS_MAX: usize = 32;

/// One ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ensemble {
    /// Its name; `default` when it was given none.
    pub name: String,
    /// Its colour; None for the only one when it was given no name.
    pub color: Option<EnsembleColor>,
    /// Connect string.
    pub zk: String,
    /// Watched roots; never empty, never nested.
    pub roots: Vec<String>,
    /// Patterns of paths that are never read.
    pub exclude: Vec<String>,
    /// Znodes that are read at most.
    pub znodes_max: usize,
    /// What it is, for filters.
    pub labels: BTreeMap<String, String>,
    /// The file of `ensembles_dir` that it is from; None for any other place.
    pub file: Option<String>,
    /// Whether the members are asked for evidence.
    pub evidence: bool,
    /// Their AdminServers, where named.
    pub admin_urls: Vec<String>,
    /// The znode below which an ephemeral may be written, to prove the quorum; None: nothing is ever written.
    pub clock_scratch: Option<String>,
    /// Who Lockscope is there.
    pub identity: Identity,
}

/// What is said where another has the name.
pub(super) fn taken(table: &Section<'_>, name: &str) -> ConfigError {
    let from = table.get("name").map_or_else(|| table.from(), |entry| entry.from);
    ConfigError(format!("{from} {name:?} is taken by another; give each ensemble a name of its own"))
}

/// One of several; all it has is in its table.
pub(super) fn one(table: &Section<'_>, color: EnsembleColor, layers: &Layers<'_>) -> Result<Ensemble, ConfigError> {
    let text = |key: &str| table.one(key);
    let list = |key: &str| table.many(key);
    let Some(name) = text("name")? else {
        return table.lacks("name", "give it one, it is shown with everything of it");
    };
    let Some(zk) = text("zk")? else {
        return table.lacks("zk", "write its connect string, like zk = \"127.0.0.1:2181\"");
    };
    check::connect(&zk)?;
    let roots =
        list("root")?.filter(|roots| !roots.is_empty()).unwrap_or_else(|| vec![super::setting_value("/", "root")]);
    check::roots(&roots)?;
    let admin_urls = list("admin_url")?.unwrap_or_default();
    check::admin_urls(&admin_urls)?;
    let identity = identity::of(layers, &zk, false, text)?;
    Ok(Ensemble {
        identity,
        name: check_name(&name)?,
        color: Some(text("color")?.map_or(Ok(color), |color| check_color(&color))?),
        zk: zk.value,
        exclude: exclusions(list("exclude")?, &roots)?,
        znodes_max: text("znodes_max")?
            .map_or(Ok(lockscope_zookeeper::ZNODES_MAX), |number| check::znodes_max(&number))?,
        labels: labels::of(table.get("labels"))?,
        file: None,
        roots: roots.into_iter().map(|root| root.value).collect(),
        evidence: text("evidence")?.map_or(Ok(true), |word| check::switch(&word, EVIDENCE))?,
        admin_urls: admin_urls.into_iter().map(|url| url.value).collect(),
        clock_scratch: text("clock_scratch")?.map(|path| check_scratch(&path)).transpose()?,
    })
}

pub(super) fn check_scratch(path: &SettingValue) -> Result<String, ConfigError> {
    check::roots(std::slice::from_ref(path))?;
    Ok(path.value.clone())
}

pub(super) fn exclusions(given: Option<Vec<SettingValue>>, roots: &[SettingValue]) -> Result<Vec<String>, ConfigError> {
    let given = given.unwrap_or_default();
    check::exclusions(&given, roots)?;
    Ok(given.into_iter().map(|pattern| pattern.value).collect())
}

pub(super) fn nth_color(at: usize) -> EnsembleColor {
    EnsembleColor::ALL.into_iter().cycle().nth(at).unwrap_or(EnsembleColor::Blue)
}

pub(super) fn check_name(name: &SettingValue) -> Result<String, ConfigError> {
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.value.is_empty() && name.value.chars().count() <= NAME_CHARS_MAX && name.value.chars().all(is_good) {
        return Ok(name.value.clone());
    }
    Err(ConfigError(format!(
        "{} {:?} is no name; write 1 to {NAME_CHARS_MAX} letters, digits, dots, dashes or underscores, like prod-eu",
        name.from, name.value
    )))
}

pub(super) fn check_color(color: &SettingValue) -> Result<EnsembleColor, ConfigError> {
    EnsembleColor::ALL.into_iter().find(|known| known.name() == color.value).ok_or_else(|| {
        let names = EnsembleColor::ALL.map(EnsembleColor::name).join(", ");
        ConfigError(format!("{} {:?} is none of the colours; use one of {names}", color.from, color.value))
    })
}
