//! What the browser keeps for the page, and elements of its document. Never called on the server.

use leptos::prelude::{document, window};
use wasm_bindgen::JsCast;
use web_sys::{Element, EventTarget, FocusOptions, HtmlElement};

/// What this browser keeps under a name.
pub(crate) fn stored(key: &str) -> Option<String> {
    window().local_storage().ok().flatten()?.get_item(key).ok().flatten()
}

/// Keeps a text, or none any more.
pub(crate) fn store(key: &str, text: Option<&str>) {
    if let Some(storage) = window().local_storage().ok().flatten() {
        // Fails only for a full or forbidden storage; then it lasts as long as the page.
        let _ = text.map_or_else(|| storage.remove_item(key), |text| storage.set_item(key, text));
    }
}

/// The first element that a selector finds.
pub(crate) fn first<T: JsCast>(selector: &str) -> Option<T> {
    document().query_selector(selector).ok()??.dyn_into().ok()
}

/// The element that an event came from, or the nearest one around it that a selector finds.
pub(crate) fn closest(target: Option<EventTarget>, selector: &str) -> Option<Element> {
    target?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// Gives an element the focus, and moves nothing.
pub(crate) fn focus_in_place(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    // Focus fails only for an element that is not in the document.
    let _ = element.focus_with_options(&options);
}
