//! The map of waits: pieces of the range side by side, the longest waits on top. Each cell in which somebody waited is a link.

use crate::erase::view;
use leptos::prelude::*;

use super::view::{DiffersFigures, WaitsCell, WaitsRow};
use super::words;
use crate::parts::{marked, stamp};
use lockscope_view::words::date;

/// Shades of cells in which somebody waited, and as many classes in the style sheet.
const SHADES: [&str; 5] = ["heat-1", "heat-2", "heat-3", "heat-4", "heat-5"];

pub(super) fn map(figures: &DiffersFigures) -> AnyView {
    let most = figures.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.count).max().unwrap_or(0);
    let rows = figures.rows.iter().map(|row| map_row(row, most)).collect_view();
    let ends = figures.rows.first().and_then(|row| Some((row.cells.first()?, row.cells.last()?, row.cells.len())));
    let foot = ends.map(|(first, last, columns)| {
        view! {
            <tfoot><tr><td></td><td class="heat-ends" colspan=columns.to_string()>
                <div>{stamp(first.joined_ms.0)}{stamp(last.joined_ms.1)}</div>
            </td></tr></tfoot>
        }
    });
    view! {
        <p class="quiet">{marked(words::CELL)}{words::CHOOSE}</p>
        // What scrolls must be reachable by keyboard.
        <div class="overflow-x-auto" tabindex="0" role="group" aria-label="Waits by when they began and how long they took">
            <table class="heat" data-testid="heat">
                <tbody>{rows}</tbody>
                {foot}
            </table>
        </div>
    }
}

fn map_row(row: &WaitsRow, most: u64) -> AnyView {
    let name = words::waits(row.min_wait_ms, row.max_wait_ms);
    let cells = row.cells.iter().map(|cell| map_cell(cell, &name, most)).collect_view();
    view! { <tr><th scope="row">{name}</th>{cells}</tr> }
}

fn map_cell(cell: &WaitsCell, row: &str, most: u64) -> AnyView {
    let class = format!("{}{}", shade(cell.count, most), if cell.is_chosen { " heat-chosen" } else { "" });
    let class = (!class.is_empty()).then_some(class);
    if cell.url.is_empty() {
        return view! { <td class=class></td> };
    }
    let text = words::cell(cell.count, row, &date(cell.joined_ms.0));
    view! { <td class=class><a href=cell.url.clone() title=text.clone() aria-label=text></a></td> }
}

/// By how many there are on a logarithmic scale: one wait is seen beside thousands.
fn shade(count: u64, most: u64) -> &'static str {
    if count == 0 {
        return "";
    }
    let of = |count: u64| u64::from(count.max(1).ilog2()) + 1;
    let step = (of(count) * SHADES.len() as u64).div_ceil(of(most)).clamp(1, SHADES.len() as u64);
    usize::try_from(step - 1).ok().and_then(|step| SHADES.get(step)).copied().unwrap_or_default()
}
