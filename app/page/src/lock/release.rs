//! What a release wakes, and what woke lately where no table shows who waits.

use leptos::prelude::*;

use crate::erase::{erase, view};
use crate::format::{bytes, count, duration, plural, visible};
use crate::parts::{filled, mark};
use lockscope_wire::{FiredRow, Herd, HerdKnown};

/// From so many on it is a herd.
const HERD: u32 = 10;

/// Whom a release wakes.
pub(super) fn herd(herd: &Herd) -> AnyView {
    let (sign, known, title) = match herd.known {
        HerdKnown::Counted => ("", "counted", "Counted in every member's table of watches"),
        HerdKnown::ByRule => ("≈ ", "by rule", "By the rule of the recipe: no table of watches was read"),
        HerdKnown::AtLeast => (
            "≥ ",
            "not all are seen",
            "Some members reported nothing, or some clients watch the list of children, which is in no table",
        ),
        HerdKnown::Unknown => ("", "", ""),
    };
    let Some(number) = herd.wakes else {
        let why =
            "Whom a release wakes is not known: clients here may watch the list of children, which is in no table.";
        return view! { <p class="herd" data-testid="herd">{why}</p> };
    };
    let is_herd = number > HERD;
    let (mark_of_herd, begin) =
        if is_herd { (Some("▲"), "Herd: releasing it wakes ") } else { (None, "Releasing it wakes ") };
    let wakes = format!("{sign}{}", plural(number.into(), "client", "clients"));
    let bytes = herd
        .bytes
        .filter(|weight| is_herd && *weight > 0)
        .map_or_else(String::new, |weight| format!(", {} of events", bytes(weight)));
    view! {
        <p class="herd" data-testid="herd" data-herd=mark(is_herd)>
            {mark_of_herd.map(|sign| view! { <span class="herd-sign" aria-hidden="true">{sign}</span> })}
            {begin}
            <strong class="herd-number">{wakes}</strong>
            <span class="quiet" title=filled(title)>{format!(" ({known}){bytes}.")}</span>
        </p>
    }
}

/// What fired on each member, where waiters can't be listed; nothing where nothing is known.
pub(super) fn fired(rows: &[FiredRow]) -> Option<AnyView> {
    let row = |row: &FiredRow| view! { <li data-key=visible(&row.member)>{fired_text(row)}</li> };
    let list = || {
        view! {
            <div class="fired" data-testid="fired">
                <p>"Waiters on children are invisible to ZooKeeper's tables. What its members woke lately, all paths:"</p>
                <ul class="bullets">{rows.iter().map(row).collect_view()}</ul>
            </div>
        }
    };
    (!rows.is_empty()).then(|| erase(list()))
}

fn fired_text(row: &FiredRow) -> String {
    let mut text = format!(
        "{}: in the last {} {} of child lists woke {}",
        visible(&row.member),
        duration(row.over_ms),
        plural(row.child_changes, "change", "changes"),
        plural(row.woken_by_child_changes, "watch", "watches")
    );
    if row.deletions > 0 {
        text.push_str(&format!(
            ", {} woke {}",
            plural(row.deletions, "deletion", "deletions"),
            count(row.woken_by_deletions)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(wakes: u32, known: HerdKnown) -> String {
        let html = herd(&Herd { wakes: Some(wakes), known, bytes: Some(64) }).to_html().replace("<!>", "");
        let mut text = String::new();
        let mut is_tag = false;
        for char in html.chars() {
            match char {
                '<' => is_tag = true,
                '>' => is_tag = false,
                char if !is_tag => text.push(char),
                _ => {}
            }
        }
        text
    }

    #[test]
    fn a_release_in_words() {
        assert_eq!(words(1, HerdKnown::Counted), "Releasing it wakes 1 client (counted).");
        assert_eq!(words(3, HerdKnown::ByRule), "Releasing it wakes ≈ 3 clients (by rule).");
        assert_eq!(
            words(500, HerdKnown::AtLeast),
            "▲Herd: releasing it wakes ≥ 500 clients (not all are seen), 64 B of events."
        );
    }

    #[test]
    fn what_fired_in_words() {
        let mut row = FiredRow {
            member: "m1".to_owned(),
            over_ms: 5_000,
            deletions: 0,
            woken_by_deletions: 0,
            child_changes: 12,
            woken_by_child_changes: 480,
        };
        assert_eq!(fired_text(&row), "m1: in the last 5.0 s 12 changes of child lists woke 480 watches");
        (row.deletions, row.woken_by_deletions) = (3, 3);
        assert!(fired_text(&row).ends_with(", 3 deletions woke 3"));
    }
}
