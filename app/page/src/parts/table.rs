//! A table, and a list of terms: what every page has.

use leptos::prelude::*;

use crate::erase::{erase, view};
use crate::format::{middle, visible};

/// Columns of a table: names with their classes.
pub(crate) type Columns = &'static [(&'static str, &'static str)];

/// A table in a box of its own that scrolls when it is too wide.
#[component]
pub(crate) fn Table<R: IntoView + 'static>(
    class: &'static str,
    #[prop(optional)] testid: Option<&'static str>,
    columns: Columns,
    rows: R,
) -> AnyView {
    let head =
        |(name, class): &(&'static str, &'static str)| view! { <th scope="col" class=filled(*class)>{*name}</th> };
    table_with(class, testid, columns.iter().map(head).collect(), erase(rows))
}

/// The same with cells of its own in its head.
pub(super) fn table_with(
    class: &'static str,
    testid: Option<&'static str>,
    head: Vec<AnyView>,
    rows: AnyView,
) -> AnyView {
    view! {
        // What scrolls must be reachable by keyboard.
        <div class="overflow-x-auto" tabindex="0" role="group" aria-label="Table">
            <table class=class data-testid=testid>
                <thead><tr>{head}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

#[component]
pub(crate) fn Pair<V: IntoView + 'static>(
    term: &'static str,
    #[prop(optional)] class: Option<&'static str>,
    value: V,
) -> AnyView {
    view! {
        <dt>{term}</dt>
        <dd class=class>{value}</dd>
    }
}

#[component]
pub(crate) fn Total<V: IntoView + 'static>(
    name: &'static str,
    /// What tests and scripts know it by.
    #[prop(optional)]
    key: Option<&'static str>,
    /// Why it may not be the whole of it.
    #[prop(optional_no_strip)]
    title: Option<&'static str>,
    value: V,
) -> AnyView {
    view! {
        <div class="total">
            <dt>{name}</dt>
            <dd data-total=key title=title>{value}</dd>
        </div>
    }
}

#[component]
pub(crate) fn Section(
    /// The title's own name, for links and for those who can't see it.
    id: &'static str,
    #[prop(into)] title: Signal<String>,
    children: Children,
) -> AnyView {
    view! {
        <section class="part" aria-labelledby=id>
            <h2 class="part-title" id=id>{move || title.get()}</h2>
            {children()}
        </section>
    }
}

/// A link whose text comes from outside, shortened; the whole is in its title.
pub(crate) fn outside_link(class: Option<&'static str>, href: String, whole: &str, text: &str) -> AnyView {
    view! { <a class=class href=href title=filled(visible(whole))><bdi>{visible(text)}</bdi></a> }
}

/// What leads somewhere, where there is an address.
#[cfg(feature = "ssr")]
pub(crate) fn linked(url: Option<String>, inner: AnyView) -> AnyView {
    match url {
        Some(url) => view! { <a href=url>{inner}</a> },
        None => inner,
    }
}

/// A text from outside, shortened; the whole is in its title.
pub(crate) fn shortened(text: &str, chars: usize) -> AnyView {
    let whole = visible(text);
    view! { <bdi title=whole.clone()>{middle(&whole, chars)}</bdi> }
}

/// The same of a path or an id.
pub(crate) fn shortened_code(text: &str, chars: usize) -> AnyView {
    let whole = visible(text);
    view! { <code title=whole.clone()><bdi>{middle(&whole, chars)}</bdi></code> }
}

/// The value of an attribute that is left out when it is empty.
pub(crate) fn filled<T: AsRef<str>>(text: T) -> Option<T> {
    (!text.as_ref().is_empty()).then_some(text)
}

/// The value of an attribute that marks something.
pub(crate) fn mark(is_so: bool) -> Option<&'static str> {
    is_so.then_some("true")
}
