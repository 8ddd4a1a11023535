//! Which ensembles there are: the one that flags, environment and the top of the file name, or each `[[ensemble]]`
//! table of the file.

use lockscope_wire::EnsembleColor;

use super::identity::{self, Identity};
use super::toml_file::Section;
use super::{ConfigError, Layers, SettingValue, check};
use crate::cli::ServeArgs;

/// What to write for `evidence`.
const EVIDENCE: &str = "write on, or off to ask the members nothing";
/// Ensembles one server watches.
pub(super) const ENSEMBLES_MAX: usize = 16;
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
    /// Whether the members are asked for evidence.
    pub evidence: bool,
    /// Their AdminServers, where named.
    pub admin_urls: Vec<String>,
    /// The znode below which ephemerals may be made to compare the clocks; None: nothing is ever written.
    pub clock_scratch: Option<String>,
    /// Who Lockscope is there.
    pub identity: Identity,
}

/// Every ensemble, checked.
pub(super) fn of(flags: &ServeArgs, layers: &Layers<'_>) -> Result<Vec<Ensemble>, ConfigError> {
    let Some(entry) = layers.file.top().get("ensemble") else { return Ok(vec![only(flags, layers)?]) };
    let tables = entry.sections(ENSEMBLES_MAX)?;
    if tables.is_empty() {
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
    for table in tables {
        let ensemble = one(&table, ensembles.len(), layers)?;
        if ensembles.iter().any(|other| other.name == ensemble.name) {
            let from = table.get("name").map_or_else(|| table.from(), |entry| entry.from);
            return Err(ConfigError(format!(
                "{from} {:?} is taken by another; give each ensemble a name of its own",
                ensemble.name
            )));
        }
        ensembles.push(ensemble);
    }
    Ok(ensembles)
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
fn one(table: &Section<'_>, at: usize, layers: &Layers<'_>) -> Result<Ensemble, ConfigError> {
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
        color: Some(text("color")?.map_or_else(|| Ok(nth_color(at)), |color| check_color(&color))?),
        zk: zk.value,
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
