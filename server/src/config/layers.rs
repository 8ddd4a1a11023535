//! The three places a value may come from, in order: flag, environment, file. Knows no value's meaning.

use std::path::{Path, PathBuf};

use super::table::{self, FileSection, Layering, Setting};
use super::table_rows::{self, SETTINGS};
use super::toml_file::Section;
use super::{ConfigError, Environment, SettingValue, TomlFile, check, setting_value, variable};

/// Begins the name of a credential of systemd's, where a file is asked for.
const CREDENTIAL: &str = "credential:";
/// Where systemd puts them.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The three places a value may come from, in order.
pub(super) struct Layers<'a> {
    pub(super) environment: &'a dyn Environment,
    pub(super) file: TomlFile,
}

impl<'a> Layers<'a> {
    pub(super) fn open(flag: Option<&Path>, environment: &'a dyn Environment) -> Result<Self, ConfigError> {
        let Some(path) = config_file(flag, environment) else { return Ok(Self::without_file(environment)) };
        let name = path.display().to_string();
        let text = environment.file(&path).map_err(|error| {
            ConfigError(format!(
                "--config {name} can't be read ({error}); name a file that can be, or leave --config out"
            ))
        })?;
        Ok(Self { environment, file: TomlFile::parse(name, &text)? })
    }

    /// A path beside the configuration file, where there is one.
    pub(super) fn beside_file(&self, name: &str) -> Option<PathBuf> {
        let file = Some(self.file.name()).filter(|file| !file.is_empty())?;
        Some(Path::new(file).parent()?.join(name))
    }

    pub(super) fn without_file(environment: &'a dyn Environment) -> Self {
        Self { environment, file: TomlFile::default() }
    }

    pub(super) fn one(&self, key: &str, flag: Option<&str>) -> Result<Option<SettingValue>, ConfigError> {
        debug_assert!(
            SETTINGS.iter().any(|row| row.key == key && row.ways != Layering::File),
            "`{key}` is in no row of the table"
        );
        if let Some(value) = flag {
            return Ok(Some(setting_value(value, &format!("--{}", key.replace('_', "-")))));
        }
        let name = variable(key);
        // An empty variable is one that was not set.
        if let Some(value) = self.environment.var(&name).filter(|value| !value.is_empty()) {
            return Ok(Some(SettingValue { value, from: name }));
        }
        self.file.top().one(key)
    }

    /// The same, as what it means.
    pub(super) fn checked<T>(
        &self,
        key: &str,
        flag: Option<&str>,
        check: impl FnOnce(&SettingValue) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.one(key, flag)?.map(|given| check(&given)).transpose()
    }

    /// One of a table of the file, or of the environment; none of the flags is about a table.
    pub(super) fn of_table(
        &self,
        row: &Setting,
        table: Option<&Section<'_>>,
    ) -> Result<Option<SettingValue>, ConfigError> {
        if let Some(name) = row.variable()
            && let Some(value) = self.environment.var(&name).filter(|value| !value.is_empty())
        {
            return Ok(Some(SettingValue { value, from: name }));
        }
        table.map_or(Ok(None), |table| table.one(row.key))
    }

    /// A setting that may be given several times; in the environment separated by commas.
    pub(super) fn many(&self, key: &str, flags: &[String]) -> Result<Option<Vec<SettingValue>>, ConfigError> {
        debug_assert!(
            SETTINGS.iter().any(|row| row.key == key && row.ways != Layering::File),
            "`{key}` is in no row of the table"
        );
        if !flags.is_empty() {
            let from = format!("--{}", key.replace('_', "-"));
            return Ok(Some(flags.iter().map(|value| setting_value(value, &from)).collect()));
        }
        let name = variable(key);
        if let Some(list) = self.environment.var(&name).filter(|list| !list.is_empty()) {
            return Ok(Some(list.split(',').map(|value| setting_value(value.trim(), &name)).collect()));
        }
        self.file.top().many(key)
    }

    pub(super) fn roots(&self, flags: &[String]) -> Result<Vec<SettingValue>, ConfigError> {
        match self.many("root", flags)? {
            None => Ok(vec![setting_value("/", "--root")]),
            Some(roots) if roots.is_empty() => {
                let from = self.file.top().get("root").map_or_else(|| variable("root"), |entry| entry.from);
                Err(ConfigError(format!(
                    "{from} is an empty list; name at least one path, or leave it out to find every lock"
                )))
            }
            Some(roots) => Ok(roots),
        }
    }

