//! How the selection differs from the rest: for each dimension a table with a pair of bars a value.

use crate::erase::view;
use leptos::prelude::*;

use super::words;
use crate::parts::{head, marked, shortened};
use crate::server_pages::waits::share_bar;
use lockscope_view::past::{Differs, Dimension, WaitCounts};

/// Longest text in a cell; the whole is in its title.
const NAME_CHARS: usize = 48;

pub(super) fn dimensions(of: &Differs) -> AnyView {
    let all = of.dimensions.iter().map(dimension).collect_view();
    view! {
        <p class="quiet">{words::CHANCE}</p>
        <div class="differs-all" data-testid="dimensions">{all}</div>
    }
}

fn dimension(of: &Dimension) -> AnyView {
    let rows = of.values.iter().map(|row| {
        let text = words::value(of.name, row.value.as_deref());
        value_row(shortened(&text, NAME_CHARS), &row.counts)
    });
    let others = of
        .others
        .as_ref()
        .map(|more| value_row(words::further(more.values, of.is_lower_bound).into_any(), &more.counts));
    view! {
        <section class="differs-dimension" data-testid="dimension">
            <h2>{words::dimension(of.name).to_owned()}" "<span class="quiet">{of.difference.map(|_| marked(words::DIFFERENCE))}{words::difference(of)}</span></h2>
            <table class="table differs-table">
                <thead><tr>
                    <th scope="col">"Value"</th>
                    {head(&(words::OF_SELECTED, "table-number"))}
                    {head(&(words::OF_REST, "table-number"))}
                </tr></thead>
                <tbody>{rows.collect_view()}{others}</tbody>
            </table>
        </section>
    }
}

fn value_row(name: AnyView, counts: &WaitCounts) -> AnyView {
    let WaitCounts { selection, rest, selection_part, rest_part } = *counts;
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td class="table-number">{words::share(selection_part, selection)}{share_bar(selection_part.unwrap_or(0.0), "differs-selection")}</td>
            <td class="table-number">{words::share(rest_part, rest)}{share_bar(rest_part.unwrap_or(0.0), "differs-rest")}</td>
        </tr>
    }
}
