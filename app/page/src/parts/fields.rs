//! Fields of forms that choose what a page shows, as the server draws them.

use leptos::prelude::*;

use super::table::filled;
use super::words;
use crate::erase::{erase, view};
use crate::exact::Exact;
use crate::format::visible;

pub(crate) fn text_field(
    name: &'static str,
    label: &'static str,
    value: &str,
    placeholder: Option<&'static str>,
) -> AnyView {
    view! {
        <label class="field">
            <span class="field-name">{label}</span>
            <input class="filter-input" type="text" name=name value=filled(visible(value)) placeholder=placeholder autocomplete="off" />
        </label>
    }
}

pub(crate) fn select_field(name: &'static str, label: &'static str, options: impl IntoView + 'static) -> AnyView {
    view! {
        <label class="field">
            <span class="field-name">{label}</span>
            <select class="select" name=name>{options}</select>
        </label>
    }
}

pub(crate) fn option(value: &str, text: String, is_chosen: bool) -> AnyView {
    view! { <option value=Exact(value.to_owned()) selected=is_chosen.then_some("selected")>{text}</option> }
}

/// The choice of an ensemble, with what stands before their names; nothing where there is one.
pub(crate) fn ensemble_field(names: &[String], chosen: &str, all: Option<AnyView>) -> Option<AnyView> {
    let option = |name: &String| option(name, visible(name), chosen == name);
    (!names.is_empty()).then(|| {
        let options = (all, names.iter().map(option).collect_view());
        select_field("ensemble", words::ENSEMBLE, options)
    })
}

/// What an address has besides, and a form keeps.
pub(crate) fn hidden_fields(pairs: &[(String, String)]) -> AnyView {
    let field = |(name, value): &(String, String)| view! { <input type="hidden" name=name.clone() value=Exact(value.clone()) /> };
    erase(pairs.iter().map(field).collect_view())
}

/// A link that looks like a button; nothing without an address.
pub(crate) fn tool_link(href: &str, text: &'static str) -> Option<AnyView> {
    filled(href.to_owned()).map(|href| view! { <a class="tool" href=href>{text}</a> })
}

/// Why somebody acts, with what that does.
pub(crate) fn reason_field(label: &'static str, means: &'static str) -> AnyView {
    view! {
        <label class="release-field">
            <span>{label}</span>
            <input class="release-input" type="text" name="reason" required="" maxlength="500" autocomplete="off" />
            <span>{means}</span>
        </label>
    }
}
