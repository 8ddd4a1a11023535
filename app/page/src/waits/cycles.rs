//! Deadlocks, each in words, with whose hold is cheapest to release and what may make it none.

use leptos::prelude::*;

use super::table::ensemble_of;
use crate::erase::erase;
use crate::format::{middle, visible};
use crate::parts::{Age, cycle_mark, outside_link};
use lockscope_wire::{Cycle, LockQuery, SessionQuery, Waits};

/// The deadlocks.
pub(super) fn cycles(waits: &Waits) -> AnyView {
    let cards = waits.cycles.iter().map(|cycle| card(waits, cycle)).collect_view();
    erase(view! { <ul class="cycles" aria-label="Deadlocks">{cards}</ul> })
}

fn card(waits: &Waits, cycle: &Cycle) -> impl IntoView + use<> {
    let ensemble = ensemble_of(waits, cycle.victim);
    let lock = |path: &String| {
        let href = LockQuery { ensemble: ensemble.clone(), path: path.clone(), ..LockQuery::default() }.to_url();
        view! { <li>{outside_link(Some("mono"), href, path, &middle(&visible(path), 60))}</li> }
    };
    let victim = SessionQuery { ensemble: ensemble.clone(), id: cycle.victim, ..SessionQuery::default() }.to_url();
    let found = format!("Recognised with {} confidence. {} Found ", cycle.confidence, visible(&cycle.caveat));
    view! {
        <li class="cycle dims" data-cycle=cycle_mark(Some(cycle.verdict)) data-testid="cycle">
            <p class="cycle-sentence">{visible(&cycle.sentence)}</p>
            <p>
                "Session " {outside_link(Some("mono"), victim, "", &cycle.victim.to_string())} {format!(" {}", visible(&cycle.victim_why))}
            </p>
            <p class="quiet">{found}<Age since_ms=Some(cycle.since_ms) />" ago."</p>
            <ul class="cycle-locks" aria-label="Locks in it">{cycle.locks.iter().map(lock).collect_view()}</ul>
        </li>
    }
}
