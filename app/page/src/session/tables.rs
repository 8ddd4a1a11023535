//! What the session holds and waits for, and its history.

use leptos::prelude::*;

use super::words::happened;
use crate::erase::erase;
use crate::exact::Exact;
use crate::format::{clock, middle, plural, visible};
use crate::parts::{Age, Chip, Columns, Section, Table, hold_least, mark, outside_link, role_word};
use lockscope_wire::{ContenderRole, LockQuery, SessionEvent, SessionLockRow, SessionPage, SessionQuery};

/// Longest names in a table; the whole is in the title and on the lock's page.
const LOCK_CHARS: usize = 56;
const NODE_CHARS: usize = 36;

const SPOTS: Columns = &[("Lock", ""), ("Verdict", ""), ("Does", ""), ("For", "table-number"), ("Znode", "sess-wide"), ("Recipe", "sess-wide")];
const HISTORY: Columns = &[("When", ""), ("What", ""), ("Lock", ""), ("Znode", "sess-wide")];

/// The table of znodes in locks.
pub(super) fn spots(page: &SessionPage, query: &SessionQuery) -> AnyView {
    let total = page.spots.total;
    let title = if total == 0 { "No locks now".to_owned() } else { format!("In {}", plural(total.into(), "place", "places")) };
    let inner = if total == 0 {
        erase(view! { <p class="quiet" data-testid="owns-nothing">"It holds no lock and waits for none."</p> })
    } else {
        let rows = page.spots.rows.iter().map(|spot| spot_row(&page.row.ensemble, spot)).collect_view();
        erase(view! {
            <Table class="table sess-table dims" columns=SPOTS rows=rows />
            {more(query, total)}
        })
    };
    erase(view! { <Section id="spots-title" title=title>{inner}</Section> })
}

/// Links to the rows before and after those shown.
fn more(query: &SessionQuery, total: u32) -> Option<impl IntoView + use<>> {
    let link = |offset: u32, text: &'static str| {
        let base = SessionQuery { offset: 0, ..query.clone() }.to_url();
        view! { <a class="pager-link" href=format!("{base}&offset={offset}")>{text}</a> }
    };
    let previous = (query.offset > 0).then(|| link(query.offset.saturating_sub(query.limit), "Previous"));
    let next = (query.offset + query.limit < total).then(|| link(query.offset + query.limit, "Next"));
    (previous.is_some() || next.is_some()).then(|| view! { <nav class="pager" aria-label="More of its locks">{previous}{next}</nav> })
}

fn spot_row(ensemble: &str, spot: &SessionLockRow) -> impl IntoView + use<> {
    let contender = &spot.contender;
    let since_ms = contender.holding_since_ms.or(contender.waiting_since_ms);
    let is_holder = contender.role == ContenderRole::Holder;
    view! {
        <tr data-spot=Exact(contender.path.clone()) data-role=contender.role.name()>
            <td>{lock_link(ensemble, &spot.lock)}</td>
            <td><Chip verdict=spot.verdict /></td>
            <td class="sess-does" data-holds=mark(is_holder)>{role_word(contender)}</td>
            <td class="table-number"><Age since_ms=since_ms least=hold_least(contender.holding_is_lower_bound) /></td>
            {node_cell(contender.node.as_deref().unwrap_or("no znode"))}
            <td class="quiet sess-wide">{visible(&spot.recipe_label)}</td>
        </tr>
    }
}

fn node_cell(node: &str) -> impl IntoView + use<> {
    let node = visible(node);
    let short = middle(&node, NODE_CHARS);
    view! { <td class="mono sess-wide" title=node><bdi>{short}</bdi></td> }
}

/// What happened to it, newest first.
pub(super) fn history(page: &SessionPage) -> AnyView {
    let inner = if page.history.is_empty() {
        erase(view! { <p class="quiet">"Nothing changed since Lockscope watches."</p> })
    } else {
        let rows = page.history.iter().map(|event| event_row(&page.row.ensemble, event)).collect_view();
        erase(view! { <Table class="table sess-table dims" testid="history" columns=HISTORY rows=rows /> })
    };
    erase(view! { <Section id="history-title" title="What happened">{inner}</Section> })
}

fn event_row(ensemble: &str, event: &SessionEvent) -> impl IntoView + use<> {
    view! {
        <tr>
            <td>{clock(event.at_ms)}</td>
            <td data-happened=event.what.name()>{happened(event.what)}</td>
            <td>{lock_link(ensemble, &event.lock)}</td>
            {node_cell(&event.node)}
        </tr>
    }
}

fn lock_link(ensemble: &str, path: &str) -> AnyView {
    let href = LockQuery { ensemble: ensemble.to_owned(), path: path.to_owned(), ..LockQuery::default() }.to_url();
    outside_link(Some("mono sess-lock"), href, path, &middle(&visible(path), LOCK_CHARS))
}
