//! The file with settings: what is in it, and on which line. The one place that turns a key into `file:line`. Knows no
//! key.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::{ConfigError, SettingValue};

/// A file that is TOML, or none at all.
#[derive(Debug, Default)]
pub(super) struct TomlFile {
    name: String,
    table: Table,
    /// Lines of keys, by where they are: keys of tables and positions in lists, each after the other.
    lines: BTreeMap<Vec<String>, usize>,
}

/// A table of the file, and what to call it.
#[derive(Clone, Debug)]
pub(super) struct Section<'a> {
    file: &'a TomlFile,
    fields: &'a Table,
    path: Vec<String>,
    /// How it begins: `[lab]`, `[[lock]] 2`; empty for the top.
    title: String,
}

/// A key of it.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: String,
    pub(super) value: &'a Value,
    /// File, line and key, for a sentence to begin with.
    pub(super) from: String,
    file: &'a TomlFile,
    path: Vec<String>,
}

impl TomlFile {
    /// Reads a text.
    ///
    /// # Errors
    /// The line where it is no TOML.
    pub(super) fn parse(name: String, text: &str) -> Result<Self, ConfigError> {
        let not_toml = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            // A message of several lines would look like several mistakes.
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            ConfigError(format!(
                "{name}:{line}: this is not TOML ({message}); write lines like zk = \"127.0.0.1:2181\""
            ))
        };
        let table: Table = text.parse().map_err(not_toml)?;
        let mut lines = BTreeMap::new();
        note(DeTable::parse(text).map_err(not_toml)?.get_ref(), text, &mut Vec::new(), &mut lines);
        Ok(Self { name, table, lines })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The file and the line of a key, or of the nearest that holds it.
    fn at(&self, path: &[String]) -> String {
        let line = (0..=path.len()).rev().find_map(|length| path.get(..length).and_then(|path| self.lines.get(path)));
        line.map_or_else(|| self.name.clone(), |line| format!("{}:{line}", self.name))
    }

    /// All of it.
    pub(super) fn top(&self) -> Section<'_> {
        Section { file: self, fields: &self.table, path: Vec::new(), title: String::new() }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.get(..at).map_or(0, |before| before.matches('\n').count())
}

fn note(table: &DeTable<'_>, text: &str, path: &mut Vec<String>, lines: &mut BTreeMap<Vec<String>, usize>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        lines.insert(path.clone(), line_of(text, key.span().start));
        note_value(value, text, path, lines);
        path.pop();
    }
}

fn note_value(
    value: &Spanned<DeValue<'_>>,
    text: &str,
    path: &mut Vec<String>,
    lines: &mut BTreeMap<Vec<String>, usize>,
) {
    match value.get_ref() {
        DeValue::Table(table) => note(table, text, path, lines),
        DeValue::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                lines.insert(path.clone(), line_of(text, item.span().start));
                note_value(item, text, path, lines);
                path.pop();
            }
        }
        _ => {}
    }
}

impl<'a> Section<'a> {
    /// A key of it, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<Entry<'a>> {
        self.fields.get_key_value(key).map(|(key, value)| self.entry(key, value))
    }

    /// Every key of it.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'a>> + '_ {
        self.fields.iter().map(|(key, value)| self.entry(key, value))
    }

    /// File, line and title, for a sentence about all of it to begin with.
    pub(super) fn from(&self) -> String {
        format!("{}: {}", self.file.at(&self.path), self.title)
    }

    /// What is said where `key` is missing.
    pub(super) fn lacks<T>(&self, key: &str, remedy: &str) -> Result<T, ConfigError> {
        Err(ConfigError(format!("{} has no `{key}`; {remedy}", self.from())))
    }

    /// One text, number or switch.
    pub(super) fn one(&self, key: &str) -> Result<Option<SettingValue>, ConfigError> {
        self.get(key).map(|entry| entry.scalar()).transpose()
    }

    /// A list of those, or just one.
    pub(super) fn many(&self, key: &str) -> Result<Option<Vec<SettingValue>>, ConfigError> {
        self.get(key).map(|entry| entry.scalars()).transpose()
    }

    fn entry(&self, key: &str, value: &'a Value) -> Entry<'a> {
        let mut path = self.path.clone();
        path.push(key.to_owned());
        let place = if self.title.is_empty() { String::new() } else { format!(" in {}", self.title) };
        Entry {
            key: key.to_owned(),
            value,
            from: format!("{}: `{key}`{place}", self.file.at(&path)),
            file: self.file,
            path,
        }
    }
}

