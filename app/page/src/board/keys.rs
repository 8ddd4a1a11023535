//! The board's keys.

use leptos::prelude::*;

use super::state::BoardState;
use crate::browser::first;
use crate::parts::{Key, empty_filter, focus_filter, let_go_of_focus};

/// What a key does; false for one that the board has no use for.
pub(super) fn act(state: BoardState, key: &Key) -> bool {
    match key.name.as_str() {
        "/" => focus_filter(),
        "j" => step(state, 1),
        "k" => step(state, -1),
        "Home" if state.chosen.with_untracked(Option::is_some) => choose(state, 0),
        "Enter" => return open(state),
        "a" => state.apply_order(),
        "s" => return pin(state),
        "g" => state.change(|query| query.group = !query.group),
        "Escape" => escape(state, key.is_typing),
        _ => return false,
    }
    true
}

fn step(state: BoardState, by: i64) {
    let at = state.chosen.with_untracked(|chosen| chosen.as_ref().map(|slot| slot.at));
    choose(state, at.map_or(0, |at| (i64::from(at) + by).max(0)));
}

fn choose(state: BoardState, at: i64) {
    let Ok(at) = u32::try_from(at) else { return };
    if let Some(slot) = untrack(move || state.slot(at)) {
        state.chosen.set(Some(slot));
    }
}

/// Opens the chosen row, unless the focus is on something that Enter works on by itself.
fn open(state: BoardState) -> bool {
    let Some(slot) = state.chosen.get_untracked() else { return false };
    let Some(link) = first::<web_sys::HtmlElement>("[data-chosen=true] a") else { return false };
    let on_something = document()
        .active_element()
        .is_some_and(|active| matches!(active.tag_name().as_str(), "A" | "BUTTON" | "INPUT"));
    if on_something || slot.key.is_empty() {
        return false;
    }
    link.click();
    true
}

/// Pins the chosen row, or lets it go.
fn pin(state: BoardState) -> bool {
    let Some(slot) = state.chosen.get_untracked() else { return false };
    state.toggle_pin(&slot.key);
    true
}

fn escape(state: BoardState, is_typing: bool) {
    if is_typing {
        empty_filter();
        state.change(|query| query.q.clear());
    }
    state.let_go();
    let_go_of_focus();
}
