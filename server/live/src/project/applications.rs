//! Which application a client's name stands for: by the operator's pattern, else by a built-in rule.

use regex::{Regex, RegexBuilder};

use crate::Current;

pub const PATTERN_CHARS_MAX: usize = 500;
/// Most memory that a compiled pattern may take; one that needs more is refused.
const COMPILED_BYTES_MAX: usize = 256 * 1024;
/// The group of a pattern that is the application, where it has several.
const GROUP: &str = "application";

/// Finds the application in a client's name. Names are at most 80 characters, and matching takes time linear in that.
#[derive(Clone, Debug, Default)]
pub struct ApplicationRule(Option<Pattern>);

#[derive(Clone, Debug)]
struct Pattern {
    regex: Regex,
    /// The index of the group that is the application.
    group: usize,
}

impl PartialEq for ApplicationRule {
    fn eq(&self, other: &Self) -> bool {
        self.pattern() == other.pattern()
    }
}

impl Eq for ApplicationRule {}

impl ApplicationRule {
    /// The rule that a pattern is; an empty one is the built-in rule.
    ///
    /// # Errors
    /// What is wrong with the pattern, after which a remedy may stand.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Ok(Self::default());
        }
        if pattern.chars().count() > PATTERN_CHARS_MAX {
            return Err(format!("is longer than {PATTERN_CHARS_MAX} characters"));
        }
        let limited =
            RegexBuilder::new(pattern).size_limit(COMPILED_BYTES_MAX).dfa_size_limit(COMPILED_BYTES_MAX).build();
        let regex = limited.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "takes too much memory".to_owned(),
            // The last line says what is wrong; those before it draw an arrow.
            error => {
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default().trim();
                format!("is not a regular expression ({})", reason.strip_prefix("error: ").unwrap_or(reason))
            }
        })?;
        let named = regex.capture_names().position(|name| name == Some(GROUP));
        // Group 0 is the whole match.
        let group = match (named, regex.captures_len()) {
            (Some(named), _) => named,
            (None, 2) => 1,
            (None, 1) => return Err("has no group in brackets".to_owned()),
            (None, _) => return Err(format!("has several groups, and none is named {GROUP}")),
        };
        Ok(Self(Some(Pattern { regex, group })))
    }

    /// The pattern; empty for the built-in rule.
    pub fn pattern(&self) -> &str {
        self.0.as_ref().map_or("", |pattern| pattern.regex.as_str())
    }

    /// The application of a name. Where the pattern finds none, the built-in rule decides.
    pub fn application_of<'a>(&self, label: &'a str) -> &'a str {
        let found = self.0.as_ref().and_then(|pattern| pattern.regex.captures(label)?.get(pattern.group));
        found.map(|found| found.as_str()).filter(|name| !name.is_empty()).unwrap_or_else(|| built_in(label))
    }
}

/// What comes before a number and the `@` of a host, `report` of `report-9@app-2`. A name that is nothing else stands
/// for itself.
fn built_in(label: &str) -> &str {
    let name = label.split_once('@').map_or(label, |(name, _)| name);
    let trimmed = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_', '.', '#', ':', ' ']);
    if trimmed.is_empty() { name } else { trimmed }
}

/// The rule in force.
pub type ApplicationNames = Current<ApplicationRule>;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pattern: &str, labels: &[&str]) -> Vec<String> {
        let rule = ApplicationRule::parse(pattern).unwrap();
        labels.iter().map(|label| rule.application_of(label).to_owned()).collect()
    }

    #[test]
    fn the_application_is_the_name_before_a_number_and_the_host() {
        let labels =
            ["labels-hung-1@app-1", "report-9@app-2", "worker_12", "packer", "svc@host", "7@host", "42", "a-1-b2@h"];
        assert_eq!(names("", &labels), ["labels-hung", "report", "worker", "packer", "svc", "7", "42", "a-1-b"]);
    }

    #[test]
    fn a_pattern_says_which_part_it_is_and_the_built_in_rule_decides_where_it_finds_none() {
        let labels = ["eu/report-9@app-2", "eu/bill@app-1", "report-9@app-2", "eu/-9@app"];
        assert_eq!(names("^eu/([a-z]*)", &labels), ["report", "bill", "report", "eu/"]);
        let named = "^(eu|us)/(?P<application>[a-z]+)";
        assert_eq!(names(named, &["us/report-9@app-2", "bill-1"]), ["report", "bill"]);
        // A group that took no part in the match found nothing.
        assert_eq!(names("^x(y)?", &["x-1@h"]), ["x"]);
    }

    #[test]
    fn every_mistake_of_a_pattern_is_said() {
        let wrong = |pattern: &str| ApplicationRule::parse(pattern).unwrap_err();
        assert_eq!(wrong("(a"), "is not a regular expression (unclosed group)");
        assert_eq!(wrong("^[a-z]+"), "has no group in brackets");
        assert_eq!(wrong("(a)(b)"), "has several groups, and none is named application");
        assert_eq!(wrong(&format!("({})", "a".repeat(PATTERN_CHARS_MAX))), "is longer than 500 characters");
        assert_eq!(wrong(r"((?:\w{200}){200})"), "takes too much memory");
    }

    #[test]
    fn another_rule_is_a_change_and_the_same_is_none() {
        let shared = ApplicationNames::default();
        let changes = shared.changes();
        let rule = ApplicationRule::parse("^(.)").unwrap();
        shared.clone().set(rule.clone());
        shared.set(rule.clone());
        assert_eq!((*changes.borrow(), shared.now()), (1, rule));
    }
}
