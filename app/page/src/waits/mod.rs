//! Who waits for whom across all locks: deadlocks as rings, the graph where it can be read, the blocking tree, and the
//! longest waits as a table.

mod cycles;
mod graph;
mod table;
mod tree;

use leptos::prelude::*;

use super::address::use_pairs;
use super::erase::view;
use super::format::{count, plural};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, use_keys};
use cycles::Cycles;
use graph::Graph;
use lockscope_wire::{GRAPH_EDGES_MAX, GRAPH_NODES_MAX, RootState, SessionId, Verdict, Waits, WaitsQuery};
use table::WaitsTable;
use tree::Tree;

/// What the page draws, and no more.
const BRIEF: WaitsQuery = WaitsQuery { brief: true };

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
    let is_drawn = Memo::new(move |_| state.waits.with(is_graph));
    view! {
        <Chrome here="waits" title="Waits">
            <h1 class="page-title">"Waits"</h1>
            <p class="waits-lead dims" data-testid="lead">{move || if is_read() { state.waits.with(lead) } else { "Not read yet.".to_owned() }}</p>
            <Cycles waits=state.waits />
            <Show when=move || is_drawn.get()>
                <Graph state=state />
            </Show>
            <Show when=move || is_waited.get()>
                <Tree waits=state.waits />
                <WaitsTable state=state />
            </Show>
        </Chrome>
    }
}

/// Whether all that wait, and are waited for, can be read in one drawing.
fn is_graph(waits: &Waits) -> bool {
    let is_whole = waits.left_out == 0 && waits.edges_left_out == 0;
    is_whole && (1..=GRAPH_NODES_MAX).contains(&waits.nodes.len()) && waits.edges.len() <= GRAPH_EDGES_MAX
}

/// What there is, in words.
fn lead(waits: &Waits) -> String {
    if waits.locks == 0 {
        let is_unread = matches!(waits.as_of.state, RootState::Syncing | RootState::Stale);
        return if is_unread { "Not read yet." } else { "Nobody waits: there are no locks." }.to_owned();
    }
    if waits.waiting == 0 && waits.cycles.is_empty() {
        let locks = plural(waits.locks.into(), "lock", "locks");
        return format!("Nobody waits. Lockscope watches {locks}.");
    }
    let certain = waits.cycles.iter().filter(|cycle| cycle.verdict == Verdict::Deadlocked).count();
    let deadlocks = match (certain, waits.cycles.len() - certain) {
        (0, 0) => "No deadlock.".to_owned(),
        (0, maybe) => format!("{} that may be a deadlock.", plural(maybe as u64, "circle", "circles")),
        (certain, 0) => format!("{}.", plural(certain as u64, "deadlock", "deadlocks")),
        (certain, maybe) => {
            format!("{}, {} that may be one.", plural(certain as u64, "deadlock", "deadlocks"), count(maybe as u64))
        }
    };
    let wait = plural(waits.waiting.into(), "session waits", "sessions wait");
    let others = match waits.blocking {
        0 => "each other".to_owned(),
        others => plural(others.into(), "other", "others"),
    };
    format!("{deadlocks} {wait} for {others} in {}.", plural(waits.contended.into(), "lock", "locks"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{Confidence, Cycle};

    fn waits(waiting: u32, blocking: u32, contended: u32, cycles: &[Verdict]) -> Waits {
        let cycle = |verdict: &Verdict| Cycle {
            sessions: Vec::new(),
            locks: Vec::new(),
            verdict: *verdict,
            sentence: String::new(),
            victim: SessionId(1),
            victim_lock: String::new(),
            victim_node: String::new(),
            victim_why: String::new(),
            confidence: Confidence::High,
            caveat: String::new(),
            since_ms: 0,
        };
        let cycles = cycles.iter().map(cycle).collect();
        Waits { locks: 17, waiting, blocking, contended, cycles, ..Waits::default() }
    }

    #[test]
    fn the_page_in_a_sentence() {
        let deadlock = [Verdict::Deadlocked];
        assert_eq!(lead(&waits(31, 14, 12, &deadlock)), "1 deadlock. 31 sessions wait for 14 others in 12 locks.");
        assert_eq!(lead(&waits(2, 0, 2, &deadlock)), "1 deadlock. 2 sessions wait for each other in 2 locks.");
        assert_eq!(lead(&waits(1, 1, 1, &[])), "No deadlock. 1 session waits for 1 other in 1 lock.");
        assert_eq!(
            lead(&waits(9, 1, 4, &[Verdict::MaybeDeadlocked, Verdict::Deadlocked])),
            "1 deadlock, 1 that may be one. 9 sessions wait for 1 other in 4 locks."
        );
        assert_eq!(lead(&waits(0, 0, 0, &[])), "Nobody waits. Lockscope watches 17 locks.");
    }

    #[test]
    fn only_what_is_whole_and_small_is_drawn() {
        assert!(!is_graph(&Waits::default()));
    }
}
