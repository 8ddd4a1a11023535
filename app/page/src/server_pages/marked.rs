//! Words above numbers that lead to their definition in the built-in help.

use leptos::prelude::*;

use super::{alerts, blame, differs, incidents, words};
use crate::erase::{erase, view};
use crate::explain::explained;
use crate::lock_orders;
use crate::parts::{Columns, filled};
use lockscope_wire::guide::anchor;

/// What pages call a number, and the term that defines it.
const DEFINED: [(&str, &str); 27] = [
    (words::INCIDENTS_ALIKE, "alike"),
    (incidents::BECAUSE_OF, "because of"),
    (incidents::LASTED, "incident lasted"),
    (incidents::WAITED, "waited in all"),
    (words::INCIDENT_VICTIMS, "victims"),
    (words::INCIDENT_WAITING, "waited in all"),
    (words::INCIDENT_SEEN, "seen before"),
    (blame::IN_THE_END, "charged in the end"),
    (blame::AS_HOLDER, "charged as holder"),
    (blame::SHARE, "of all waiting"),
    (blame::WEEK_BEFORE, "week before"),
    (blame::HOLDS, "holds"),
    (blame::HOLD_TIMES, "hold percentiles"),
    (blame::VICTIMS, "sessions that waited"),
    (blame::WORST, "worst wait"),
    (blame::HAND_OFF, "hand-off"),
    (blame::UNKNOWN, "not known"),
    (blame::ALL, "all waiting"),
    (differs::OF_SELECTED, "share"),
    (differs::OF_REST, "share"),
    (differs::DIFFERENCE, "difference"),
    (alerts::FOR, "fires for"),
    (alerts::WAITING, "messages waiting"),
    (alerts::LAST_SENT, "last taken"),
    (alerts::TRIED_LASTS, "would have lasted"),
    (lock_orders::TIMES, "orders seen"),
    (lock_orders::CLOSEST, "closest approach"),
];

/// A word; where it names a number, it leads to its definition.
pub(crate) fn marked(word: &'static str) -> AnyView {
    match DEFINED.iter().find(|(shown, _)| *shown == word) {
        Some((_, term)) => explained(anchor("number", term), erase(word)),
        None => erase(word),
    }
}

/// Leads to all definitions: where a page is narrow its tables have no head.
pub(super) fn numbers_way() -> AnyView {
    view! { <a class="tool" href="/help#numbers">"What the numbers mean"</a> }
}

/// A cell in the head of a table.
pub(crate) fn head((name, class): &(&'static str, &'static str)) -> AnyView {
    view! { <th scope="col" class=filled(*class)>{marked(name)}</th> }
}

/// A table as [`crate::parts::Table`] makes it, with marks in its head.
pub(super) fn marked_table(testid: &'static str, columns: Columns, rows: AnyView) -> AnyView {
    view! {
        // What scrolls must be reachable by keyboard.
        <div class="overflow-x-auto" tabindex="0" role="group" aria-label="Table">
            <table class="table audit-table incident-table" data-testid=testid>
                <thead><tr>{columns.iter().map(head).collect_view()}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::guide::{TERMS, TermArea, explanation};

    #[test]
    fn each_mark_has_its_definition_and_each_definition_a_mark() {
        for (_, term) in DEFINED {
            assert!(explanation(&anchor("number", term)).is_some(), "{term}");
        }
        for term in TERMS.iter().filter(|term| term.area == TermArea::Numbers) {
            assert!(DEFINED.iter().any(|(_, known)| *known == term.word), "{}", term.word);
        }
    }

    #[test]
    fn a_head_without_a_definition_is_a_plain_word() {
        let text = |name| crate::server_pages::text(0, || head(&(name, "")));
        assert_eq!(text("Client"), "<th scope=\"col\" class=\"\">Client</th>");
        assert!(text(blame::HOLDS).contains("href=\"/help#number-holds\""), "{}", text(blame::HOLDS));
    }
}
