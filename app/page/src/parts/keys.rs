//! Single keys, as long as nobody types. Browser only.

use leptos::prelude::*;

use crate::erase::effect;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlInputElement, KeyboardEvent};

use super::{HelpOpen, toggle_density};
use crate::live::Live;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// As the browser names it.
    pub(crate) name: String,
    /// Pressed inside a text field; only `Escape` is passed on then.
    pub(crate) is_typing: bool,
}

/// Listens while the calling component lives. `act` says whether it used the key. `?` and `p` work everywhere.
pub(crate) fn use_keys(act: impl Fn(&Key) -> bool + Copy + Send + Sync + 'static) {
    let live = Live::of_app();
    let HelpOpen(help) = HelpOpen::of_app();
    effect(move || {
        let listener = window_event_listener(leptos::ev::keydown, move |event| {
            let Some(key) = plain_key(&event).filter(|_| !help.get_untracked()) else { return };
            // What stands in front closes first; the browser does that.
            if key.name == "Escape" && document().query_selector(":popover-open").is_ok_and(|open| open.is_some()) {
                return;
            }
            match key.name.as_str() {
                "?" => help.set(true),
                // The address is one of ours.
                "w" => drop(window().location().set_href("/wall")),
                "d" => toggle_density(),
                "p" => live.toggle_pause(),
                _ if act(&key) => {}
                _ => return,
            }
            event.prevent_default();
        });
        on_cleanup(move || listener.remove());
    });
}

fn plain_key(event: &KeyboardEvent) -> Option<Key> {
    if event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() {
        return None;
    }
    let name = event.key();
    let target: Option<HtmlElement> = event.target().and_then(|target| target.dyn_into().ok());
    let is_typing = target.is_some_and(|target| match target.dyn_ref::<HtmlInputElement>() {
        Some(input) => !matches!(input.type_().as_str(), "checkbox" | "radio" | "button"),
        None => matches!(target.tag_name().as_str(), "SELECT" | "TEXTAREA"),
    });
    (!is_typing || name == "Escape").then_some(Key { name, is_typing })
}
