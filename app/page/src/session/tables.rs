//! What the session holds and waits for, and its history.

use leptos::prelude::*;

use super::SessionState;
use super::words::{self, happened};
use crate::erase::{dynamic, view};
use crate::exact::Exact;
use crate::format::{middle, visible};
use crate::parts::{
    Age, Chip, Columns, Instant, Keyed, Section, Table, hold_least, lock_url, mark, outside_link, role_word, rows,
};
use lockscope_view::{ContenderRole, SessionEvent, SessionLockRow, SessionPage, SessionQuery};

/// Longest names in a table; the whole is in the title and on the lock's page.
const LOCK_CHARS: usize = 56;
const NODE_CHARS: usize = 36;

const LOCKS: Columns = &[
    ("Lock", ""),
    ("Verdict", ""),
    ("Does", ""),
    ("For", "table-number"),
    ("Znode", "sess-wide"),
    ("Recipe", "sess-wide"),
];
const HISTORY: Columns = &[("When", ""), ("What", ""), ("Lock", ""), ("Znode", "sess-wide")];

fn lock_entries(page: &SessionPage) -> Vec<Keyed<SessionLockRow>> {
    let entry = |row: &SessionLockRow| Keyed {
        key: row.contender.path.clone(),
        ensemble: page.row.ensemble.clone(),
        item: row.clone(),
    };
    page.spots.rows.iter().map(entry).collect()
}

#[component]
pub(super) fn Locks(state: SessionState) -> AnyView {
    let entries = Memo::new(move |_| state.page.with(|page| page.as_ref().map(lock_entries).unwrap_or_default()));
    let total = Memo::new(move |_| state.page.with(|page| page.as_ref().map_or(0, |page| page.spots.total)));
    let is_empty = Memo::new(move |_| total.get() == 0);
    let title = Signal::derive(move || words::places(total.get()));
    let table = move || {
        if is_empty.get() {
            return view! { <p class="quiet" data-testid="owns-nothing">"It holds no lock and waits for none."</p> };
        }
        view! {
            <Table class="table sess-table dims" columns=LOCKS rows=rows(entries, |entry| &entry.key, lock_row) />
            {dynamic(move || state.query.with_value(|query| more(query, total.get())))}
        }
    };
    view! { <Section id="spots-title" title=title>{dynamic(table)}</Section> }
}

/// Links to the rows before and after those shown.
fn more(query: &SessionQuery, total: u32) -> Option<AnyView> {
    let link = |offset: u32, text: &'static str| {
        let base = SessionQuery { offset: 0, ..query.clone() }.to_url();
        view! { <a class="pager-link" href=format!("{base}&offset={offset}")>{text}</a> }
    };
    let previous = (query.offset > 0).then(|| link(query.offset.saturating_sub(query.limit), words::PREVIOUS));
    let next = (query.offset + query.limit < total).then(|| link(query.offset + query.limit, words::NEXT));
    (previous.is_some() || next.is_some())
        .then(|| view! { <nav class="pager" aria-label="More of its locks">{previous}{next}</nav> })
}

fn lock_row(Keyed { ensemble, item: row, .. }: Keyed<SessionLockRow>) -> AnyView {
    let contender = &row.contender;
    let since_ms = contender.holding_since_ms.or(contender.waiting_since_ms);
    let is_holder = contender.role == ContenderRole::Holder;
    view! {
        <tr data-spot=Exact(contender.path.clone()) data-role=contender.role.name()>
            <td>{lock_link(&ensemble, &row.lock)}</td>
            <td><Chip verdict=row.verdict /></td>
            <td class="sess-does" data-holds=mark(is_holder)>{role_word(contender)}</td>
            <td class="table-number"><Age since_ms=since_ms least=hold_least(contender.holding_is_lower_bound) /></td>
            {node_cell(contender.node.as_deref().unwrap_or(words::NO_ZNODE))}
            <td class="quiet sess-wide">{visible(&row.recipe_label)}</td>
        </tr>
    }
}

fn node_cell(node: &str) -> AnyView {
    let node = visible(node);
    let short = middle(&node, NODE_CHARS);
    view! { <td class="mono sess-wide" title=node><bdi>{short}</bdi></td> }
}

/// The events, known by when and what they were; equal ones are numbered from the oldest on, so that a new one changes no other's key.
fn event_entries(page: &SessionPage) -> Vec<Keyed<SessionEvent>> {
    let entry = |(at, event): (usize, &SessionEvent)| {
        let alike = page.history.iter().skip(at).filter(|older| *older == event).count();
        let key = format!("{} {} {} {} {alike}", event.at_ms, event.what, event.lock, event.node);
        Keyed { key, ensemble: page.row.ensemble.clone(), item: event.clone() }
    };
    page.history.iter().enumerate().map(entry).collect()
}

/// What happened to it, newest first.
#[component]
pub(super) fn History(state: SessionState) -> AnyView {
    let entries = Memo::new(move |_| state.page.with(|page| page.as_ref().map(event_entries).unwrap_or_default()));
    let is_empty = Memo::new(move |_| entries.with(Vec::is_empty));
    let table = move || {
        if is_empty.get() {
            return view! { <p class="quiet">"Nothing has changed since Lockscope started."</p> };
        }
        view! { <Table class="table sess-table dims" testid="history" columns=HISTORY rows=rows(entries, |entry| &entry.key, event_row) /> }
    };
    view! { <Section id="history-title" title="What happened">{dynamic(table)}</Section> }
}

fn event_row(Keyed { ensemble, item: event, .. }: Keyed<SessionEvent>) -> AnyView {
    view! {
        <tr>
            <td><Instant at_ms=event.at_ms /></td>
            <td data-happened=event.what.name()>{happened(event.what)}</td>
            <td>{lock_link(&ensemble, &event.lock)}</td>
            {node_cell(&event.node)}
        </tr>
    }
}

fn lock_link(ensemble: &str, path: &str) -> AnyView {
    outside_link(Some("mono sess-lock"), lock_url(ensemble, path), path, &middle(&visible(path), LOCK_CHARS))
}
