//! What a view asks for, and its form in a URL's query. The same text is a deep link of the page, the query
//! of the HTTP API and, as fields, the view of a live subscription.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use super::{Recipe, SessionId, Verdict, WINDOW_ROWS_MAX};

/// Rows that one board keeps before all others.
pub const PINS_MAX: usize = 20;

/// Order of the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Total waiting time now, largest first.
    Damage,
    /// Longest single wait first.
    OldestWait,
    /// Most waiters first.
    Depth,
    /// Longest hold first.
    Hold,
    /// By path.
    Path,
    /// The worst verdict first, then the largest total waiting time.
    #[default]
    Worst,
    /// By recipe, as it is called.
    Recipe,
    /// By the first holder, as it calls itself; locks that nobody holds last.
    Holder,
}

impl Sort {
    /// Every order, as the page lists them.
    pub const ALL: [Self; 8] =
        [Self::Worst, Self::Damage, Self::OldestWait, Self::Depth, Self::Hold, Self::Path, Self::Recipe, Self::Holder];

    /// The name in URLs and frames.
    pub fn name(self) -> &'static str {
        match self {
            Self::Damage => "damage",
            Self::OldestWait => "oldest_wait",
            Self::Depth => "depth",
            Self::Hold => "hold",
            Self::Path => "path",
            Self::Worst => "worst",
            Self::Recipe => "recipe",
            Self::Holder => "holder",
        }
    }
}

/// What the board shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BoardQuery {
    /// Ensemble name; empty for all.
    pub ensemble: String,
    /// Root path, or an ensemble's name, a space and a root path; empty for all.
    pub root: String,
    /// Text to find in path, recipe label, verdict, holder label or session id; `!text` excludes. Terms are separated by
    /// spaces.
    pub q: String,
    /// Only this recipe.
    pub recipe: Option<Recipe>,
    /// Only this verdict.
    pub verdict: Option<Verdict>,
    /// Order.
    pub sort: Sort,
    /// Keep locks of one root together.
    pub group: bool,
    /// First row.
    pub offset: u32,
    /// Rows, at most [`WINDOW_ROWS_MAX`].
    pub limit: u32,
    /// Keys of rows that stand before all others, at most 20.
    pub pins: Vec<String>,
}

impl Default for BoardQuery {
    fn default() -> Self {
        Self {
            ensemble: String::new(),
            root: String::new(),
            q: String::new(),
            recipe: None,
            verdict: None,
            sort: Sort::default(),
            group: false,
            offset: 0,
            limit: 100,
            pins: Vec::new(),
        }
    }
}

/// What the lock page shows: one lock and a window of its contenders.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LockQuery {
    /// Ensemble name; empty means the only one.
    pub ensemble: String,
    /// The lock's path, or the path of a znode in it.
    pub path: String,
    /// First contender row.
    pub offset: u32,
    /// Contender rows, at most [`WINDOW_ROWS_MAX`].
    pub limit: u32,
}

impl Default for LockQuery {
    fn default() -> Self {
        Self { ensemble: String::new(), path: String::new(), offset: 0, limit: 100 }
    }
}

/// What a session's page shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SessionQuery {
    /// Ensemble name; empty means the only one.
    pub ensemble: String,
    /// The session.
    pub id: SessionId,
    /// First znode.
    pub offset: u32,
    /// Znodes, at most [`WINDOW_ROWS_MAX`].
    pub limit: u32,
}

impl Default for SessionQuery {
    fn default() -> Self {
        Self { ensemble: String::new(), id: SessionId(0), offset: 0, limit: 100 }
    }
}

/// A query parameter that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQueryError {
    /// The parameter's name.
    pub name: String,
    /// What it said.
    pub value: String,
    /// What it may say.
    pub expected: String,
}

impl fmt::Display for ParseQueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a value of `{}`; use {}", self.value, self.name, self.expected)
    }
}

impl std::error::Error for ParseQueryError {}

