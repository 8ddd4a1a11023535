//! The graph as a table, for those who can't see it and for the page without scripts.

use crate::format::{middle, visible};
use crate::html::Html;
use crate::parts::{cycle_mark, tag};
use lockscope_wire::{LockQuery, SessionId, SessionQuery, Verdict, WaitEdge, Waits};

/// Rows drawn; the graph shows the rest.
const ROWS_MAX: usize = 300;

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
pub(super) fn table(waits: &Waits, chosen: Option<SessionId>, now_ms: i64) -> Html {
    let wanted = |edge: &&WaitEdge| chosen.is_none_or(|session| edge.from == session || edge.to == session);
    let mut edges: Vec<&WaitEdge> = waits.edges.iter().filter(wanted).collect();
    edges.sort_by_key(|edge| (!edge.in_cycle, edge.since_ms));
    let rows = edges.into_iter().take(ROWS_MAX).map(|edge| row(waits, edge, now_ms)).collect();
    let title = chosen.map_or_else(|| "Who waits for whom, longest first".to_owned(), |session| format!("Waits of {session}"));
    let columns = [("Waits", ""), ("For", ""), ("Lock", ""), ("How long", "table-number")];
    let table = Html::table("table waits-table", "waits", &columns, rows);
    let inner = vec![Html::of("h2", &[("class", "part-title"), ("id", "waits-title")], &title), table];
    Html::tag("section", &[("class", "part dims"), ("aria-labelledby", "waits-title")], Html::all(inner))
}

fn row(waits: &Waits, edge: &WaitEdge, now_ms: i64) -> Html {
    let session = |id: SessionId| {
        let href = SessionQuery { ensemble: ensemble_of(waits, id), id, ..SessionQuery::default() }.to_url();
        Html::tag("td", &[], Html::link("", &href, &id.to_string(), &middle(&name_of(waits, id), 36)))
    };
    let href = LockQuery { ensemble: ensemble_of(waits, edge.from), path: edge.lock.clone(), ..LockQuery::default() }.to_url();
    let lock = Html::link("mono", &href, &edge.lock, &middle(&visible(&edge.lock), 60));
    let of = waits.nodes.iter().find(|node| node.session_id == edge.from).map(|node| tag(node.tag.as_ref())).unwrap_or_default();
    let mark = Html::text(match edge.cycle_verdict {
        None => "",
        Some(Verdict::Deadlocked) => " deadlock",
        Some(_) => " maybe a deadlock",
    });
    let cells = vec![
        session(edge.from),
        session(edge.to),
        Html::tag("td", &[], Html::all(vec![of, Html::text(" "), lock, mark])),
        Html::tag("td", &[("class", "table-number")], Html::age(Some(edge.since_ms), false, now_ms)),
    ];
    let key = format!("{} {} {}", edge.from, edge.to, edge.lock);
    Html::tag("tr", &[("data-key", &key), ("data-cycle", cycle_mark(edge.cycle_verdict))], Html::all(cells))
}