    /// The directory that was named, else the usual one for what a program keeps from run to run.
    pub(super) fn data_dir(&self, flag: Option<&str>) -> Result<Option<PathBuf>, ConfigError> {
        if let Some(named) = self.one("data_dir", flag)? {
            return check::data_dir(&named).map(Some);
        }
        // A relative XDG_STATE_HOME is to be ignored, says its specification.
        let absolute = |name: &str| self.environment.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Ok(state.map(|state| state.join("lockscope")))
    }

    /// The file that a setting names: a path, or the name of a credential that systemd loaded.
    pub(super) fn path(&self, file: &SettingValue) -> Result<PathBuf, ConfigError> {
        let Some(name) = file.value.strip_prefix(CREDENTIAL) else { return check::file(file) };
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return check::wrong(
                file,
                "names no credential",
                "write credential:NAME as in LoadCredential=NAME:PATH of the unit",
            );
        }
        match self.environment.var(CREDENTIALS).filter(|directory| !directory.is_empty()) {
            Some(directory) => Ok(Path::new(&directory).join(name)),
            None => {
                let remedy = format!("add LoadCredential={name}:PATH to the unit, or name a file by its path");
                check::wrong(file, "is for a service of systemd's, and CREDENTIALS_DIRECTORY is not set", &remedy)
            }
        }
    }

    /// What is in that file. `remedy`: what to do where it can't be read.
    pub(super) fn read(&self, file: &SettingValue, remedy: &str) -> Result<String, ConfigError> {
        let text = self.environment.file(&self.path(file)?);
        text.map_err(|error| ConfigError(format!("{} {:?} can't be read ({error}); {remedy}", file.from, file.value)))
    }

    /// The same of a secret.
    pub(super) fn read_secret(&self, file: &SettingValue, remedy: &str) -> Result<String, ConfigError> {
        self.secret_path(file)?;
        self.read(file, remedy)
    }

    /// The path of a file with a secret. One that others may read is taken, and a warning says so.
    pub(super) fn secret_path(&self, file: &SettingValue) -> Result<PathBuf, ConfigError> {
        let path = self.path(file)?;
        if self.environment.is_readable_by_others(&path) {
            let (from, value) = (&file.from, &file.value);
            tracing::warn!(
                "{from} {value:?} is a secret, and other users may read it; run: chmod go= {}",
                path.display()
            );
        }
        Ok(path)
    }

    /// A sentence for every key of the file that is none.
    pub(super) fn unknown(&self) -> Vec<ConfigError> {
        let top = self.file.top();
        let mut unknown: Vec<_> =
            top.entries().filter_map(|entry| stranger(&entry.key, &entry.from, FileSection::Top)).collect();
        for place in FileSection::TABLES {
            let Some(entry) = place.table().and_then(|key| top.get(key)) else { continue };
            // What is no table at all, whoever reads it says.
            let sections =
                if place.is_list() { entry.sections(usize::MAX) } else { entry.section().map(|section| vec![section]) };
            let entries = sections.unwrap_or_default();
            unknown.extend(
                entries
                    .iter()
                    .flat_map(|section| section.entries())
                    .filter_map(|entry| stranger(&entry.key, &entry.from, place)),
            );
        }
        unknown
    }
}

/// The file that is read, if any.
pub(super) fn config_file(flag: Option<&Path>, environment: &dyn Environment) -> Option<PathBuf> {
    flag.map(Path::to_owned)
        .or_else(|| environment.var("LOCKSCOPE_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from))
}

/// Settings of former versions, and what to do instead.
const GONE: [(FileSection, &[&str], &str); 1] = [(
    FileSection::Cluster,
    &["watch", "secret_file", "capacity"],
    "every replica watches every ensemble; run one Lockscope for each group of ensembles",
)];

pub(super) fn stranger(key: &str, from: &str, place: FileSection) -> Option<ConfigError> {
    let keys = table_rows::keys(place);
    if keys.contains(&key) {
        return None;
    }
    if let Some((_, _, instead)) = GONE.iter().find(|(of, gone, _)| *of == place && gone.contains(&key)) {
        return Some(ConfigError(format!("{from} is gone: {instead}")));
    }
    let remedy = match table::nearest(key, &keys) {
        Some(meant) => format!("write `{meant}`"),
        None => format!("the keys here are {}", keys.join(", ")),
    };
    Some(ConfigError(format!("{from} is no setting; {remedy}")))
}
