//! Which ensembles there are: the one that flags, environment and the top of the file name, or each `[[ensemble]]`
//! table of the file; and those of the directory beside it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::ensemble::{
    ENSEMBLES_MAX, EVIDENCE, Ensemble, check_color, check_name, check_scratch, exclusions, nth_color, one, taken,
};
use super::ensembles_dir::{self, BadFile};
use super::toml_file::Entry;
use super::{ConfigError, Layers, check, identity, labels};
use crate::cli::ServeArgs;

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
