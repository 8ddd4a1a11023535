//! The page that finds, without scripts.

use leptos::prelude::*;

use super::ServerPage;
use crate::erase::view;
use crate::exact::Exact;
use crate::find::{Found, Group, groups, none, partial};
use crate::format::visible;
use crate::parts::filled;
use lockscope_view::FindAnswer;

pub fn find_page(plain: &ServerPage<'_>, view: &FindAnswer) -> String {
    let one = |found: Found| view! { <li><a class="palette-option" data-key=Exact(found.key) href=filled(found.href) title=filled(found.title)>{found.inner}</a></li> };
    let part = |(name, found): Group| {
        view! {
            <section class="part">
                <h2 class="part-title">{name}</h2>
                <ul>{found.into_iter().map(one).collect_view()}</ul>
            </section>
        }
    };
    super::page(plain, "Find", "find", 0, || {
        let parts = groups(view, |_| false);
        let nothing = parts.is_empty().then(none);
        view! {
            <h1 class="page-title">"Find"</h1>
            <form class="filters find-form" method="get" action="/find" role="search">
                <input class="filter-input" type="search" name="q" value=filled(visible(&view.q)) aria-label="Lock path, session id, page" />
                <button class="tool" type="submit">"Find"</button>
            </form>
            {nothing}
            {parts.into_iter().map(part).collect_view()}
            {partial(view)}
        }
    })
}
