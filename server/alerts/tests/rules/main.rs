//! Rules over scripted and generated lives, the book, its file, and receivers that fail.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests take what they made themselves for granted"
)]

mod book;
mod circles;
mod conditions;
mod delivery;
mod duties;
mod firing;
mod growth;
mod kills;
#[path = "../../../../app/core/tests/core/language.rs"]
#[expect(dead_code, reason = "the core's tests use all of it")]
mod language;
mod live;
mod lives;
#[path = "../../../../app/core/tests/core/members.rs"]
#[expect(dead_code, reason = "the core's tests use all of it")]
mod members;
mod new_rules;
mod prompt;
mod receiver;
mod restart;
mod shared;
mod shared_snoozes;
mod silences;
mod store;
mod unknown;
mod unseen;
mod watch;

use lockscope_alerts::rule::{Condition, Rule};
use lockscope_core::diagnosis::Severity;

/// A rule about every lock.
pub(crate) fn rule(name: &str, when: &[&str], for_ms: i64) -> Rule {
    Rule {
        name: name.into(),
        when: when.iter().map(|text| Condition::parse(text).unwrap()).collect(),
        path: "**".to_owned(),
        ensemble: None,
        for_ms,
        severity: Severity::Critical,
        routes: vec!["team".to_owned()],
        is_built_in: false,
    }
}

/// The same about the locks of a path.
pub(crate) fn at(path: &str, rule: Rule) -> Rule {
    Rule { path: path.to_owned(), ..rule }
}
