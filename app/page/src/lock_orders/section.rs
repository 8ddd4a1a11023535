//! The section: what may end in a deadlock, with who does what, and every order as a table.

use std::sync::Arc;

use leptos::prelude::*;

use super::words;
use crate::erase::view;
use crate::format::{date, middle, visible};
use crate::parts::{Columns, Table};
use crate::ports::Source;
use crate::server_pages::text;
use lockscope_wire::{LockOrder, LockOrders, LockQuery, OrderSeen, OrderWarning, SessionQuery};

/// Orders drawn as rows, those seen most first.
const ROWS_MAX: usize = 50;
const NAME_CHARS: usize = 40;

const COLUMNS: Columns =
    &[("Held", ""), ("Then asked for", ""), ("Times", "table-number"), ("Sessions", "table-number"), ("Last", "")];

/// The section as markup.
pub fn lock_orders_markup(orders: &LockOrders, now_ms: i64) -> String {
    text(now_ms, || section(orders))
}

/// What is in the document at first: all of it, for whoever has no script.
pub(super) fn initial() -> String {
    let Some(source) = use_context::<Arc<dyn Source>>() else { return String::new() };
    section(&source.orders()).to_html().replace("<!>", "")
}

fn section(orders: &LockOrders) -> AnyView {
    let warnings = orders.warnings.iter().map(warning).collect_view();
    let all = (!orders.edges.is_empty()).then(|| table(&orders.edges));
    view! {
        <section class="part" aria-labelledby="orders-title" data-testid="lock-orders">
            <h2 class="part-title" id="orders-title">"Lock orders"</h2>
            <p class="quiet" data-testid="orders-lead">{words::lead(orders)}</p>
            {warnings}
            {all}
        </section>
    }
}

fn warning(warning: &OrderWarning) -> AnyView {
    let closest = warning.closest_ms.zip(warning.closest_at_ms).map(|(ms, at_ms)| {
        view! { <p class="quiet" data-testid="orders-closest">{words::closest(ms)}{instant(at_ms)}"."</p> }
    });
    let last = warning.last.iter().map(|seen| one(&warning.ensemble, seen)).collect_view();
    view! {
        <div class="finding" data-severity="warning" data-testid="order-warning">
            <p>{visible(&warning.sentence)}</p>
            <p class="quiet">{words::seen(warning)}</p>
            {closest}
            <ul class="bullets">{last}</ul>
        </div>
    }
}

/// Who did what, the last time.
fn one(ensemble: &str, seen: &OrderSeen) -> AnyView {
    let query = SessionQuery { ensemble: ensemble.to_owned(), id: seen.session_id, ..SessionQuery::default() };
    let name = seen.label.as_deref().map_or_else(|| seen.session_id.to_string(), visible);
    view! {
        <li>
            <a href=query.to_url() title=name.clone()><bdi>{middle(&name, NAME_CHARS)}</bdi></a>
            " held "{lock(ensemble, &seen.held)}" and asked for "{lock(ensemble, &seen.wanted)}":"
            {words::last(seen.count)}{instant(seen.at_ms)}"."
        </li>
    }
}

fn lock(ensemble: &str, path: &str) -> AnyView {
    let query = LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() };
    let shown = visible(path);
    view! { <a href=query.to_url() title=shown.clone()><bdi>{middle(&shown, NAME_CHARS)}</bdi></a> }
}

fn table(edges: &[LockOrder]) -> AnyView {
    let mut edges: Vec<&LockOrder> = edges.iter().collect();
    edges.sort_by_key(|edge| std::cmp::Reverse(edge.count));
    let rest = edges.len().saturating_sub(ROWS_MAX);
    let row = |edge: &&LockOrder| {
        view! {
            <tr>
                <td><bdi>{visible(&edge.held)}</bdi></td>
                <td><bdi>{visible(&edge.wanted)}</bdi></td>
                <td class="table-number">{crate::format::count(edge.count)}</td>
                <td class="table-number">{crate::format::count(u64::from(edge.sessions))}</td>
                <td>{instant(edge.last_at_ms)}</td>
            </tr>
        }
    };
    let rows = edges.iter().take(ROWS_MAX).map(row).collect_view();
    let more = (rest > 0).then(|| view! { <p class="quiet">{words::more(rest)}</p> });
    view! {
        <details class="fold" data-testid="orders-all">
            <summary>{words::every(edges.len())}</summary>
            <Table class="table" columns=COLUMNS rows=rows />
            {more}
            <p class="quiet"><a href="/api/v1/orders" rel="external" target="_blank">{words::THE_REST}</a></p>
        </details>
    }
}

/// An instant that the script shows on the clock of whoever looks.
fn instant(at_ms: i64) -> AnyView {
    let utc = date(at_ms);
    let shown = utc.trim_end_matches(" UTC").to_owned();
    let machine = shown.replacen(' ', "T", 1) + "Z";
    view! { <time datetime=machine title=utc data-ms=at_ms>{shown}</time> }
}