impl<'a> Entry<'a> {
    /// The table that it is.
    pub(super) fn section(&self) -> Result<Section<'a>, ConfigError> {
        let title = format!("[{}]", self.key);
        let Value::Table(fields) = self.value else {
            return Err(ConfigError(format!(
                "{} is a {}; write it as a table that begins with {title}",
                self.from,
                self.value.type_str()
            )));
        };
        Ok(Section { file: self.file, fields, path: self.path.clone(), title })
    }

    /// The tables that it is, at most so many.
    pub(super) fn sections(&self, most: usize) -> Result<Vec<Section<'a>>, ConfigError> {
        let title = format!("[[{}]]", self.key);
        let wrong = |value: &Value| {
            ConfigError(format!("{} is a {}; write it as tables that begin with {title}", self.from, value.type_str()))
        };
        let Value::Array(items) = self.value else { return Err(wrong(self.value)) };
        if items.len() > most {
            return Err(ConfigError(format!("{} has {} tables; write at most {most}", self.from, items.len())));
        }
        let section = |(at, item): (usize, &'a Value)| {
            let Value::Table(fields) = item else { return Err(wrong(item)) };
            let mut path = self.path.clone();
            path.push(at.to_string());
            Ok(Section { file: self.file, fields, path, title: format!("{title} {}", at + 1) })
        };
        items.iter().enumerate().map(section).collect()
    }

    fn scalar(&self) -> Result<SettingValue, ConfigError> {
        setting_value(self.value, self.from.clone())
    }

    fn scalars(&self) -> Result<Vec<SettingValue>, ConfigError> {
        let Value::Array(items) = self.value else { return Ok(vec![self.scalar()?]) };
        let item = |(at, item)| {
            let mut path = self.path.clone();
            path.push(usize::to_string(&at));
            let own = self.from.trim_start_matches(&self.file.at(&self.path));
            setting_value(item, format!("{}{own}", self.file.at(&path)))
        };
        items.iter().enumerate().map(item).collect()
    }
}

fn setting_value(value: &Value, from: String) -> Result<SettingValue, ConfigError> {
    match value {
        Value::String(text) => Ok(SettingValue { value: text.clone(), from }),
        Value::Integer(number) => Ok(SettingValue { value: number.to_string(), from }),
        Value::Boolean(truth) => Ok(SettingValue { value: if *truth { "on" } else { "off" }.to_owned(), from }),
        other => Err(ConfigError(format!("{from} is a {}; write it as text in quotes", other.type_str()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_line() {
        let text = "# first\nzk = \"a:1\"\nroot = [\n  \"/a\",\n  \"/b\",\n]\nlab.root = \"/x\"\n[proxy_roles]\n\"a.b\" = \"viewer\"\n[[lock]]\npath = \"/x\"\n\n[[lock]]\nmax = 3\n";
        let file = TomlFile::parse("x.toml".to_owned(), text).unwrap();
        let top = file.top();
        let roots: Vec<_> = top.many("root").unwrap().unwrap().into_iter().map(|root| root.from).collect();
        assert_eq!(roots, ["x.toml:4: `root`", "x.toml:5: `root`"]);
        let from = |key: &str| top.get(key).unwrap().from;
        assert_eq!((from("zk").as_str(), from("lab").as_str()), ("x.toml:2: `zk`", "x.toml:7: `lab`"));
        assert_eq!(top.get("lab").unwrap().section().unwrap().get("root").unwrap().from, "x.toml:7: `root` in [lab]");
        let locks = top.get("lock").unwrap().sections(9).unwrap();
        assert_eq!(
            (locks[1].from().as_str(), locks[1].get("max").unwrap().from.as_str()),
            ("x.toml:13: [[lock]] 2", "x.toml:14: `max` in [[lock]] 2")
        );
        assert_eq!(
            top.get("proxy_roles").unwrap().section().unwrap().get("a.b").unwrap().from,
            "x.toml:9: `a.b` in [proxy_roles]"
        );
    }
}
