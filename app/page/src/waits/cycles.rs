//! Deadlocks, each in words, with whose hold is cheapest to release and what may make it none.

use leptos::prelude::*;

use super::table::ensemble_of;
use crate::erase::view;
use crate::format::{middle, visible};
use crate::parts::{Age, cycle_mark, outside_link, rows};
use lockscope_wire::{Cycle, LockQuery, SessionQuery, Waits};

/// A deadlock as its card shows it, known by the sessions and locks in it.
#[derive(Clone, Debug, PartialEq)]
struct Card {
    key: String,
    ensemble: String,
    cycle: Cycle,
}

fn cards(waits: &Waits) -> Vec<Card> {
    let card = |cycle: &Cycle| {
        let sessions: Vec<String> = cycle.sessions.iter().map(ToString::to_string).collect();
        let key = format!("{} {}", sessions.join(" "), cycle.locks.join(" "));
        Card { key, ensemble: ensemble_of(waits, cycle.victim), cycle: cycle.clone() }
    };
    waits.cycles.iter().map(card).collect()
}

/// The deadlocks.
#[component]
pub(super) fn Cycles(waits: Memo<Waits>) -> AnyView {
    let shown = Memo::new(move |_| waits.with(cards));
    view! { <ul class="cycles" aria-label="Deadlocks">{rows(shown, |card| &card.key, card)}</ul> }
}

fn card(Card { ensemble, cycle, .. }: Card) -> AnyView {
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
