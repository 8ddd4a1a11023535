//! What a release wakes, and what woke lately where no table shows who waits.

use leptos::prelude::*;

use super::words;
use crate::erase::{erase, view};
use crate::format::visible;
use crate::parts::{filled, mark};
use lockscope_view::{FiredRow, Herd};

/// From so many on it is a herd.
const HERD: u32 = 10;

/// Whom a release wakes.
pub(super) fn herd(herd: &Herd) -> AnyView {
    let Some(number) = herd.wakes else {
        return view! { <p class="herd" data-testid="herd">{words::HERD_UNKNOWN}</p> };
    };
    let is_herd = number > HERD;
    let mark_of_herd = is_herd.then_some("▲");
    let weight = herd.bytes.filter(|weight| is_herd && *weight > 0);
    view! {
        <p class="herd" data-testid="herd" data-herd=mark(is_herd)>
            {mark_of_herd.map(|sign| view! { <span class="herd-sign" aria-hidden="true">{sign}</span> })}
            {words::releasing_wakes(is_herd)}
            <strong class="herd-number">{words::woken(number, herd.known)}</strong>
            <span class="quiet" title=filled(words::herd_title(herd.known))>{words::how_known(herd.known, weight)}</span>
        </p>
    }
}

/// What fired on each member, where waiters can't be listed; nothing where nothing is known.
pub(super) fn fired(rows: &[FiredRow]) -> Option<AnyView> {
    let row = |row: &FiredRow| view! { <li data-key=visible(&row.member)>{words::fired(row)}</li> };
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

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_view::HerdKnown;

    fn said(wakes: u32, known: HerdKnown) -> String {
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
        assert_eq!(said(1, HerdKnown::Counted), "Releasing it wakes 1 client (counted).");
        assert_eq!(said(3, HerdKnown::ByRule), "Releasing it wakes ≈ 3 clients (by rule).");
        assert_eq!(
            said(500, HerdKnown::AtLeast),
            "▲Herd: releasing it wakes ≥ 500 clients (not all are seen), 64 B of events."
        );
    }
}
