//! How the selection differs from the rest: for each dimension a table with a pair of bars a value.

use crate::erase::view;
use leptos::prelude::*;

use super::words;
use crate::format::{middle, visible};
use crate::parts::{head, marked};
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
        let whole = visible(&text);
        let name = view! { <bdi title=whole.clone()>{middle(&whole, NAME_CHARS)}</bdi> };
        value_row(name, &row.counts)
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
            <td class="table-number">{words::share(selection_part, selection)}{bar(selection_part, "differs-selection")}</td>
            <td class="table-number">{words::share(rest_part, rest)}{bar(rest_part, "differs-rest")}</td>
        </tr>
    }
}

fn bar(part: Option<f64>, class: &'static str) -> AnyView {
    let width = format!("{:.1}%", part.unwrap_or(0.0).clamp(0.0, 1.0) * 100.0);
    view! {
        <svg class="blame-bar" aria-hidden="true">
            <rect class="blame-bar-all" width="100%" height="100%" />
            <rect class=class width=width height="100%" />
        </svg>
    }
}