impl BoardQuery {
    /// Reads decoded query parameters. Unknown names are an error, so that a typo does not widen a filter unseen.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, ParseQueryError> {
        let mut query = Self::default();
        for (name, value) in pairs {
            match name {
                "ensemble" => query.ensemble = value.to_owned(),
                "root" => query.root = value.to_owned(),
                "q" => query.q = value.to_owned(),
                "recipe" => query.recipe = one_of(name, value, &Recipe::ALL, Recipe::name)?,
                "verdict" => query.verdict = one_of(name, value, &Verdict::ALL, Verdict::name)?,
                "sort" => query.sort = one_of(name, value, &Sort::ALL, Sort::name)?.unwrap_or_default(),
                "group" => query.group = flag(name, value)?,
                "offset" => query.offset = number(name, value)?,
                "limit" => query.limit = rows(name, value)?,
                "pin" if query.pins.len() < PINS_MAX => query.pins.push(value.to_owned()),
                "pin" => return Err(unknown(name, value, &format!("at most {PINS_MAX} of them"))),
                _ => {
                    return Err(unknown(
                        name,
                        value,
                        "ensemble, root, q, recipe, verdict, sort, group, offset, limit or pin",
                    ));
                }
            }
        }
        Ok(query)
    }

    /// The query part of a deep link to this board, with its `?`; empty for the default board. Offset and
    /// limit follow the scroll position and are left out.
    pub fn to_url_query(&self) -> String {
        let mut out = String::new();
        push_pair(&mut out, "ensemble", &self.ensemble);
        push_pair(&mut out, "root", &self.root);
        push_pair(&mut out, "q", &self.q);
        push_pair(&mut out, "recipe", self.recipe.map_or("", Recipe::name));
        push_pair(&mut out, "verdict", self.verdict.map_or("", Verdict::name));
        push_pair(&mut out, "sort", if self.sort == Sort::default() { "" } else { self.sort.name() });
        push_pair(&mut out, "group", if self.group { "root" } else { "" });
        self.pins.iter().for_each(|pin| push_pair(&mut out, "pin", pin));
        out
    }
}

impl LockQuery {
    /// Reads decoded query parameters; the path is required.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, ParseQueryError> {
        let mut query = Self::default();
        for (name, value) in pairs {
            match name {
                "ensemble" => query.ensemble = value.to_owned(),
                "path" => query.path = value.to_owned(),
                "offset" => query.offset = number(name, value)?,
                "limit" => query.limit = rows(name, value)?,
                _ => return Err(unknown(name, value, "ensemble, path, offset or limit")),
            }
        }
        if query.path.starts_with('/') {
            Ok(query)
        } else {
            Err(unknown("path", &query.path, "the absolute path of a lock, like /order"))
        }
    }

    /// The deep link to this lock's page.
    pub fn to_url(&self) -> String {
        let mut out = String::new();
        push_pair(&mut out, "ensemble", if self.ensemble == "default" { "" } else { &self.ensemble });
        push_pair(&mut out, "path", &self.path);
        format!("/lock{out}")
    }
}

impl SessionQuery {
    /// Reads decoded query parameters; the id is required.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, ParseQueryError> {
        let mut query = Self::default();
        let mut is_named = false;
        for (name, value) in pairs {
            match name {
                "ensemble" => query.ensemble = value.to_owned(),
                "id" => {
                    query.id = value.parse().map_err(|_| {
                        unknown(name, value, "a session id as ZooKeeper prints it, like 0x100000a1b2c0001")
                    })?;
                    is_named = true;
                }
                "offset" => query.offset = number(name, value)?,
                "limit" => query.limit = rows(name, value)?,
                _ => return Err(unknown(name, value, "ensemble, id, offset or limit")),
            }
        }
        if is_named {
            Ok(query)
        } else {
            Err(unknown("id", "", "a session id as ZooKeeper prints it, like 0x100000a1b2c0001"))
        }
    }

    /// The deep link to this session's page.
    pub fn to_url(&self) -> String {
        let mut out = String::new();
        push_pair(&mut out, "ensemble", if self.ensemble == "default" { "" } else { &self.ensemble });
        push_pair(&mut out, "id", &self.id.to_string());
        format!("/session{out}")
    }
}

pub(super) fn one_of<T: Copy>(
    name: &str,
    value: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<Option<T>, ParseQueryError> {
    if value.is_empty() {
        return Ok(None);
    }
    all.iter().copied().find(|item| name_of(*item) == value).map(Some).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|item| name_of(*item)).collect();
        unknown(name, value, &format!("one of {}", names.join(", ")))
    })
}

pub(super) fn number(name: &str, value: &str) -> Result<u32, ParseQueryError> {
    value.parse().map_err(|_| unknown(name, value, "a whole number from 0 to 4294967295"))
}

/// Rows of a window; more than fit count as so many as do.
pub(super) fn rows(name: &str, value: &str) -> Result<u32, ParseQueryError> {
    number(name, value).map(|rows| rows.clamp(1, WINDOW_ROWS_MAX))
}

fn flag(name: &str, value: &str) -> Result<bool, ParseQueryError> {
    match value {
        "root" | "true" | "1" => Ok(true),
        "" | "false" | "0" => Ok(false),
        _ => Err(unknown(name, value, "root, true or 1 to keep roots together, false or 0 not to")),
    }
}

pub(super) fn unknown(name: &str, value: &str, expected: &str) -> ParseQueryError {
    ParseQueryError { name: name.to_owned(), value: value.to_owned(), expected: expected.to_owned() }
}

pub(super) fn push_pair(out: &mut String, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    out.push(if out.is_empty() { '?' } else { '&' });
    out.push_str(name);
    out.push('=');
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/!".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}
