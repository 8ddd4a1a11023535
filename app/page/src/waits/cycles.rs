//! Deadlocks: each drawn as a ring, with whose hold is cheapest to release and what may make it none.

use leptos::prelude::*;

use super::table::{ensemble_of, name_of};
use super::words;
use crate::charts::ring::{BOX_HEIGHT, BOX_WIDTH, LABEL_HEIGHT, MEMBERS_MAX, label_width, ring};
use crate::erase::{erase, view};
use crate::format::{middle, visible};
use crate::parts::{Age, cycle_mark, lock_url, outside_link, rows, session_url};
use lockscope_view::{Cycle, Waits};

const CYCLES_MAX: usize = 8;
/// Longest names: in a box, on an arrow, in a sentence.
const BOX_CHARS: usize = 22;
const ARROW_CHARS: usize = 24;
const TEXT_CHARS: usize = 36;

/// One wait of a deadlock: a session, and the lock it waits for, which the next one holds.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    name: String,
    session_url: String,
    lock: String,
    lock_url: String,
}

/// A deadlock as its card shows it, known by the sessions and locks in it.
#[derive(Clone, Debug, PartialEq)]
struct Card {
    key: String,
    steps: Vec<Step>,
    victim: Step,
    cycle: Cycle,
}

fn cards(waits: &Waits) -> Vec<Card> {
    let card = |cycle: &Cycle| {
        let ensemble = ensemble_of(waits, cycle.victim);
        let step = |(session, lock): (lockscope_view::SessionId, &String)| Step {
            name: name_of(waits, session),
            session_url: session_url(&ensemble, session),
            lock: lock.clone(),
            lock_url: lock_url(&ensemble, lock),
        };
        let sessions: Vec<String> = cycle.sessions.iter().map(ToString::to_string).collect();
        Card {
            key: format!("{} {}", sessions.join(" "), cycle.locks.join(" ")),
            steps: cycle.sessions.iter().copied().zip(&cycle.locks).map(step).collect(),
            victim: step((cycle.victim, &cycle.victim_lock)),
            cycle: cycle.clone(),
        }
    };
    waits.cycles.iter().take(CYCLES_MAX).map(card).collect()
}

#[component]
pub(super) fn Cycles(waits: Memo<Waits>) -> AnyView {
    let shown = Memo::new(move |_| waits.with(cards));
    let more = move || waits.with(|waits| waits.cycles.len().saturating_sub(CYCLES_MAX));
    view! {
        <ul class="cycles" aria-label="Deadlocks">{rows(shown, |card| &card.key, card)}</ul>
        <Show when=move || { more() > 0 }>
            <p class="quiet">{move || words::not_drawn(more() as u64)}</p>
        </Show>
    }
}

fn card(Card { steps, victim, cycle, .. }: Card) -> AnyView {
    let heading = words::heading(cycle.verdict, steps.len());
    view! {
        <li class="cycle dims" data-cycle=cycle_mark(Some(cycle.verdict)) data-testid="cycle">
            <h2 class="cycle-sentence">{heading.clone()}</h2>
            {if steps.len() > MEMBERS_MAX { list(&steps) } else { drawn(&steps, heading) }}
            <div class="cycle-words">
                <p>
                    "Releasing "
                    {outside_link(Some("nowrap"), victim.session_url, &victim.name, &middle(&victim.name, TEXT_CHARS))}
                    "’s hold on "
                    {outside_link(Some("mono nowrap"), victim.lock_url, &victim.lock, &middle(&visible(&victim.lock), TEXT_CHARS))}
                    {words::costs_least(&cycle.victim_why)}
                </p>
                <p class="quiet">{visible(&cycle.caveat)}</p>
                <p class="quiet">"Found "<Age since_ms=Some(cycle.since_ms) />" ago."</p>
            </div>
        </li>
    }
}

/// A circle that is too large to be drawn.
fn list(steps: &[Step]) -> AnyView {
    let step = |step: &Step| {
        view! {
            <li>
                {outside_link(Some("nowrap"), step.session_url.clone(), &step.name, &middle(&step.name, TEXT_CHARS))}
                " waits for "
                {outside_link(Some("mono nowrap"), step.lock_url.clone(), &step.lock, &middle(&visible(&step.lock), TEXT_CHARS))}
            </li>
        }
    };
    view! { <ol class="ring-list" data-testid="ring">{steps.iter().map(step).collect_view()}</ol> }
}

/// The ring. Boxes and labels are links; each arrow leads to whoever holds what is waited for.
fn drawn(steps: &[Step], heading: String) -> AnyView {
    let laid = ring(steps.len());
    let (width, height) = (format!("{:.0}", laid.width), format!("{:.0}", laid.height));
    let arrows = laid.arrows.iter().map(|arrow| {
        view! {
            <g>
                <path class="ring-line" d=arrow.line.clone()></path>
                <path class="ring-head" d=arrow.head.clone()></path>
            </g>
        }
    });
    let boxes = steps.iter().zip(&laid.boxes).map(|(step, at)| {
        let size = (BOX_WIDTH, BOX_HEIGHT);
        ring_link("ring-node", &step.session_url, (&step.name, middle(&step.name, BOX_CHARS)), *at, size)
    });
    let labels = steps.iter().zip(&laid.arrows).map(|(step, arrow)| {
        let (whole, text) = (visible(&step.lock), middle(&visible(&step.lock), ARROW_CHARS));
        let width = label_width(&text).min(laid.width);
        let left = (arrow.label.0 - width / 2.0).clamp(0.0, laid.width - width);
        let at = (left, arrow.label.1 - LABEL_HEIGHT / 2.0);
        ring_link("ring-lock", &step.lock_url, (&whole, text), at, (width, LABEL_HEIGHT))
    });
    view! {
        <svg class="ring" viewBox=format!("-2 0 {} {height}", laid.width + 4.0) width=width height=height.clone() role="group" aria-label=heading data-testid="ring">
            {erase(arrows.collect_view())}
            {erase(boxes.collect_view())}
            {erase(labels.collect_view())}
        </svg>
    }
}

/// A box that is a link, with its text in the middle; the whole of a text that was cut is in its title.
fn ring_link(
    class: &'static str,
    href: &str,
    (whole, text): (&str, String),
    (x, y): (f64, f64),
    (width, height): (f64, f64),
) -> AnyView {
    let title = (whole != text).then(|| view! { <title>{whole.to_owned()}</title> });
    view! {
        <g class=class transform=format!("translate({x:.1} {y:.1})")>
            <a href=href.to_owned()>
                {title}
                <rect width=format!("{width:.1}") height=format!("{height:.1}") rx="6"></rect>
                <text x=format!("{:.1}", width / 2.0) y=format!("{:.1}", height / 2.0) text-anchor="middle" dominant-baseline="central">{text}</text>
            </a>
        </g>
    }
}
