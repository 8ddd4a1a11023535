//! The graph as a table, for those who can't see it and for the page without scripts.

use leptos::prelude::*;

use super::WaitsState;
use crate::ui::format::{middle, visible};
use crate::ui::parts::Age;
use crate::wire::{LockQuery, SessionId, SessionQuery, WaitEdge, Waits};

/// Rows drawn; the graph shows the rest.
const ROWS_MAX: usize = 300;

/// One row: an edge, with the names of both ends.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    edge: WaitEdge,
    from: String,
    to: String,
}

/// The name of a session: its label, else its id.
pub(super) fn name_of(waits: &Waits, session: SessionId) -> String {
    let label = waits.nodes.iter().find(|node| node.session_id == session).and_then(|node| node.label.as_deref());
    label.map_or_else(|| session.to_string(), visible)
}

fn rows(waits: &Waits, chosen: Option<SessionId>) -> Vec<Row> {
    let wanted = |edge: &&WaitEdge| chosen.is_none_or(|session| edge.from == session || edge.to == session);
    let mut edges: Vec<&WaitEdge> = waits.edges.iter().filter(wanted).collect();
    edges.sort_by_key(|edge| (!edge.in_cycle, edge.since_ms));
    let row = |edge: &WaitEdge| Row { edge: edge.clone(), from: name_of(waits, edge.from), to: name_of(waits, edge.to) };
    edges.into_iter().take(ROWS_MAX).map(row).collect()
}

/// The table.
#[component]
pub(super) fn WaitsTable(state: WaitsState) -> impl IntoView {
    let rows = Memo::new(move |_| state.waits.with(|waits| rows(waits, state.chosen.get())));
    let title = move || match state.chosen.get() {
        Some(session) => format!("Waits of {session}"),
        None => "Who waits for whom, longest first".to_owned(),
    };
    view! {
        <section class="part dims" aria-labelledby="waits-title">
            <h2 class="part-title" id="waits-title">{title}</h2>
            <div class="overflow-x-auto">
                <table class="table" data-testid="waits">
                    <thead>
                        <tr><th scope="col">"Waits"</th><th scope="col">"For"</th><th scope="col">"Lock"</th><th class="table-number" scope="col">"How long"</th></tr>
                    </thead>
                    <tbody>
                        <For each=move || rows.get() key=|row| (row.edge.from, row.edge.to, row.edge.lock.clone(), row.edge.since_ms, row.edge.in_cycle) let(row)>
                            <Line row=row />
                        </For>
                    </tbody>
                </table>
            </div>
        </section>
    }
}

#[component]
fn Line(row: Row) -> impl IntoView {
    let session = |id: SessionId| SessionQuery { id, ..SessionQuery::default() }.to_url();
    let lock = LockQuery { path: row.edge.lock.clone(), ..LockQuery::default() }.to_url();
    let since = Signal::stored(Some(row.edge.since_ms));
    view! {
        <tr data-cycle=row.edge.in_cycle.then_some("true")>
            <td><a href=session(row.edge.from) title=row.edge.from.to_string()>{middle(&row.from, 36)}</a></td>
            <td><a href=session(row.edge.to) title=row.edge.to.to_string()>{middle(&row.to, 36)}</a></td>
            <td>
                <a class="mono" href=lock><bdi>{middle(&visible(&row.edge.lock), 60)}</bdi></a>
                {row.edge.in_cycle.then_some(" deadlock")}
            </td>
            <td class="table-number"><Age since_ms=since /></td>
        </tr>
    }
}
