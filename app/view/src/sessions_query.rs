//! What the list of sessions asks for: which sessions, in which order, one by one or in groups.

use serde::{Deserialize, Serialize};

use super::name::named_enum;
use super::query::{ParseQueryError, number, one_of, push_pair, rows, unknown};

/// Order of the sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionSort {
    /// Those that make most others wait first.
    Blocks,
    /// Most holds first.
    Holds,
    /// Longest single wait first.
    OldestWait,
    /// Most znodes first.
    Ephemerals,
    /// By id.
    Id,
    /// Those in a deadlock first, then those that make most others wait.
    #[default]
    Worst,
}

impl SessionSort {
    /// Every order, as the page lists them.
    pub const ALL: [Self; 6] = [Self::Worst, Self::Blocks, Self::Holds, Self::OldestWait, Self::Ephemerals, Self::Id];

    /// The name in URLs and frames.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Holds => "holds",
            Self::OldestWait => "oldest_wait",
            Self::Ephemerals => "ephemerals",
            Self::Id => "id",
            Self::Worst => "worst",
        }
    }
}

named_enum! {
    /// What a row of the list stands for.
    #[derive(Default)]
    SessionGroup {
        /// One session.
        #[default]
        Session = "session",
        /// All sessions of one client host.
        Host = "host",
        /// All sessions of one application.
        Application = "application",
    }
}

/// What the list of sessions shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SessionsQuery {
    /// Ensemble name; empty for all.
    pub ensemble: String,
    /// Text to find in id, label or lock path; `!text` excludes.
    pub q: String,
    /// Order.
    pub sort: SessionSort,
    /// First row.
    pub offset: u32,
    /// Rows, at most 500.
    pub limit: u32,
    /// What a row stands for.
    pub group: SessionGroup,
    /// Only sessions of this client host, as members report its address, without the port; empty for all.
    pub host: String,
    /// Only sessions of this application; empty for all.
    pub application: String,
}

impl Default for SessionsQuery {
    fn default() -> Self {
        Self {
            ensemble: String::new(),
            q: String::new(),
            sort: SessionSort::default(),
            offset: 0,
            limit: 100,
            group: SessionGroup::default(),
            host: String::new(),
            application: String::new(),
        }
    }
}

impl SessionsQuery {
    /// Reads decoded query parameters.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, ParseQueryError> {
        let mut query = Self::default();
        for (name, value) in pairs {
            match name {
                "ensemble" => query.ensemble = value.to_owned(),
                "q" => query.q = value.to_owned(),
                "sort" => query.sort = one_of(name, value, &SessionSort::ALL, SessionSort::name)?.unwrap_or_default(),
                "group" => {
                    query.group = one_of(name, value, &SessionGroup::ALL, SessionGroup::name)?.unwrap_or_default();
                }
                "host" => query.host = value.to_owned(),
                "application" => query.application = value.to_owned(),
                "offset" => query.offset = number(name, value)?,
                "limit" => query.limit = rows(name, value)?,
                _ => {
                    let known = "ensemble, q, sort, group, host, application, offset or limit";
                    return Err(unknown(name, value, known));
                }
            }
        }
        Ok(query)
    }

    /// The query part of a deep link to this list, with its `?`; empty for the default list.
    pub fn to_url_query(&self) -> String {
        let mut out = String::new();
        push_pair(&mut out, "ensemble", &self.ensemble);
        push_pair(&mut out, "q", &self.q);
        push_pair(&mut out, "sort", if self.sort == SessionSort::default() { "" } else { self.sort.name() });
        push_pair(&mut out, "group", if self.group == SessionGroup::default() { "" } else { self.group.name() });
        push_pair(&mut out, "host", &self.host);
        push_pair(&mut out, "application", &self.application);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_in_the_address_and_read_back() {
        let query = SessionsQuery {
            q: "a b".to_owned(),
            sort: SessionSort::OldestWait,
            group: SessionGroup::Host,
            application: "report".to_owned(),
            ..SessionsQuery::default()
        };
        assert_eq!(query.to_url_query(), "?q=a%20b&sort=oldest_wait&group=host&application=report");
        let pairs = [("q", "a b"), ("sort", "oldest_wait"), ("group", "host"), ("application", "report")];
        assert_eq!(SessionsQuery::from_pairs(pairs), Ok(query));
        assert_eq!(SessionsQuery::default().to_url_query(), "");
        let again = SessionsQuery { host: "10.0.0.5".to_owned(), ..SessionsQuery::default() };
        assert_eq!(SessionsQuery::from_pairs([("host", "10.0.0.5"), ("group", "session")]), Ok(again));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let told = |name: &str, value: &str| {
            SessionsQuery::from_pairs([(name, value)]).map_err(|error| error.to_string()).unwrap_err()
        };
        assert_eq!(told("group", "rack"), "`rack` is not a value of `group`; use one of session, host, application");
        assert_eq!(
            told("sort", "size"),
            "`size` is not a value of `sort`; use one of worst, blocks, holds, oldest_wait, ephemerals, id"
        );
        assert!(told("rack", "1").ends_with("use ensemble, q, sort, group, host, application, offset or limit"));
    }
}
