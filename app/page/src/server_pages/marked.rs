//! Words above numbers that lead to their definition in the built-in help.

use leptos::prelude::*;

use super::{alerts, blame, differs, incidents, words};
use crate::erase::{erase, view};
use crate::explain::explained;
use crate::parts::{Columns, filled};
use crate::{lock_orders, over_time, session_timeout, time_to_lock};
use lockscope_view::guide::anchor;

/// What pages call a number, and the term that defines it.
const DEFINED: &[(&str, &str)] = &[
    (incidents::BEGAN, "incident began"),
    (words::INCIDENT_ENDED, "incident ended"),
    (incidents::HOW, "ended by"),
    (words::INCIDENTS_ALIKE, "alike"),
    (incidents::BECAUSE_OF, "because of"),
    (incidents::LASTED, "incident lasted"),
    (incidents::WAITED, "waited in all"),
    (words::OTHER_LOCKS, "other locks"),
    (words::SEEN_BEFORE, "seen before"),
    (words::WHO_WAITED, "victims"),
    (words::INCIDENT_VICTIMS, "victims"),
    (words::INCIDENT_WAITING, "waited in all"),
    (words::INCIDENT_SEEN, "seen before"),
    (words::DEPTH, "waiting at once"),
    (words::LANE_WAITED, "waited"),
    (words::LANE_HELD, "held"),
    (blame::IN_THE_END, "charged in the end"),
    (blame::AS_HOLDER, "charged as holder"),
    (blame::SHARE, "of all waiting"),
    (blame::WEEK_BEFORE, "week before"),
    (blame::HOLDS, "holds"),
    (blame::HOLD_TIMES, "hold percentiles"),
    (blame::VICTIMS, "sessions that waited"),
    (blame::WORST, "worst wait"),
    (blame::OTHERS, "others"),
    (blame::HAND_OFF, "hand-off"),
    (blame::UNKNOWN, "not known"),
    (blame::ALL, "all waiting"),
    (differs::SELECTED, "waits selected"),
    (differs::CELL, "waits in a cell"),
    (differs::OF_SELECTED, "share"),
    (differs::OF_REST, "share"),
    (differs::DIFFERENCE, "difference"),
    (alerts::FIRING, "firing"),
    (alerts::PENDING, "pending"),
    (alerts::RESOLVED, "resolved"),
    (alerts::UNTIL, "silenced until"),
    (alerts::WHEN, "fires at"),
    (alerts::FOR, "fires for"),
    (alerts::SEVERITY, "severity"),
    (alerts::WAITING, "messages waiting"),
    (alerts::LAST_SENT, "last taken"),
    (alerts::TRIED_FROM, "would have fired"),
    (alerts::TRIED_LASTS, "would have lasted"),
    (lock_orders::TIMES, "orders seen"),
    (lock_orders::SESSIONS, "order sessions"),
    (lock_orders::LAST, "order seen last"),
    (lock_orders::SURE, "confidence"),
    (lock_orders::CLOSEST, "closest approach"),
    (lock_orders::SNOOZED_UNTIL, "snoozed until"),
    (session_timeout::TIMEOUT, "session time-out"),
    (session_timeout::SILENCE, "longest silence"),
    (session_timeout::KNOWN_FOR, "silences known for"),
    (session_timeout::ENOUGH, "enough time-out"),
    (session_timeout::SAVED, "dead time saved"),
    (session_timeout::LEFT, "left before its end"),
    (time_to_lock::PLACE, "place in line"),
    (time_to_lock::STILL, "still to wait"),
    (time_to_lock::MEDIAN, "median wait"),
    (time_to_lock::RIGHT, "right"),
    (over_time::WORST, "worst verdict"),
    (over_time::VERDICT, "worst verdict"),
    (over_time::HELD_LONGEST, "held longest by"),
    (over_time::HOLDERS, "held by, share"),
    (over_time::SHARES, "held by, share"),
    (over_time::ACQUIRED_TIMES, "acquired"),
    (over_time::ACQUIRED, "acquired"),
    (over_time::GAVE_UP, "gave up"),
    (over_time::MOST_WAITING, "most waiting"),
    (over_time::DEPTH, "most waiting"),
    (over_time::WAIT_TIMES, "wait percentiles"),
    (over_time::WAIT, "wait percentiles"),
    (over_time::HOLD_TIMES, "hold percentiles over time"),
    (over_time::HOLD, "hold percentiles over time"),
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
pub(super) fn numbers_way() -> AnyView {
    view! { <a class="tool" href="/help#numbers">"What the numbers mean"</a> }
}

/// A cell in the head of a table.
pub(crate) fn head((name, class): &(&'static str, &'static str)) -> AnyView {
    view! { <th scope="col" class=filled(*class)>{marked(name)}</th> }
}

/// A table of incidents.
pub(super) fn marked_table(testid: &'static str, columns: Columns, rows: AnyView) -> AnyView {
    table_of("table audit-table incident-table", Some(testid), columns, rows)
}

/// A table as [`crate::parts::Table`] makes it, with marks in its head.
pub(crate) fn table_of(class: &'static str, testid: Option<&'static str>, columns: Columns, rows: AnyView) -> AnyView {
    view! {
        // What scrolls must be reachable by keyboard.
        <div class="overflow-x-auto" tabindex="0" role="group" aria-label="Table">
            <table class=class data-testid=testid>
                <thead><tr>{columns.iter().map(head).collect_view()}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::guide::{TermArea, all_terms, explanation};

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

    #[test]
    fn a_head_without_a_definition_is_a_plain_word() {
        let text = |name| crate::server_pages::text(0, || head(&(name, "")));
        assert_eq!(text("Client"), "<th scope=\"col\" class=\"\">Client</th>");
        assert!(text(blame::HOLDS).contains("href=\"/help#number-holds\""), "{}", text(blame::HOLDS));
    }
}
