//! The graph as a table, for those who can't see it and for the page without scripts.

use leptos::prelude::*;

use crate::erase::erase;
use crate::format::{middle, visible};
use crate::parts::{Age, Columns, Table, Tag, cycle_mark, outside_link};
use lockscope_wire::{LockQuery, SessionId, SessionQuery, Verdict, WaitEdge, Waits};

/// Rows drawn; the graph shows the rest.
const ROWS_MAX: usize = 300;

const COLUMNS: Columns = &[("Waits", ""), ("For", ""), ("Lock", ""), ("How long", "table-number")];

/// The name of a session: its label, else its id.
pub(super) fn name_of(waits: &Waits, session: SessionId) -> String {
    let label = waits.nodes.iter().find(|node| node.session_id == session).and_then(|node| node.label.as_deref());
    label.map_or_else(|| session.to_string(), visible)
}

/// The ensemble of a session; of one that is not drawn, the empty name, which means any.
pub(super) fn ensemble_of(waits: &Waits, session: SessionId) -> String {
    waits.nodes.iter().find(|node| node.session_id == session).map(|node| node.ensemble.clone()).unwrap_or_default()
}

/// The table; of one session when one is chosen.
pub(super) fn table(waits: &Waits, chosen: Option<SessionId>) -> AnyView {
    let wanted = |edge: &&WaitEdge| chosen.is_none_or(|session| edge.from == session || edge.to == session);
    let mut edges: Vec<&WaitEdge> = waits.edges.iter().filter(wanted).collect();
    edges.sort_by_key(|edge| (!edge.in_cycle, edge.since_ms));
    let rows = edges.into_iter().take(ROWS_MAX).map(|edge| row(waits, edge)).collect_view();
    let title = chosen.map_or_else(|| "Who waits for whom, longest first".to_owned(), |session| format!("Waits of {session}"));
    erase(view! {
        <section class="part dims" aria-labelledby="waits-title">
            <h2 class="part-title" id="waits-title">{title}</h2>
            <Table class="table waits-table" testid="waits" columns=COLUMNS rows=rows />
        </section>
    })
}

fn row(waits: &Waits, edge: &WaitEdge) -> impl IntoView + use<> {
    let session = |id: SessionId| {
        let href = SessionQuery { ensemble: ensemble_of(waits, id), id, ..SessionQuery::default() }.to_url();
        outside_link(None, href, &id.to_string(), &middle(&name_of(waits, id), 36))
    };
    let href = LockQuery { ensemble: ensemble_of(waits, edge.from), path: edge.lock.clone(), ..LockQuery::default() }.to_url();
    let lock = outside_link(Some("mono"), href, &edge.lock, &middle(&visible(&edge.lock), 60));
    let tag = waits.nodes.iter().find(|node| node.session_id == edge.from).and_then(|node| node.tag.clone());
    let cycle = match edge.cycle_verdict {
        None => "",
        Some(Verdict::Deadlocked) => " deadlock",
        Some(_) => " maybe a deadlock",
    };
    view! {
        <tr data-cycle=cycle_mark(edge.cycle_verdict)>
            <td>{session(edge.from)}</td>
            <td>{session(edge.to)}</td>
            <td><Tag of=tag /> " " {lock} {cycle}</td>
            <td class="table-number"><Age since_ms=Some(edge.since_ms) /></td>
        </tr>
    }
}
