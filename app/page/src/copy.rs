//! Buttons that copy a text. The page's one listener for clicks (see `find`) finds them by `data-copy`.

use crate::erase::view;
use leptos::prelude::*;

use super::exact::Exact;
use super::format::visible;
use super::parts::words;

/// A button that copies a text; `what` it is, in a word or two.
#[component]
pub(crate) fn CopyButton(text: String, what: &'static str) -> AnyView {
    let label = words::copy(what);
    view! {
        <button class="copy needs-script" type="button" data-copy=Exact(text) aria-label=label.clone() title=label><CopySign /></button>
    }
}

/// A button with its name on it, that copies a command. `{origin}` in it becomes this server's address.
#[component]
pub(crate) fn CopyCommand(command: String, name: &'static str) -> AnyView {
    let title = visible(&command);
    view! {
        <button class="tool copy-command needs-script" type="button" data-copy=Exact(command) title=title><CopySign />{name}</button>
    }
}

#[component]
fn CopySign() -> AnyView {
    view! {
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path class="copy-sign" d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z"></path>
        </svg>
    }
}
