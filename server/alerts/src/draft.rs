//! A rule as somebody writes it to try it: JSON, or the text of an `[[alert]]` table.

use lockscope_core::diagnosis::Severity;
use serde::Deserialize;

use crate::rule::{CONDITIONS_MAX, Condition, Rule, parse_ms};

/// A rule that is only tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleDraft {
    pub name: String,
    pub when: OneOrMany,
    pub path: Option<String>,
    pub ensemble: Option<String>,
    pub r#for: Option<String>,
    pub severity: Option<String>,
    /// Who would be told; nobody is.
    pub route: OneOrMany,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    alert: Vec<RuleDraft>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DraftError(pub String);

impl RuleDraft {
    /// Reads the text of `[[alert]]` tables, as a configuration file has them.
    pub fn from_toml(text: &str) -> Result<Vec<Self>, DraftError> {
        let file: File = toml::from_str(text).map_err(|error| {
            DraftError(format!("`toml` has no [[alert]] tables that can be read: {}", error.message()))
        })?;
        if file.alert.is_empty() {
            return Err(DraftError("`toml` has no [[alert]] table".to_owned()));
        }
        Ok(file.alert)
    }

    /// The rule that it is.
    pub fn rule(self) -> Result<Rule, DraftError> {
        let wrong = |text: String| Err(DraftError(text));
        let when = match self.when {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        };
        if when.is_empty() || when.len() > CONDITIONS_MAX {
            return wrong(format!(
                "`when` is to have 1 to {CONDITIONS_MAX} conditions, like [\"stuck\", \"waiting > 30s\"]"
            ));
        }
        let when = when.iter().map(|text| Condition::parse(text)).collect::<Result<_, _>>();
        let when = when.map_err(|error| DraftError(error.to_string()))?;
        let path = self.path.unwrap_or_else(|| "**".to_owned());
        if !(path.starts_with('/') || path.starts_with("**")) || path.matches('*').count() > 8 || path.len() > 512 {
            return wrong("`path` is to be a path, in which * is any part of one name and ** any names".to_owned());
        }
        let for_ms = match self.r#for.as_deref() {
            None => 0,
            Some(text) => {
                parse_ms(text).ok_or_else(|| DraftError("`for` is to be a time like 30s, 5m or 2h".to_owned()))?
            }
        };
        let severity = match self.severity.as_deref() {
            None | Some("warning") => Severity::Warning,
            Some("info") => Severity::Info,
            Some("critical") => Severity::Critical,
            Some(_) => return wrong("`severity` is to be info, warning or critical".to_owned()),
        };
        let name = if self.name.is_empty() { "tried" } else { &self.name };
        Ok(Rule {
            name: name.chars().take(64).collect::<String>().into(),
            when,
            path,
            ensemble: self.ensemble,
            for_ms,
            severity,
            routes: Vec::new(),
            is_built_in: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_rule() {
        let text =
            "[[alert]]\nname = \"a\"\nwhen = \"waiting > 30s\"\nfor = \"5s\"\npath = \"/orders/*\"\nroute = \"x\"\n";
        let mut drafts = RuleDraft::from_toml(text).unwrap();
        let rule = drafts.remove(0).rule().unwrap();
        assert_eq!((&*rule.name, rule.for_ms, &*rule.path), ("a", 5_000, "/orders/*"));
        assert_eq!(rule.when, [Condition::Waiting(30_000)]);
        for (text, why) in [
            ("x = 1", "no [[alert]] tables"),
            ("alert = []", "no [[alert]] table"),
            ("[[alert]]\nwhan = \"stuck\"", "whan"),
        ] {
            let told = RuleDraft::from_toml(text).unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
        }
        assert!(RuleDraft::default().rule().unwrap_err().to_string().contains("`when`"));
    }
}
