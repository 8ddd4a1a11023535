//! Rows that are known by a key.

use leptos::prelude::*;

use super::shown::Shown;
use crate::erase::{dynamic, erase};

/// Draws each item. What stays keeps its element, and with it focus and selection, wherever it moves; it is drawn anew only when it
/// changed.
pub(crate) fn rows<T: Clone + PartialEq + Send + Sync + 'static>(
    // What is drawn, in its order.
    items: Memo<Vec<T>>,
    // What tells an item from the others.
    key: fn(&T) -> &str,
    // How one is drawn.
    row: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let keys = move || items.with(|items| items.iter().map(|item| key(item).to_owned()).collect());
    let find = move |name: &str| items.with(|items| items.iter().find(|item| key(item) == name).cloned().map(Shown::new));
    let draw = move |shown: &Shown| shown.get::<T>().cloned().map(&row);
    erased(Box::new(keys), Callback::new(move |name: String| find(&name)), Callback::new(move |shown: Shown| draw(&shown)))
}

/// Compiled once for all kinds of rows.
fn erased(
    keys: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    find: Callback<String, Option<Shown>>,
    draw: Callback<Shown, Option<AnyView>>,
) -> AnyView {
    let keys = Memo::new(move |_| keys());
    let child = move |key: String| {
        // What is gone is drawn as it was until its row is taken away.
        let item = Memo::new(move |last: Option<&Option<Shown>>| find.run(key.clone()).or_else(|| last.cloned().flatten()));
        dynamic(move || item.get().and_then(|item| draw.run(item)))
    };
    let each = move || {
        keep_focus();
        keys.get()
    };
    erase(leptos::prelude::view! { <For each=each key=String::clone children=child /> })
}

/// Gives the focus back to what has it now, if it loses it meanwhile: Leptos takes some rows out of the document and puts them in again
/// when several new ones come before them (`tachys::view::keyed`), and an element that is taken out loses the focus.
fn keep_focus() {
    #[cfg(feature = "hydrate")]
    if let Some(focused) = focused() {
        leptos::task::spawn_local(async move {
            if focused.is_connected() && self::focused().is_none() {
                let options = web_sys::FocusOptions::new();
                options.set_prevent_scroll(true);
                // Only an element that was never in a document can't be given the focus.
                let _ = focused.focus_with_options(&options);
            }
        });
    }
}

/// The element that has the focus; None for the document itself.
#[cfg(feature = "hydrate")]
fn focused() -> Option<web_sys::HtmlElement> {
    use wasm_bindgen::JsCast as _;
    let element = document().active_element()?;
    if element.tag_name() == "BODY" { None } else { element.dyn_into().ok() }
}
