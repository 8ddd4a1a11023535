//! Words above numbers that lead to their definition in the built-in help.

use leptos::prelude::*;

use super::table::{Columns, filled, table_with};
use crate::erase::{erase, view};
use crate::explain::explained;
use lockscope_view::guide::anchor;

/// What pages call a number, and the term that defines it.
const DEFINED: &[(&str, &str)] = &[
    ("Began", "incident began"),
    ("Ended", "incident ended"),
    ("How it ended", "ended by"),
    ("Like it, on any lock", "alike"),
    ("Because of", "because of"),
    ("Lasted", "incident lasted"),
    ("Waited in all", "waited in all"),
    ("other locks", "other locks"),
    ("so before", "seen before"),
    ("how many sessions waited for long", "victims"),
    ("Sessions that waited 1 s or longer", "victims"),
    ("Waiting in all", "waited in all"),
    ("Before, in 30 days", "seen before"),
    ("How many waited", "waiting at once"),
    ("Waited", "waited"),
    ("Held", "held"),
    ("Charged in the end", "charged in the end"),
    ("Charged as holder", "charged as holder"),
    ("Of all waiting", "of all waiting"),
    ("A week before", "week before"),
    ("Holds", "holds"),
    ("Hold p50 · p99", "hold percentiles"),
    ("Sessions that waited", "sessions that waited"),
    ("Worst wait ended", "worst wait"),
    ("Others", "others"),
    ("Hand-off", "hand-off"),
    ("Not known", "not known"),
    ("All waiting", "all waiting"),
    ("selected", "waits selected"),
    ("Each cell", "waits in a cell"),
    ("Of those selected", "share"),
    ("Of the rest", "share"),
    ("differs by", "difference"),
    ("Firing", "firing"),
    ("Pending, not yet for long enough", "pending"),
    ("Resolved", "resolved"),
    ("Until", "silenced until"),
    ("Fires when it is", "fires at"),
    ("For", "fires for"),
    ("Severity", "severity"),
    ("Waiting", "messages waiting"),
    ("Last taken", "last taken"),
    ("From", "would have fired"),
    ("Lasts", "would have lasted"),
    ("Times", "orders seen"),
    ("Sessions", "order sessions"),
    ("Last", "order seen last"),
    ("How sure", "confidence"),
    ("Closest approach", "closest approach"),
    ("until", "snoozed until"),
    ("Time-out", "session time-out"),
    ("Longest silence", "longest silence"),
    ("Known for", "silences known for"),
    ("Would be enough", "enough time-out"),
    ("Saved if it dies", "dead time saved"),
    ("Left before its end", "left before its end"),
    ("Place", "place in line"),
    ("Still to wait, 80 %", "still to wait"),
    ("Median", "median wait"),
    ("How that is counted", "right"),
    ("Worst verdict", "worst verdict"),
    ("Verdict, the worst of each piece", "worst verdict"),
    ("Held longest by", "held longest by"),
    ("Who held", "held by, share"),
    ("Who held, by share of each piece", "held by, share"),
    ("Acquired", "acquired"),
    ("Acquired a minute", "acquired"),
    ("Gave up", "gave up"),
    ("Most waiting", "most waiting"),
    ("Waiting at most", "most waiting"),
    ("Wait p50 · p95 · p99", "wait percentiles"),
    ("Wait: p50, p95, p99", "wait percentiles"),
    ("Hold p50 · p95 · p99", "hold percentiles over time"),
    ("Hold: p50, p95, p99", "hold percentiles over time"),
];

/// Where the number of this name is defined.
pub(crate) fn definition(word: &str) -> Option<String> {
    DEFINED.iter().find(|(shown, _)| *shown == word).map(|(_, term)| anchor("number", term))
}

/// A word; where it names a number, it leads to its definition.
pub(crate) fn marked(word: &'static str) -> AnyView {
    match definition(word) {
        Some(anchor) => explained(anchor, erase(word)),
        None => erase(word),
    }
}

/// Leads to all definitions: where a page is narrow its tables have no head.
pub(crate) fn numbers_way() -> AnyView {
    view! { <a class="tool" href="/help#numbers">"What the numbers mean"</a> }
}

/// A cell in the head of a table.
pub(crate) fn head((name, class): &(&'static str, &'static str)) -> AnyView {
    view! { <th scope="col" class=filled(*class)>{marked(name)}</th> }
}

/// A table of incidents.
pub(crate) fn marked_table(testid: &'static str, columns: Columns, rows: AnyView) -> AnyView {
    table_of("table audit-table incident-table", Some(testid), columns, rows)
}

/// A table as [`super::Table`] makes it, with marks in its head.
pub(crate) fn table_of(class: &'static str, testid: Option<&'static str>, columns: Columns, rows: AnyView) -> AnyView {
    table_with(class, testid, columns.iter().map(head).collect(), rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::guide::{TermArea, all_terms, explanation};
    use std::path::Path;

    #[test]
    fn each_mark_has_its_definition_and_each_definition_a_mark() {
        for (_, term) in DEFINED {
            assert!(explanation(&anchor("number", term)).is_some(), "{term}");
        }
        let mut shown: Vec<&str> = DEFINED.iter().map(|(shown, _)| *shown).collect();
        shown.sort_unstable();
        assert_eq!(
            shown.iter().zip(shown.iter().skip(1)).find(|(one, next)| one == next),
            None,
            "a word has one definition"
        );
        for term in all_terms().filter(|term| term.area == TermArea::Numbers) {
            assert!(DEFINED.iter().any(|(_, known)| *known == term.word), "{}", term.word);
        }
    }

    fn texts_of(folder: &Path, found: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts_of(&path, found);
            } else if !path.ends_with("parts/marked.rs") {
                found.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_defined_word_is_on_a_page() {
        let mut texts = String::new();
        texts_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
        let is_nowhere = |(word, _): &&(&str, &str)| !texts.contains(&format!("{word:?}"));
        assert_eq!(DEFINED.iter().filter(is_nowhere).collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
    }

    #[test]
    fn a_head_without_a_definition_is_a_plain_word() {
        let text = |name| super::super::markup::text(0, || head(&(name, "")));
        assert_eq!(text("Client"), "<th scope=\"col\" class=\"\">Client</th>");
        assert!(text("Holds").contains("href=\"/help#number-holds\""), "{}", text("Holds"));
    }
}
