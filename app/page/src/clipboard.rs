//! The clipboard: the browser's, and where it has none (a page over plain http beyond this machine), a box whose text
//! is selected and copied as by hand. Either way the result is shown, and announced to screen readers. Browser only.

use js_sys::{Function, Reflect};
use leptos::prelude::*;

use super::browser::first;
use super::format::{middle, visible};
use super::parts::words;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Element, HtmlInputElement};

/// The announcement disappears after this.
const TOLD: std::time::Duration = std::time::Duration::from_millis(2_500);

/// Longest text that the announcement repeats whole.
const TOLD_CHARS: usize = 60;

pub(crate) fn copy(text: String) {
    spawn_local(async move {
        // Not there at all on pages that came unencrypted from another machine.
        let clipboard = window().navigator().clipboard();
        let is_copied = !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok();
        let is_copied = is_copied || by_hand(&text).unwrap_or_default();
        if is_copied {
            tell(&words::copied(&middle(&visible(&text), TOLD_CHARS)));
        } else {
            tell(words::NOT_COPIED);
        }
    });
}

/// Inside an open dialog nothing outside of it can be selected or announced.
fn place() -> Option<Element> {
    first("dialog[open]").or_else(|| document().body().map(Into::into))
}

fn by_hand(text: &str) -> Result<bool, JsValue> {
    let Some(place) = place() else { return Ok(false) };
    let active = document().active_element();
    let input: HtmlInputElement = document().create_element("input")?.unchecked_into();
    input.set_value(text);
    place.append_child(&input)?;
    input.select();
    let command: Function = Reflect::get(&document(), &"execCommand".into())?.dyn_into()?;
    let is_done = command.call1(&document(), &"copy".into())?.is_truthy();
    input.remove();
    if let Some(active) = active.and_then(|active| active.dyn_into::<web_sys::HtmlElement>().ok()) {
        active.focus()?;
    }
    Ok(is_done)
}

fn tell(words: &str) {
    let Some(place) = place() else { return };
    let Ok(toast) = document().create_element("p") else { return };
    toast.set_text_content(Some(words));
    // Names and values are ours. An alert is announced although it comes with its words.
    let _ = (toast.set_attribute("class", "told"), toast.set_attribute("role", "alert"), place.append_child(&toast));
    set_timeout(move || toast.remove(), TOLD);
}
