//! The three places a value may come from, in order: flag, variable, file. The one place that turns a key into
//! `file:line`. Knows no value's meaning.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::given::{Given, Parse, Setting};
use super::settings::{ClusterKeys, EnsembleKeys, Key, Settings, TABLES, TableKeys, TopKeys};
use super::values::FileName;
use super::{ConfigError, Environment};
use crate::cli::ServeArgs;

/// Begins the name of a credential of systemd's, where a file is asked for.
const CREDENTIAL: &str = "credential:";
/// Where systemd puts them.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// Longest part of a key that is compared with known ones, in characters.
const COMPARED_MAX: usize = 64;

/// Settings, and where else values come from.
pub(super) struct Layers<'a> {
    pub(super) environment: &'a dyn Environment,
    /// The file that was read, if any.
    pub(super) file: Option<PathBuf>,
    pub(super) settings: Settings,
    /// A message for each key of the file that nobody knows.
    pub(super) unknown: Vec<ConfigError>,
}

/// A file that is read, and what it has that nobody knows.
struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    unknown: Vec<ConfigError>,
}

impl<'a> Layers<'a> {
    pub(super) fn open(
        flags: &ServeArgs,
        file: Option<PathBuf>,
        environment: &'a dyn Environment,
    ) -> Result<Self, ConfigError> {
        let name = file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let text = file.as_ref().map_or_else(|| Ok(String::new()), |path| environment.file(path)).map_err(|error| {
            mistake!("--config {name} can't be read ({error}); name a file that can be, or leave --config out")
        })?;
        let (mut tree, unknown) = read_file(&name, &text, false)?;
        add_layers(&mut tree, flags, environment);
        Ok(Self { environment, file, settings: into_settings(&name, tree)?, unknown })
    }

    /// What the file is called; empty where there is none.
    pub(super) fn file_name(&self) -> String {
        self.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// A variable that is set; an empty one is not.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.environment.var(name).filter(|value| !value.is_empty())
    }

    /// The directory that was named, else the usual one for what a program keeps from run to run.
    pub(super) fn data_dir(&self) -> Result<Option<PathBuf>, ConfigError> {
        // A relative XDG_STATE_HOME is to be ignored, says its specification.
        let absolute = |name: &str| self.environment.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = || absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Ok(self.settings.top.data_dir.read()?.or_else(|| state().map(|state| state.join("lockscope"))))
    }

    /// The file that a setting names: a path, or the name of a credential that systemd loaded.
    pub(super) fn path(&self, file: &Given) -> Result<PathBuf, ConfigError> {
        let path = FileName::parse(&file.text()?).or_else(|wrong| file.refuse(&wrong.why, &wrong.remedy))?;
        let Some(name) = path.strip_prefix(CREDENTIAL) else { return Ok(path.into()) };
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return file
                .refuse("names no credential", "write credential:NAME as in LoadCredential=NAME:PATH of the unit");
        }
        match self.variable(CREDENTIALS) {
            Some(directory) => Ok(Path::new(&directory).join(name)),
            None => file.refuse(
                "is for a service of systemd's, and CREDENTIALS_DIRECTORY is not set",
                &format!("add LoadCredential={name}:PATH to the unit, or name a file by its path"),
            ),
        }
    }

    /// What is in that file. `remedy`: what to do where it can't be read.
    pub(super) fn read(&self, file: &Given, remedy: &str) -> Result<String, ConfigError> {
        let text = self.environment.file(&self.path(file)?);
        text.or_else(|error| file.refuse(&format!("can't be read ({error})"), remedy))
    }

    /// The same of a secret.
    pub(super) fn read_secret(&self, file: &Given, remedy: &str) -> Result<String, ConfigError> {
        self.secret_path(file)?;
        self.read(file, remedy)
    }

    /// The path of a file with a secret. One that others may read is taken, and a warning says so.
    pub(super) fn secret_path(&self, file: &Given) -> Result<PathBuf, ConfigError> {
        let path = self.path(file)?;
        if self.environment.is_readable_by_others(&path) {
            let (from, value, path) = (&file.from, file.text()?, path.display());
            tracing::warn!("{from} {value:?} is a secret, and other users may read it; run: chmod go= {path}");
        }
        Ok(path)
    }

    /// A secret from its file, else from its variable, and what to call it in a message.
    pub(super) fn secret(
        &self,
        file: &Setting<FileName>,
        variable: &str,
        remedy: &str,
    ) -> Result<Option<(String, String)>, ConfigError> {
        let Some(file) = &file.given else {
            return Ok(self.variable(variable).map(|secret| (secret, variable.to_owned())));
        };
        Ok(Some((self.read_secret(file, remedy)?, format!("the secret in {:?}", file.text()?))))
    }
}

