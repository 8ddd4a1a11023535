//! Ages and countdowns in rows that were made as text: they move with the page's clock.

use leptos::html::Div;
use leptos::prelude::*;

use crate::erase::effect;
use wasm_bindgen::JsCast as _;
use web_sys::Element;

use crate::format::{age, left};
use crate::live::{Live, STEPS_MS, step_at_once};

/// While a lane is drawn so often, its ages are moved with it, and not between: each time costs a paint.
const WITH_ROWS_MS: i64 = 900;

/// Moves those in a lane; gives what is to be run when it was drawn.
pub(super) fn follow(lane: NodeRef<Div>) -> impl Fn() {
    let live = Live::of_app();
    let moved_ms = StoredValue::new(0);
    for step_ms in STEPS_MS {
        effect(move || {
            let now_ms = live.now_of_age_ms(step_ms);
            if now_ms - moved_ms.get_value() < 1_000 {
                return;
            }
            each(lane, "[data-since]", |element, sign, since_ms| {
                if step_at_once(since_ms, step_ms) {
                    show(element, &format!("{sign}{}", age(since_ms, now_ms)));
                }
            });
        });
    }
    effect(move || {
        let now_ms = live.now_ms();
        each(lane, "[data-until]", |element, sign, until_ms| show(element, &left(sign, until_ms, now_ms)));
    });
    move || {
        let now_ms = live.now_of_ages_ms();
        if now_ms - moved_ms.get_value() >= WITH_ROWS_MS {
            moved_ms.set_value(now_ms);
            each(lane, "[data-since]", |element, sign, since_ms| {
                show(element, &format!("{sign}{}", age(since_ms, now_ms)));
            });
        }
    }
}

/// All that have such an attribute, with their sign and the instant in it.
fn each(lane: NodeRef<Div>, selector: &str, take: impl Fn(&Element, &str, i64)) {
    // A selector of ours.
    let found = lane.get_untracked().and_then(|lane| lane.query_selector_all(selector).ok());
    let attribute = selector.trim_matches(['[', ']']);
    for node in found.iter().flat_map(|found| (0..found.length()).filter_map(|at| found.get(at))) {
        let element: Element = node.unchecked_into();
        if let Some(at_ms) = element.get_attribute(attribute).and_then(|at| at.parse().ok()) {
            take(&element, &element.get_attribute("data-sign").unwrap_or_default(), at_ms);
        }
    }
}

/// Sets the text where it is another one.
fn show(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}
