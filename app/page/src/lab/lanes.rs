//! The lanes of a run, side by side: the queue as seats, who was woken, and the counters.

use crate::erase::view;
use leptos::prelude::*;

use super::words::{self, is_under_way, millis, name, state, way};
use crate::charts::marks::{Mark, Sign};
use crate::format::{bytes, count};
use crate::parts::Pair;
use lockscope_view::{Lane, Strategy};

/// Up to this many seats are drawn large, and up to the second medium; more are small.
const LARGE_SEATS: usize = 64;
const MEDIUM_SEATS: usize = 200;

pub(super) fn mark(strategy: Strategy) -> Mark {
    match strategy {
        Strategy::Predecessor => Mark::Circle,
        Strategy::HerdChildren => Mark::Square,
        Strategy::HerdExists => Mark::Triangle,
        Strategy::HerdLowest => Mark::Diamond,
    }
}

pub(super) fn lanes(lanes: &[Lane]) -> AnyView {
    view! {
        <div class="lab-lanes">{lanes.iter().map(lane).collect_view()}</div>
        {legend(lanes)}
    }
}

fn lane(lane: &Lane) -> AnyView {
    let id = lane.name.name();
    view! {
        <section class="lab-lane" data-key=id data-lane=id data-state=lane.state.name() data-testid="lab-lane" aria-label=name(lane.name)>
            <div class="lab-lane-top">
                <h2 class="lab-lane-name"><Sign lane=id mark=mark(lane.name) />{name(lane.name)}</h2>
                <span class="lab-lane-state" data-state=lane.state.name()>{state(lane.state)}</span>
            </div>
            <p class="lab-lane-way">{way(lane.name)}</p>
            {places(lane)}
            {large(lane)}
            {counters(lane)}
        </section>
    }
}

/// One seat a client. Each release turns the beat, so that who is woken again flashes again.
fn places(lane: &Lane) -> AnyView {
    let size = match lane.seats.chars().count() {
        count if count <= LARGE_SEATS => "large",
        count if count <= MEDIUM_SEATS => "medium",
        _ => "small",
    };
    let beat = if lane.releases.is_multiple_of(2) { "even" } else { "odd" };
    let all = lane.seats.chars().map(|letter| view! { <i data-s=seat_kind(letter)></i> }).collect_view();
    view! { <div class="lab-seats" data-size=size data-beat=beat role="img" aria-label=words::lane_seats(lane) data-testid="lab-seats">{all}</div> }
}

/// A seat's letter as a word for the style sheet; what is not known looks like one that is away.
fn seat_kind(letter: char) -> &'static str {
    match letter {
        'o' => "opening",
        'w' => "waits",
        'k' => "woken",
        'h' => "holds",
        'b' => "believes",
        'p' => "paused",
        'g' => "gave-up",
        'x' | 'l' => "killed",
        'd' => "done",
        _ => "away",
    }
}

/// What the lane is about, in two numbers.
fn large(lane: &Lane) -> AnyView {
    let clients = lane.seats.chars().count().max(1) as f64;
    // The very last release wakes nobody; once it is over, what one could do says more.
    let is_over = !is_under_way(lane.state) && lane.releases > 0;
    let most = lane.per_release.iter().map(|(_, events)| *events).max().unwrap_or(0);
    let woken = match (is_over, lane.releases) {
        (true, _) => most,
        (false, 0) => 0,
        (false, _) => lane.woken,
    };
    let width = format!("{:.1}", (f64::from(woken) * 100.0 / clients).min(100.0));
    view! {
        <div class="lab-large">
            <div class="lab-woke" data-many=(woken > 1).then_some("true")>
                <span class="lab-number" data-testid="lab-woken">{count(woken)}</span>
                <span class="lab-of">{words::woken_by(is_over, lane.releases)}</span>
                <svg class="lab-woke-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="lab-bar-all" width="100" height="4"></rect>
                    <rect class="lab-bar-woken" width=width height="4"></rect>
                </svg>
            </div>
            <div class="lab-events">
                <span class="lab-number" data-testid="lab-events">{count(lane.watch_events)}</span>
                <span class="lab-of">{words::watch_events(lane)}</span>
            </div>
        </div>
    }
}

/// All requests of its clients.
pub(super) fn requests(lane: &Lane) -> u64 {
    let r = &lane.requests;
    r.create + r.delete + r.children + r.exists + r.data + r.ping + r.other
}

fn counters(lane: &Lane) -> AnyView {
    let pair = |term: &'static str, text: String| view! { <div class="lab-count"><Pair term=term value=text /></div> };
    let time = |ms: f64| if lane.handoff_ms.count == 0 { "–".to_owned() } else { millis(ms) };
    view! {
        <dl class="lab-counts">
            {pair(words::ACQUISITIONS, words::of(lane.acquisitions, lane.acquisitions_wanted))}
            {pair(words::HANDOFF_P50, time(lane.handoff_ms.p50))}
            {pair(words::HANDOFF_P99, time(lane.handoff_ms.p99))}
            {pair(words::WOKEN_IN_VAIN, count(lane.wasted))}
            {pair(words::REQUESTS, count(requests(lane)))}
            {pair(words::BYTES, bytes(lane.bytes))}
        </dl>
    }
}

/// What the seats' looks mean; the odd ones only where there is one.
fn legend(lanes: &[Lane]) -> AnyView {
    let is_there = |letter: char| lanes.iter().any(|lane| lane.seats.contains(letter));
    let item = |(letter, text): (char, &'static str)| view! { <li><i data-s=seat_kind(letter)></i>{text}</li> };
    let items = words::USUAL_SEATS
        .into_iter()
        .chain(words::ODD_SEATS.into_iter().filter(|(letter, _)| is_there(*letter)))
        .map(item)
        .collect_view();
    view! { <ul class="lab-legend" aria-label="Seats">{items}</ul> }
}
