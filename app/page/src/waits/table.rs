//! The longest waits as a table, folded: for those who can't see the graph, and to look for one.

use leptos::prelude::*;

use super::{WaitsState, words};
use crate::erase::view;
use crate::format::{middle, visible};
use crate::parts::{Age, Columns, Table, Tag, cycle_mark, lock_url, outside_link, rows, session_url};
use lockscope_view::{BRIEF_EDGES_MAX, EnsembleTag, SessionId, Verdict, WaitEdge, Waits};

/// Rows drawn; the tree has the rest.
const ROWS_MAX: usize = BRIEF_EDGES_MAX;

const COLUMNS: Columns = &[("Session", ""), ("Waits for", ""), ("Lock", ""), ("For", "table-number")];

/// The name of a session: its label, else its id.
pub(super) fn name_of(waits: &Waits, session: SessionId) -> String {
    let label = waits.nodes.iter().find(|node| node.session_id == session).and_then(|node| node.label.as_deref());
    label.map_or_else(|| session.to_string(), visible)
}

/// The ensemble of a session; of one that is not drawn, the empty name, which means any.
pub(super) fn ensemble_of(waits: &Waits, session: SessionId) -> String {
    waits.nodes.iter().find(|node| node.session_id == session).map(|node| node.ensemble.clone()).unwrap_or_default()
}

/// A wait as the table shows it, known by who waits for whom at which lock.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    key: String,
    tag: Option<EnsembleTag>,
    from: Party,
    to: Party,
    lock: String,
    lock_url: String,
    cycle: Option<Verdict>,
    since_ms: i64,
}

#[derive(Clone, Debug, PartialEq)]
struct Party {
    id: SessionId,
    name: String,
    url: String,
}

fn party(waits: &Waits, id: SessionId) -> Party {
    Party { id, name: name_of(waits, id), url: session_url(&ensemble_of(waits, id), id) }
}

/// The longest waits, those in circles first; of one session when one is chosen.
fn table_rows(waits: &Waits, chosen: Option<SessionId>) -> Vec<Row> {
    let wanted = |edge: &&WaitEdge| chosen.is_none_or(|session| edge.from == session || edge.to == session);
    let mut edges: Vec<&WaitEdge> = waits.edges.iter().filter(wanted).collect();
    edges.sort_by_key(|edge| (!edge.in_cycle, edge.since_ms));
    let row = |edge: &WaitEdge| Row {
        key: format!("{} {} {}", edge.from, edge.to, edge.lock),
        tag: waits.nodes.iter().find(|node| node.session_id == edge.from).and_then(|node| node.tag.clone()),
        from: party(waits, edge.from),
        to: party(waits, edge.to),
        lock: edge.lock.clone(),
        lock_url: lock_url(&ensemble_of(waits, edge.from), &edge.lock),
        cycle: edge.cycle_verdict,
        since_ms: edge.since_ms,
    };
    edges.into_iter().take(ROWS_MAX).map(row).collect()
}

#[component]
pub(super) fn WaitsTable(state: WaitsState) -> AnyView {
    let shown = Memo::new(move |_| state.waits.with(|waits| table_rows(waits, state.chosen.get())));
    let title = move || words::table_title(state.chosen.get());
    view! {
        <details class="part dims waits-fold" open=move || state.chosen.get().is_some()>
            <summary><h2 class="part-title">{title}</h2></summary>
            <Table class="table waits-table" testid="waits" columns=COLUMNS rows=rows(shown, |row| &row.key, table_row) />
        </details>
    }
}

fn table_row(row: Row) -> AnyView {
    let session = |party: Party| outside_link(None, party.url, &party.id.to_string(), &middle(&party.name, 36));
    let lock = outside_link(Some("mono"), row.lock_url, &row.lock, &middle(&visible(&row.lock), 60));
    view! {
        <tr data-cycle=cycle_mark(row.cycle)>
            <td>{session(row.from)}</td>
            <td>{session(row.to)}</td>
            <td><Tag of=row.tag /> " " {lock} {words::after_lock(row.cycle)}</td>
            <td class="table-number"><Age since_ms=Some(row.since_ms) /></td>
        </tr>
    }
}
