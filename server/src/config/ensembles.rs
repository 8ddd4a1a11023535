//! Which ensembles there are: the one that flags, environment and the top of the file name, or each `[[ensemble]]`
//! table of the file; and those of the directory beside it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use toml::Value;

use super::ConfigError;
use super::ensemble::{Ensemble, nth_color, read_keys, read_table, refuse_name};
use super::ensembles_dir::{self, BadFile};
use super::given::{Given, Section, open};
use super::identity;
use super::layers::Layers;
use super::settings::EnsembleKeys;

/// What there is of ensembles.
pub(super) struct Ensembles {
    pub(super) ensembles: Vec<Ensemble>,
    /// Files of the directory with a mistake. What is in force of them stays, where there is anything.
    pub(super) bad: Vec<BadFile>,
    /// The directory that was read.
    pub(super) dir: Option<PathBuf>,
}

/// Every ensemble, checked. `in_force`: those that are watched already, and from which directory; nothing at a start.
pub(super) fn read(
    layers: &Layers<'_>,
    in_force: Option<(&[Ensemble], Option<&Path>)>,
) -> Result<Ensembles, ConfigError> {
    let settings = &layers.settings;
    let dir = ensembles_dir::find(layers, in_force.and_then(|(_, dir)| dir))?;
    let mut ensembles = match open(&settings.ensemble)? {
        Some(tables) => read_tables(layers, tables, dir.is_some())?,
        None if dir.is_some() && settings.only.zk.given.is_none() => Vec::new(),
        None => vec![read_only(layers)?],
    };
    let Some(dir) = dir else { return Ok(Ensembles { ensembles, bad: Vec::new(), dir: None }) };
    let in_force = in_force.map_or(&[][..], |(ensembles, _)| ensembles);
    let bad = ensembles_dir::read(&dir, layers, in_force, &mut ensembles)?;
    if ensembles.iter().any(|ensemble| ensemble.file.is_some()) {
        identity::check_several(layers)?;
    }
    if ensembles.is_empty() && bad.is_empty() {
        return refuse!(
            "no ZooKeeper is named: no file *.toml of {} has an [[ensemble]] table, and there is no `zk`; write one",
            dir.display()
        );
    }
    Ok(Ensembles { ensembles, bad, dir: Some(dir) })
}

/// The `[[ensemble]]` tables of the file itself.
fn read_tables(
    layers: &Layers<'_>,
    Section { from, keys: tables }: &Section<Vec<Section<EnsembleKeys>>>,
    has_dir: bool,
) -> Result<Vec<Ensemble>, ConfigError> {
    if tables.is_empty() && !has_dir {
        return refuse!("{from} is an empty list; write tables that begin with [[ensemble]]");
    }
    if let Some(zk) = &layers.settings.only.zk.given {
        return refuse!(
            "{} and the [[ensemble]] tables of {} both name what to watch; leave one of them out",
            zk.from,
            layers.file_name()
        );
    }
    identity::check_several(layers)?;
    let mut names = HashSet::new();
    let read = |(at, table)| {
        let ensemble = read_table(layers, table, nth_color(at))?;
        if names.insert(ensemble.name.clone()) { Ok(ensemble) } else { refuse_name(table, &ensemble.name) }
    };
    tables.iter().enumerate().map(read).collect()
}

/// The one ensemble that flags, environment and the top of the file name.
fn read_only(layers: &Layers<'_>) -> Result<Ensemble, ConfigError> {
    let keys = &layers.settings.only;
    if keys.zk.given.is_none() {
        return refuse!(
            "no ZooKeeper is named; give --zk HOST:PORT, set LOCKSCOPE_ZK or write `zk` in the configuration file"
        );
    }
    if let Some(Given { from, value: Value::Array(roots), .. }) = &keys.root.given
        && roots.is_empty()
    {
        return refuse!("{from} is an empty list; name at least one path, or leave it out to find every lock");
    }
    let color = keys.name.given.as_ref().map(|_| nth_color(0));
    read_keys(layers, keys, color, true)
}