/// The file that is read, if any.
pub(super) fn config_file(flag: Option<&Path>, environment: &dyn Environment) -> Option<PathBuf> {
    flag.map(Path::to_owned)
        .or_else(|| environment.var("LOCKSCOPE_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from))
}

/// The settings of a file alone, and a message for each key that nobody knows. `is_ensembles`: it is one of
/// `ensembles_dir`.
pub(super) fn read_text(
    name: &str,
    text: &str,
    is_ensembles: bool,
) -> Result<(Settings, Vec<ConfigError>), ConfigError> {
    let (tree, unknown) = read_file(name, text, is_ensembles)?;
    Ok((into_settings(name, tree)?, unknown))
}

fn into_settings(name: &str, tree: toml::Table) -> Result<Settings, ConfigError> {
    tree.try_into().map_err(|error| mistake!("{name} can't be understood: {error}"))
}

/// The tree of [`Settings`]: each value with where it stands.
fn read_file(name: &str, text: &str, is_ensembles: bool) -> Result<(toml::Table, Vec<ConfigError>), ConfigError> {
    let mut reader = Reader { name, text, unknown: Vec::new() };
    let not_toml = |error: toml::de::Error| {
        let at = reader.at(error.span().unwrap_or_default());
        // A message of several lines would look like several mistakes.
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        mistake!("{at}: this is not TOML ({message}); write lines like zk = \"127.0.0.1:2181\"")
    };
    let values: toml::Table = text.parse().map_err(not_toml)?;
    let spans = DeTable::parse(text).map_err(not_toml)?;
    let tables = if is_ensembles { &TABLES[..1] } else { &TABLES[..] };
    let known: &[&[Key]] = if is_ensembles { &[] } else { &[EnsembleKeys::KEYS, TopKeys::KEYS] };
    let top = reader.fields("", known, (&values, spans.get_ref()), |from, key| {
        let is_table = tables.iter().any(|table| table.name == key);
        let elsewhere =
            "has no place in a file of ensembles_dir; write it below [[ensemble]], or into the configuration file";
        let message = || if is_ensembles { format!("{from} {elsewhere}") } else { unknown(from, key, &top_keys()) };
        (!is_table).then(message)
    });
    let mut tree: toml::Table = [("top".to_owned(), top.clone()), ("only".to_owned(), top)].into_iter().collect();
    for table in tables {
        let found = values.get(table.name).zip(spans.get_ref().get_key_value(table.name));
        let Some((value, (key, span))) = found else { continue };
        let node = match reader.table(table, value, span, &reader.at(key.span())) {
            Ok(section) => node([("Ok", section)]),
            Err(ConfigError(error)) => node([("Err", error.into())]),
        };
        if table.name == "lints" {
            tree.insert("findings".to_owned(), node.clone());
        }
        tree.insert(table.name.to_owned(), node);
    }
    Ok((tree, reader.unknown))
}

impl Reader<'_> {
    fn at(&self, span: Range<usize>) -> String {
        let lines_before = self.text.get(..span.start).map_or(0, |before| before.matches('\n').count());
        format!("{}:{}", self.name, lines_before + 1)
    }

    /// The node of a table, or of a list of tables.
    fn table(
        &mut self,
        table: &TableKeys,
        value: &Value,
        span: &Spanned<DeValue<'_>>,
        at: &str,
    ) -> Result<Value, ConfigError> {
        let TableKeys { name, keys, removed: (removed, instead), .. } = table;
        let unknown = |from: &str, key: &str| {
            let known: Vec<&str> = keys.iter().copied().flatten().map(Key::name).collect();
            let is_removed = removed.contains(&key);
            Some(if is_removed { format!("{from} is gone: {instead}") } else { unknown(from, key, &known) })
        };
        let Some(max) = table.max else {
            let (Value::Table(fields), DeValue::Table(spans)) = (value, span.get_ref()) else {
                let found = value.type_str();
                return refuse!("{at}: `{name}` is a {found}; write it as a table that begins with [{name}]");
            };
            let title = format!("[{name}]");
            return Ok(section(format!("{at}: {title}"), self.fields(&title, keys, (fields, spans), unknown)));
        };
        let from = format!("{at}: `{name}`");
        let wrong =
            |value: &Value| refuse!("{from} is a {}; write it as tables that begin with [[{name}]]", value.type_str());
        let (Value::Array(items), DeValue::Array(spans)) = (value, span.get_ref()) else { return wrong(value) };
        if items.len() > max {
            return refuse!("{from} has {} tables; write at most {max}", items.len());
        }
        let mut sections = Vec::with_capacity(items.len());
        for (place, (item, span)) in items.iter().zip(spans.iter()).enumerate() {
            let (Value::Table(fields), DeValue::Table(spans)) = (item, span.get_ref()) else { return wrong(item) };
            let title = format!("[[{name}]] {}", place + 1);
            let from = format!("{}: {title}", self.at(span.span()));
            sections.push(section(from, self.fields(&title, keys, (fields, spans), unknown)));
        }
        Ok(section(from, sections.into()))
    }

    /// The keys that are known, each with where it stands; `unknown` says what is wrong with another.
    fn fields(
        &mut self,
        title: &str,
        known: &[&[Key]],
        (values, spans): (&toml::Table, &DeTable<'_>),
        unknown: impl Fn(&str, &str) -> Option<String>,
    ) -> Value {
        let place = if title.is_empty() { String::new() } else { format!(" in {title}") };
        let mut found = toml::Table::new();
        for ((key, value), (name, span)) in values.iter().zip(spans) {
            let from = |key: &str, span, place: &str| format!("{}: `{key}`{place}", self.at(span));
            let own = from(key, name.span(), &place);
            if !known.iter().copied().flatten().any(|known| known.name() == key) {
                self.unknown.extend(unknown(&own, key).map(ConfigError));
                continue;
            }
            let items = match span.get_ref() {
                DeValue::Array(items) => items.iter().map(|item| from(key, item.span(), &place)).collect(),
                DeValue::Table(keys) => {
                    keys.keys().map(|inner| from(inner.get_ref(), inner.span(), &format!(" in [{key}]"))).collect()
                }
                _ => Vec::new(),
            };
            found.insert(key.clone(), given(own, value.clone(), items));
        }
        found.into()
    }
}

/// Flags and variables take the place of what the file says.
fn add_layers(tree: &mut toml::Table, flags: &ServeArgs, environment: &dyn Environment) {
    let flags = serde_json::to_value(flags).unwrap_or_default();
    for (place, keys) in [("top", TopKeys::KEYS), ("only", EnsembleKeys::KEYS), ("cluster", ClusterKeys::KEYS)] {
        let given: Vec<_> = keys
            .iter()
            .filter_map(|key| Some((key.name().to_owned(), from_outside(key, place, &flags, environment)?)))
            .collect();
        if given.is_empty() {
            continue;
        }
        // Of several replicas, variables alone may say where they meet.
        let fields = match place {
            "cluster" => {
                let empty = || node([("Ok", section(String::new(), node([])))]);
                tree.entry(place).or_insert_with(empty).get_mut("Ok").and_then(|table| table.get_mut("keys"))
            }
            _ => tree.get_mut(place),
        };
        fields.and_then(Value::as_table_mut).into_iter().for_each(|fields| fields.extend(given.iter().cloned()));
    }
}

/// What a flag says of a key, else a variable.
fn from_outside(key: &Key, place: &str, flags: &serde_json::Value, environment: &dyn Environment) -> Option<Value> {
    let flag = flags.get(key.name()).or_else(|| flags.get("security")?.get(key.name()));
    let (from, value): (String, Value) = match (key.flag(), flag) {
        (Some(from), Some(serde_json::Value::String(text))) => (from, text.as_str().into()),
        (Some(from), Some(serde_json::Value::Array(texts))) if !texts.is_empty() => {
            (from, texts.iter().filter_map(|text| text.as_str()).collect::<Vec<_>>().into())
        }
        _ => {
            let name = key.variable(place)?;
            // An empty variable is one that was not set.
            let text = environment.var(&name).filter(|text| !text.is_empty())?;
            let items = || text.split(',').map(str::trim).collect::<Vec<_>>().into();
            (name, if key.is_list { items() } else { text.into() })
        }
    };
    let items = vec![from.clone(); value.as_array().map_or(0, Vec::len)];
    Some(given(from, value, items))
}

fn node<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Table(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn given(from: String, value: Value, items: Vec<String>) -> Value {
    let is_date = matches!(value, Value::Datetime(_)).into();
    node([("from", from.into()), ("value", value), ("is_date", is_date), ("items", items.into())])
}

fn section(from: String, keys: Value) -> Value {
    node([("from", from.into()), ("keys", keys)])
}

/// Keys that may stand outside of tables, and those that begin one.
pub(super) fn top_keys() -> Vec<&'static str> {
    let keys = EnsembleKeys::KEYS.iter().chain(TopKeys::KEYS).map(Key::name);
    keys.chain(TABLES.iter().map(|table| table.name)).collect()
}

fn unknown(from: &str, key: &str, known: &[&str]) -> String {
    let key: String = key.chars().take(COMPARED_MAX).collect();
    let near =
        known.iter().map(|known| (strsim::osa_distance(&key, known), known)).min_by_key(|(distance, _)| *distance);
    match near {
        Some((distance, near)) if distance <= 1 + near.len() / 4 => format!("{from} is no setting; write `{near}`"),
        _ => format!("{from} is no setting; the keys here are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_line() {
        let text = "# first\nzk = \"a:1\"\nroot = [\n  \"/a\",\n  \"/b\",\n]\nlab.root = \"/x\"\n[proxy_roles]\n\"a.b\" = \"viewer\"\n[[lock]]\npath = \"/x\"\n\n[[lock]]\nmax = 3\n";
        let (settings, _) = read_text("x.toml", text, false).unwrap();
        let from = |given: &Option<Given>| given.as_ref().unwrap().from.clone();
        let roots = settings.only.root.given.as_ref().unwrap().each();
        assert_eq!(
            roots.iter().map(|root| root.from.as_str()).collect::<Vec<_>>(),
            ["x.toml:4: `root`", "x.toml:5: `root`"]
        );
        assert_eq!(from(&settings.only.zk.given), "x.toml:2: `zk`");
        let lab = settings.lab.unwrap().unwrap();
        assert_eq!(
            (lab.from.as_str(), from(&lab.keys.root.given)),
            ("x.toml:7: [lab]", "x.toml:7: `root` in [lab]".to_owned())
        );
        let locks = settings.lock.unwrap().unwrap().keys;
        assert_eq!(
            (locks[1].from.as_str(), from(&locks[1].keys.max.given)),
            ("x.toml:13: [[lock]] 2", "x.toml:14: `max` in [[lock]] 2".to_owned())
        );
        assert_eq!(settings.top.proxy_roles.given.unwrap().items, ["x.toml:9: `a.b` in [proxy_roles]"]);
    }
}
