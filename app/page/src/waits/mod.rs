//! Who waits for whom across all locks: deadlocks as rings, the graph where it can be read, the blocking tree, and the
//! longest waits as a table.

mod cycles;
mod graph;
mod table;
mod tree;
mod words;

use leptos::prelude::*;

use super::address::use_pairs;
use super::current_user::CurrentUser;
use super::erase::view;
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, use_keys};
use super::sections::ServerSection;
use cycles::Cycles;
use graph::Graph;
use lockscope_view::{GRAPH_EDGES_MAX, GRAPH_NODES_MAX, SessionId, Waits, WaitsQuery};
use table::WaitsTable;
use tree::Tree;

/// What the page draws, and no more.
const BRIEF: WaitsQuery = WaitsQuery { brief: true };

#[derive(Clone, Copy)]
struct WaitsState {
    waits: Memo<Waits>,
    /// The session that was chosen, from the address.
    chosen: Memo<Option<SessionId>>,
}

#[component]
pub(crate) fn WaitsPage() -> AnyView {
    let live = Live::of_app();
    let first = initial_view(|source| source.waits(BRIEF));
    live.open(BRIEF, first);
    use_keys(|_| false);
    let address = use_pairs();
    let chosen = Memo::new(move |_| {
        address.with(|pairs| pairs.iter().find(|(name, _)| name == "session").and_then(|(_, id)| id.parse().ok()))
    });
    let state = WaitsState { waits: Memo::new(move |_| live.waits(Clone::clone).unwrap_or_default()), chosen };
    let is_read = move || live.waits(|_| ()).is_some();
    let is_waited = Memo::new(move |_| state.waits.with(|waits| !waits.nodes.is_empty()));
    // What is over is charged to somebody where it is kept.
    let blame = CurrentUser::of_app().0.filter(|person| person.keeps_history).map(|_| {
        view! { <p class="waits-blame"><a class="tool" href="/blame" rel="external" data-testid="blame-link">"Who made others wait"</a></p> }
    });
    let is_drawn = Memo::new(move |_| state.waits.with(is_graph));
    view! {
        <Chrome here="waits" title="Waits">
            <h1 class="page-title">"Waits"</h1>
            <p class="waits-lead dims" data-testid="lead">{move || if is_read() { state.waits.with(words::lead) } else { words::NOT_READ.to_owned() }}</p>
            {blame}
            <Cycles waits=state.waits />
            <Show when=move || is_drawn.get()>
                <Graph state=state />
            </Show>
            <Show when=move || is_waited.get()>
                <Tree waits=state.waits />
                <WaitsTable state=state />
            </Show>
            {ServerSection::LockOrders.element()}
        </Chrome>
    }
}

/// Whether all that wait, and are waited for, can be read in one drawing.
fn is_graph(waits: &Waits) -> bool {
    let is_whole = waits.left_out == 0 && waits.edges_left_out == 0;
    is_whole && (1..=GRAPH_NODES_MAX).contains(&waits.nodes.len()) && waits.edges.len() <= GRAPH_EDGES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_whole_and_small_is_drawn() {
        assert!(!is_graph(&Waits::default()));
    }
}
