//! Pages of a list that is too long for one: plain links.

use super::words;
use crate::address::with_parameter;
use crate::erase::view;
use leptos::prelude::*;

pub(crate) fn pager(
    // What the pages are of, for those who can't see them.
    label: &'static str,
    // The list's address, without an offset.
    base: &str,
    // First row shown, rows shown and rows in all.
    (offset, rows, total): (u32, u32, u32),
    // A list that scrolls on by itself needs the links only without scripts.
    is_static: bool,
) -> AnyView {
    let link = |offset: u32| with_parameter(base, &format!("offset={offset}"));
    let class = if is_static { "pager only-static" } else { "pager" };
    view! {
        <nav class=class aria-label=label hidden={total <= rows && offset == 0}>
            <a class="pager-link" href=link(offset.saturating_sub(rows)) hidden={offset == 0}>{words::previous(rows)}</a>
            <a class="pager-link" href=link(offset + rows) hidden={offset + rows >= total}>{words::next(rows)}</a>
        </nav>
    }
}
