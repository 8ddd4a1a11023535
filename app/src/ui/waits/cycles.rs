//! Deadlocks, each in words, with whose hold is cheapest to release and what may make it none.

use leptos::prelude::*;

use super::WaitsState;
use crate::ui::format::{middle, visible};
use crate::ui::parts::Age;
use crate::wire::{Cycle, LockQuery, SessionQuery};

/// The deadlocks.
#[component]
pub(super) fn Cycles(state: WaitsState) -> impl IntoView {
    let cycles = Memo::new(move |_| state.waits.with(|waits| waits.cycles.clone()));
    view! {
        <ul class="cycles" aria-label="Deadlocks">
            <For each=move || cycles.get() key=|cycle| (cycle.sentence.clone(), cycle.since_ms) let(cycle)>
                <Card cycle=cycle />
            </For>
        </ul>
    }
}

#[component]
fn Card(cycle: Cycle) -> impl IntoView {
    let locks = cycle.locks.iter().map(|path| {
        let href = LockQuery { path: path.clone(), ..LockQuery::default() }.to_url();
        view! { <li><a class="mono" href=href><bdi>{middle(&visible(path), 60)}</bdi></a></li> }
    });
    let victim = SessionQuery { id: cycle.victim, ..SessionQuery::default() }.to_url();
    let since = Signal::stored(Some(cycle.since_ms));
    view! {
        <li class="cycle dims" data-testid="cycle">
            <p class="cycle-sentence">{visible(&cycle.sentence)}</p>
            <p>
                "Session " <a class="mono" href=victim>{cycle.victim.to_string()}</a>
                {format!(" {}", cycle.victim_why)}
            </p>
            <p class="quiet">{format!("Recognised with {} confidence. {} Found ", cycle.confidence, cycle.caveat)} <Age since_ms=since /> " ago."</p>
            <ul class="cycle-locks" aria-label="Locks in it">{locks.collect_view()}</ul>
        </li>
    }
}
