//! Buttons that copy a text. The page's one listener for clicks (see `find`) finds them by `data-copy`.

use crate::erase::view;
use leptos::prelude::*;

use super::exact::Exact;
use super::format::visible;
use super::parts::Piece::Attribute;
use super::parts::{Markup, words};

/// A button that copies a text; `what` it is, in a word or two.
#[component]
pub(crate) fn CopyButton(text: String, what: &'static str) -> AnyView {
    let label = words::copy(what);
    view! {
        <button class="copy needs-script" type="button" data-copy=Exact(text) aria-label=label.clone() title=label></button>
    }
}

pub(crate) fn copy_markup(text: &str, what: &str) -> Markup {
    let label = words::copy(what);
    Markup::fill(
        r#"<button class="copy needs-script" type="button"{}{}{}></button>"#,
        &[Attribute("data-copy", Some(text)), Attribute("aria-label", Some(&label)), Attribute("title", Some(&label))],
    )
}

/// A button with its name on it, that copies a command. `{origin}` in it becomes this server's address.
#[component]
pub(crate) fn CopyCommand(command: String, name: &'static str) -> AnyView {
    let title = visible(&command);
    view! {
        <button class="tool copy-command needs-script" type="button" data-copy=Exact(command) title=title>{name}</button>
    }
}
