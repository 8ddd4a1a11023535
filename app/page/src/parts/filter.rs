//! The filter's text box and the choice of an order, as every list has them. Parts of a form, so that they work
//! without scripts as well.

use std::time::Duration;

use leptos::html::Input;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use crate::browser::first;
use crate::erase::{effect, view};

/// Typing pauses this long before the filter acts.
const TYPING_PAUSE: Duration = Duration::from_millis(120);

#[component]
pub(crate) fn FilterBox(
    text: Signal<String>,
    label: &'static str,
    placeholder: &'static str,
    /// Called with what was typed, a moment after.
    change: Callback<String>,
) -> AnyView {
    let box_ref = NodeRef::<Input>::new();
    let keystrokes = StoredValue::new(0_u32);
    let typed = move |text: String| {
        keystrokes.update_value(|count| *count += 1);
        let mine = keystrokes.get_value();
        set_timeout(
            move || {
                // The box may have been emptied since.
                let is_still_there = || box_ref.get_untracked().is_some_and(|input| input.value() == text);
                if keystrokes.try_get_value() == Some(mine) && is_still_there() {
                    change.run(text);
                }
            },
            TYPING_PAUSE,
        );
    };
    // The address may change by other means than typing.
    effect(move || {
        let text = text.get();
        if let Some(input) = box_ref.get() {
            let is_typing = document().active_element().is_some_and(|active| active.is_same_node(Some(&input)));
            if !is_typing && input.value() != text {
                input.set_value(&text);
            }
        }
    });
    view! {
        <label class="filter">
            <span class="sr-only">{label}</span>
            <input
                class="filter-input"
                type="search"
                name="q"
                data-testid="filter"
                placeholder=placeholder
                autocomplete="off"
                spellcheck="false"
                value=move || text.get()
                node_ref=box_ref
                on:input=move |event| typed(event_target_value(&event))
            />
            <kbd class="kbd filter-key needs-script" aria-hidden="true">"/"</kbd>
        </label>
    }
}

#[component]
pub(crate) fn SortSelect(
    /// Names in the address and what people read.
    options: Vec<(&'static str, &'static str)>,
    chosen: Signal<&'static str>,
    change: Callback<String>,
) -> AnyView {
    let options: Vec<_> = options
        .into_iter()
        .map(|(name, word)| {
            let is_chosen = move || chosen.get() == name;
            view! { <option value=name selected=is_chosen prop:selected=is_chosen>{word}</option> }
        })
        .collect();
    view! {
        <label class="field">
            <span class="field-name">"Sort by"</span>
            <select class="select" name="sort" data-testid="sort" on:change=move |event| change.run(event_target_value(&event))>{options}</select>
        </label>
    }
}

/// Moves the focus into the filter. Browser only.
pub(crate) fn focus_filter() {
    if let Some(input) = filter_input() {
        // Focus fails only for an element that is not there.
        let _ = input.focus();
        input.select();
    }
}

/// Empties the filter's box, and no more. Browser only.
pub(crate) fn empty_filter() {
    if let Some(input) = filter_input() {
        input.set_value("");
    }
}

/// Takes the focus from whatever has it. Browser only.
pub(crate) fn let_go_of_focus() {
    let active = document().active_element().and_then(|active| active.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(active) = active {
        // Blurring what has no focus does nothing.
        let _ = active.blur();
    }
}

fn filter_input() -> Option<web_sys::HtmlInputElement> {
    first("[data-testid=filter]")
}
