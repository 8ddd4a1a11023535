//! A value as it was written, and where: what every message about a setting begins with.

use std::marker::PhantomData;

use lockscope_zookeeper::Fault;
use serde::Deserialize;
use toml::Value;

use super::ConfigError;

/// A value as it was written.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Given {
    /// Its file, line and key, or its variable, or its flag.
    pub(super) from: String,
    pub(super) value: Value,
    /// Whether it was written as a date, which is text here; no setting is one.
    pub(super) is_date: bool,
    /// The same as `from` for each item of a list, and each key of a table.
    #[serde(default)]
    pub(super) items: Vec<String>,
}

/// A setting that is a `T` where it is set.
#[derive(Deserialize)]
#[serde(transparent, bound = "")]
pub(super) struct Setting<T> {
    pub(super) given: Option<Given>,
    #[serde(skip)]
    of: PhantomData<T>,
}

/// A table of the file, and its file, line and title.
#[derive(Clone, Deserialize)]
pub(super) struct Section<T> {
    pub(super) from: String,
    pub(super) keys: T,
}

/// A `[table]`, where there is one; an error where the key is something else.
pub(super) type Table<T> = Option<Result<Section<T>, ConfigError>>;
/// Tables of the same name, in order.
pub(super) type Tables<T> = Table<Vec<Section<T>>>;

/// The keys of a table.
pub(super) trait Keys {
    /// Those that are set, by name.
    fn given(&self) -> Vec<(&'static str, &Given)>;
}

/// What the value of a setting may be.
pub(super) trait Read {
    /// What it is to the program.
    type Output;
    /// Whether it may be given several times.
    const IS_LIST: bool = false;

    /// What may be written, for the reference; empty where each setting says it.
    fn values() -> String {
        String::new()
    }

    fn read(given: &Given) -> Result<Self::Output, ConfigError>;
}

/// What is written as one text, number or switch.
pub(super) trait Parse {
    type Output;
    const VALUES: &'static str;

    fn parse(text: &str) -> Result<Self::Output, Fault>;
}

impl<T: Parse> Read for T {
    type Output = T::Output;

    fn values() -> String {
        T::VALUES.to_owned()
    }

    fn read(given: &Given) -> Result<T::Output, ConfigError> {
        T::parse(&given.text()?).or_else(|fault| given.refuse(&fault.why, &fault.remedy))
    }
}

/// One value is a list of one.
impl<T: Parse> Read for Vec<T> {
    type Output = Vec<T::Output>;
    const IS_LIST: bool = true;

    fn values() -> String {
        T::VALUES.to_owned()
    }

    fn read(given: &Given) -> Result<Self::Output, ConfigError> {
        given.each().iter().map(T::read).collect()
    }
}

/// Whatever TOML has; who uses it checks it.
impl Read for Value {
    type Output = Self;

    fn read(given: &Given) -> Result<Self, ConfigError> {
        Ok(given.value.clone())
    }
}

impl Given {
    /// One text, number or switch, as text.
    pub(super) fn text(&self) -> Result<String, ConfigError> {
        match &self.value {
            _ if self.is_date => refuse!("{} is a datetime; write it as text in quotes", self.from),
            Value::String(text) => Ok(text.clone()),
            Value::Integer(number) => Ok(number.to_string()),
            Value::Boolean(is_on) => Ok(if *is_on { "on" } else { "off" }.to_owned()),
            other => refuse!("{} is a {}; write it as text in quotes", self.from, other.type_str()),
        }
    }

    /// The items of a list, or itself.
    pub(super) fn each(&self) -> Vec<Self> {
        let Value::Array(values) = &self.value else { return vec![self.clone()] };
        let item = |(value, from): (&Value, &String)| Self {
            from: from.clone(),
            value: value.clone(),
            is_date: false,
            items: Vec::new(),
        };
        values.iter().zip(&self.items).map(item).collect()
    }

    pub(super) fn shown(&self) -> String {
        self.value.as_str().filter(|_| self.is_date).map_or_else(|| shown(&self.value), str::to_owned)
    }

    /// An error that repeats the value: never that of a secret.
    pub(super) fn refuse<T>(&self, why: &str, remedy: &str) -> Result<T, ConfigError> {
        refuse!("{} {:?} {why}; {remedy}", self.from, self.text()?)
    }
}

impl<T> Setting<T> {
    /// What `check` makes of the text.
    pub(super) fn check<U>(&self, check: impl FnOnce(&str) -> Result<U, Fault>) -> Result<Option<U>, ConfigError> {
        let Some(given) = &self.given else { return Ok(None) };
        check(&given.text()?).map(Some).or_else(|fault| given.refuse(&fault.why, &fault.remedy))
    }
}

impl<T: Read> Setting<T> {
    pub(super) fn read(&self) -> Result<Option<T::Output>, ConfigError> {
        self.given.as_ref().map(T::read).transpose()
    }

    pub(super) fn read_or(&self, default: T::Output) -> Result<T::Output, ConfigError> {
        Ok(self.read()?.unwrap_or(default))
    }
}

impl<T> Default for Setting<T> {
    fn default() -> Self {
        Self { given: None, of: PhantomData }
    }
}

/// What a table says; None where there is none.
pub(super) fn open<T>(table: &Table<T>) -> Result<Option<&Section<T>>, ConfigError> {
    table.as_ref().map(|table| table.as_ref().map_err(Clone::clone)).transpose()
}

impl<T> Section<T> {
    /// The error for a key that must be there.
    pub(super) fn lacks<U>(&self, key: &str, remedy: &str) -> Result<U, ConfigError> {
        refuse!("{} has no `{key}`; {remedy}", self.from)
    }
}

/// A value as it stands in the file; of a table only that it is one.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Table(_) => format!("a {}", value.type_str()),
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(is_on) => is_on.to_string(),
        Value::Datetime(instant) => instant.to_string(),
    }
}

pub(super) fn fault<T>(why: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { why: why.into(), remedy: remedy.into() })
}
