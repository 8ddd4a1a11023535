//! Who waits for whom across all locks: deadlocks in words, the graph drawn, and the same as a table.

mod cycles;
mod graph;
mod table;

use leptos::prelude::*;

use super::address::use_pairs;
use super::erase::view;
use super::format::{count, plural};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, use_keys};
use cycles::Cycles;
use graph::Graph;
use lockscope_wire::{RootState, SessionId, Verdict, Waits, WaitsQuery};
use table::WaitsTable;

/// What the parts of the page read.
#[derive(Clone, Copy)]
struct WaitsState {
    waits: Memo<Waits>,
    /// The session that was chosen, from the address.
    chosen: Memo<Option<SessionId>>,
}

/// The page.
#[component]
pub(crate) fn WaitsPage() -> AnyView {
    let live = Live::of_app();
    let first = initial_view(|source| source.waits());
    live.open(WaitsQuery, first);
    use_keys(|_| false);
    let address = use_pairs();
    let chosen = Memo::new(move |_| {
        address.with(|pairs| pairs.iter().find(|(name, _)| name == "session").and_then(|(_, id)| id.parse().ok()))
    });
    let state = WaitsState { waits: Memo::new(move |_| live.waits(Clone::clone).unwrap_or_default()), chosen };
    let is_read = move || live.waits(|_| ()).is_some();
    let nobody = move || state.waits.with(|waits| waits.nodes.is_empty());
    view! {
        <Chrome here="waits" title="Waits">
            <h1 class="page-title">"Waits"</h1>
            <p class="waits-lead dims" data-testid="lead">{move || if is_read() { state.waits.with(lead) } else { "Not read yet.".to_owned() }}</p>
            <Cycles waits=state.waits />
            <Show when=move || !nobody()>
                <Graph state=state />
                <WaitsTable state=state />
            </Show>
        </Chrome>
    }
}

/// What there is, in words.
fn lead(waits: &Waits) -> String {
    let locks = plural(waits.locks.into(), "lock", "locks");
    if waits.locks == 0 {
        let is_unread = matches!(waits.as_of.state, RootState::Syncing | RootState::Stale);
        return if is_unread { "Not read yet." } else { "Nobody waits for anybody: there are no locks." }.to_owned();
    }
    if waits.nodes.is_empty() {
        return format!("Nobody waits for anybody in {locks}.");
    }
    let sessions = plural(waits.nodes.len() as u64 + u64::from(waits.left_out), "session", "sessions");
    let certain = waits.cycles.iter().filter(|cycle| cycle.verdict == Verdict::Deadlocked).count();
    let mut circles = match certain {
        0 => "no deadlock".to_owned(),
        number => plural(number as u64, "deadlock", "deadlocks"),
    };
    if waits.cycles.len() > certain {
        circles += &format!(", {} that may be one", waits.cycles.len() - certain);
    }
    let more = if waits.left_out == 0 {
        String::new()
    } else {
        format!(" {} of them are not drawn: those that block fewest.", count(waits.left_out))
    };
    format!("{sessions} wait or are waited for in {locks}: {circles}.{more}")
}
