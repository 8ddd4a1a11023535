//! Which ensembles there are: the one that flags, environment and the top of the file name, or each `[[ensemble]]`
//! table of the file; and those of the directory beside it.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use lockscope_view::EnsembleColor;

use super::ensembles_dir::{self, BadFile};
use super::identity::{self, Identity};
use super::toml_file::{Entry, Section};
use super::{ConfigError, Layers, SettingValue, check, labels};
use crate::cli::ServeArgs;

/// What to write for `evidence`.
const EVIDENCE: &str = "write on, or off to ask the members nothing";
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

/// What there is of ensembles.
pub(super) struct Found {
    pub(super) ensembles: Vec<Ensemble>,
    /// Files of the directory with a mistake. What is in force of them stays, where there is anything.
    pub(super) bad: Vec<BadFile>,
    /// The directory that was read.
    pub(super) dir: Option<PathBuf>,
}

/// Every ensemble, checked. `in_force`: those that are watched already, and from which directory; nothing at a start.
pub(super) fn of(
    flags: &ServeArgs,
    layers: &Layers<'_>,
    in_force: Option<(&[Ensemble], Option<&Path>)>,
) -> Result<Found, ConfigError> {
    let dir = ensembles_dir::of(layers, in_force.and_then(|(_, dir)| dir))?;
    let tables = layers.file.top().get("ensemble");
    let mut ensembles = match &tables {
        Some(entry) => of_tables(flags, layers, entry, dir.is_some())?,
        None if dir.is_some() && layers.one("zk", flags.zk.as_deref())?.is_none() => Vec::new(),
        None => vec![only(flags, layers)?],
    };
    let Some(dir) = dir else { return Ok(Found { ensembles, bad: Vec::new(), dir: None }) };
    let kept = in_force.map_or(&[][..], |(ensembles, _)| ensembles);
    let bad = ensembles_dir::read(&dir, layers, kept, &mut ensembles)?;
    if ensembles.iter().any(|ensemble| ensemble.file.is_some()) {
        identity::check_several(layers)?;
    }
    if ensembles.is_empty() && bad.is_empty() {
        return Err(ConfigError(format!(
            "no ZooKeeper is named: no file *.toml of {} has an [[ensemble]] table, and there is no `zk`; write one",
            dir.display()
        )));
    }
    Ok(Found { ensembles, bad, dir: Some(dir) })
}

/// The `[[ensemble]]` tables of the file itself.
fn of_tables(
    flags: &ServeArgs,
    layers: &Layers<'_>,
    entry: &Entry<'_>,
    has_dir: bool,
) -> Result<Vec<Ensemble>, ConfigError> {
    let tables = entry.sections(ENSEMBLES_MAX)?;
    if tables.is_empty() && !has_dir {
        return Err(ConfigError(format!("{} is an empty list; write tables that begin with [[ensemble]]", entry.from)));
    }
    if let Some(given) = layers.one("zk", flags.zk.as_deref())? {
        let file = layers.file.name();
        return Err(ConfigError(format!(
            "{} and the [[ensemble]] tables of {file} both name what to watch; leave one of them out",
            given.from
        )));
    }
    identity::check_several(layers)?;
    let mut ensembles: Vec<Ensemble> = Vec::with_capacity(tables.len());
    let mut names = HashSet::new();
    for table in tables {
        let ensemble = one(&table, nth_color(ensembles.len()), layers)?;
        if !names.insert(ensemble.name.clone()) {
            return Err(taken(&table, &ensemble.name));
        }
        ensembles.push(ensemble);
    }
    Ok(ensembles)
}

/// What is said where another has the name.
pub(super) fn taken(table: &Section<'_>, name: &str) -> ConfigError {
    let from = table.get("name").map_or_else(|| table.from(), |entry| entry.from);
    ConfigError(format!("{from} {name:?} is taken by another; give each ensemble a name of its own"))
}

/// The one ensemble that flags, environment and the top of the file name.
fn only(flags: &ServeArgs, layers: &Layers<'_>) -> Result<Ensemble, ConfigError> {
    let zk = layers.one("zk", flags.zk.as_deref())?.ok_or_else(|| {
        ConfigError(
            "no ZooKeeper is named; give --zk HOST:PORT, set LOCKSCOPE_ZK or write `zk` in the configuration file"
                .to_owned(),
        )
    })?;
    check::connect(&zk)?;
    let roots = layers.roots(&flags.root)?;
    check::roots(&roots)?;
    let admin_urls = layers.many("admin_url", &flags.admin_url)?.unwrap_or_default();
    check::admin_urls(&admin_urls)?;
    let name = layers.one("name", flags.name.as_deref())?.map(|name| check_name(&name)).transpose()?;
    let color = layers.one("color", None)?.map(|color| check_color(&color)).transpose()?;
    let identity = identity::of(layers, &zk, true, |key| layers.one(key, identity::flag(&flags.security, key)))?;
    Ok(Ensemble {
        identity,
        color: color.or_else(|| name.as_ref().map(|_| nth_color(0))),
        name: name.unwrap_or_else(|| "default".to_owned()),
        zk: zk.value,
        exclude: exclusions(layers.many("exclude", &[])?, &roots)?,
        znodes_max: layers.checked("znodes_max", None, check::znodes_max)?.unwrap_or(lockscope_zookeeper::ZNODES_MAX),
        labels: labels::of(layers.file.top().get("labels"))?,
        file: None,
        roots: roots.into_iter().map(|root| root.value).collect(),
        evidence: layers
            .one("evidence", flags.evidence.as_deref())?
            .map_or(Ok(true), |word| check::switch(&word, EVIDENCE))?,
        admin_urls: admin_urls.into_iter().map(|url| url.value).collect(),
        clock_scratch: layers
            .one("clock_scratch", flags.clock_scratch.as_deref())?
            .map(|path| check_scratch(&path))
            .transpose()?,
    })
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

fn check_scratch(path: &SettingValue) -> Result<String, ConfigError> {
    check::roots(std::slice::from_ref(path))?;
    Ok(path.value.clone())
}

fn exclusions(given: Option<Vec<SettingValue>>, roots: &[SettingValue]) -> Result<Vec<String>, ConfigError> {
    let given = given.unwrap_or_default();
    check::exclusions(&given, roots)?;
    Ok(given.into_iter().map(|pattern| pattern.value).collect())
}

fn nth_color(at: usize) -> EnsembleColor {
    EnsembleColor::ALL.into_iter().cycle().nth(at).unwrap_or(EnsembleColor::Blue)
}

fn check_name(name: &SettingValue) -> Result<String, ConfigError> {
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.value.is_empty() && name.value.chars().count() <= NAME_CHARS_MAX && name.value.chars().all(is_good) {
        return Ok(name.value.clone());
    }
    Err(ConfigError(format!(
        "{} {:?} is no name; write 1 to {NAME_CHARS_MAX} letters, digits, dots, dashes or underscores, like prod-eu",
        name.from, name.value
    )))
}

fn check_color(color: &SettingValue) -> Result<EnsembleColor, ConfigError> {
    EnsembleColor::ALL.into_iter().find(|known| known.name() == color.value).ok_or_else(|| {
        let names = EnsembleColor::ALL.map(EnsembleColor::name).join(", ");
        ConfigError(format!("{} {:?} is none of the colours; use one of {names}", color.from, color.value))
    })
}
