//! The lanes of a run, side by side: the queue as seats, who was woken, and the counters.

use super::words::{formula, is_under_way, millis, name, seats, state, way};
use crate::charts::marks::{Mark, sign};
use crate::format::{bytes, count};
use crate::html::Html;
use lockscope_wire::{Lane, Strategy};

/// Up to this many seats are drawn large, and up to the second medium; more are small.
const LARGE_SEATS: usize = 64;
const MEDIUM_SEATS: usize = 200;

/// The sign of a strategy's series.
pub(super) fn mark(strategy: Strategy) -> Mark {
    match strategy {
        Strategy::Predecessor => Mark::Circle,
        Strategy::HerdChildren => Mark::Square,
        Strategy::HerdExists => Mark::Triangle,
        Strategy::HerdLowest => Mark::Diamond,
    }
}

pub(super) fn lanes(lanes: &[Lane]) -> Html {
    let all = Html::tag("div", &[("class", "lab-lanes")], Html::all(lanes.iter().map(lane).collect()));
    Html::all(vec![all, legend(lanes)])
}

fn lane(lane: &Lane) -> Html {
    let title = vec![sign(lane.name.name(), mark(lane.name)), Html::text(name(lane.name))];
    let top = vec![
        Html::tag("h2", &[("class", "lab-lane-name")], Html::all(title)),
        Html::of("span", &[("class", "lab-lane-state"), ("data-state", lane.state.name())], state(lane.state)),
    ];
    let inner = vec![
        Html::tag("div", &[("class", "lab-lane-top")], Html::all(top)),
        Html::of("p", &[("class", "lab-lane-way")], way(lane.name)),
        places(lane),
        large(lane),
        counters(lane),
    ];
    let attributes = [
        ("class", "lab-lane"),
        ("data-key", lane.name.name()),
        ("data-lane", lane.name.name()),
        ("data-state", lane.state.name()),
        ("data-testid", "lab-lane"),
        ("aria-label", name(lane.name)),
    ];
    Html::tag("section", &attributes, Html::all(inner))
}

/// One seat a client. Each release turns the beat, so that who is woken again flashes again.
fn places(lane: &Lane) -> Html {
    let size = match lane.seats.chars().count() {
        count if count <= LARGE_SEATS => "large",
        count if count <= MEDIUM_SEATS => "medium",
        _ => "small",
    };
    let seat = |letter: char| {
        let kind = seat_kind(letter);
        Html::tag("i", &[("data-s", kind)], Html::default())
    };
    let beat = if lane.releases.is_multiple_of(2) { "even" } else { "odd" };
    let words = format!("{}: {}", name(lane.name), seats(lane));
    let attributes =
        [("class", "lab-seats"), ("data-size", size), ("data-beat", beat), ("role", "img"), ("aria-label", &*words), ("data-testid", "lab-seats")];
    Html::tag("div", &attributes, Html::all(lane.seats.chars().map(seat).collect()))
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
        'x' => "killed",
        'd' => "done",
        _ => "away",
    }
}

/// What the lane is about, in two numbers.
fn large(lane: &Lane) -> Html {
    let clients = lane.seats.chars().count().max(1) as f64;
    // The very last release wakes nobody; once it is over, what one could do says more.
    let is_over = !is_under_way(lane.state) && lane.releases > 0;
    let most = lane.per_release.iter().map(|(_, events)| *events).max().unwrap_or(0);
    let (woken, said) = match (is_over, lane.releases) {
        (true, _) => (most, "woken by one release, at most"),
        (false, 0) => (0, "nothing released yet"),
        (false, _) => (lane.woken, "woken by the last release"),
    };
    let width = format!("{:.1}", (f64::from(woken) * 100.0 / clients).min(100.0));
    let bar = |class: &str, width: &str| Html::tag("rect", &[("class", class), ("width", width), ("height", "4")], Html::default());
    let bars = Html::all(vec![bar("lab-bar-all", "100"), bar("lab-bar-woken", &width)]);
    let svg = [("class", "lab-woke-bar"), ("viewBox", "0 0 100 4"), ("preserveAspectRatio", "none"), ("aria-hidden", "true")];
    let woke = vec![
        Html::of("span", &[("class", "lab-number"), ("data-testid", "lab-woken")], &count(woken)),
        Html::of("span", &[("class", "lab-of")], said),
        Html::tag("svg", &svg, bars),
    ];
    let expected = match lane.watch_events_expected {
        Some(expected) => format!("watch events; {} = {}", formula(lane.name), count(expected)),
        None => "watch events".to_owned(),
    };
    let events = vec![
        Html::of("span", &[("class", "lab-number"), ("data-testid", "lab-events")], &count(lane.watch_events)),
        Html::of("span", &[("class", "lab-of")], &expected),
    ];
    let beside = vec![
        Html::tag("div", &[("class", "lab-woke"), ("data-many", if woken > 1 { "true" } else { "" })], Html::all(woke)),
        Html::tag("div", &[("class", "lab-events")], Html::all(events)),
    ];
    Html::tag("div", &[("class", "lab-large")], Html::all(beside))
}

fn counters(lane: &Lane) -> Html {
    let pair = |term: &'static str, text: String| Html::tag("div", &[("class", "lab-count")], Html::pair(term, "", Html::text(&text)));
    let time = |ms: f64| if lane.handoff_ms.count == 0 { "–".to_owned() } else { millis(ms) };
    let r = &lane.requests;
    let requests = r.create + r.delete + r.children + r.exists + r.data + r.ping + r.other;
    let inner = vec![
        pair("acquisitions", format!("{} of {}", count(lane.acquisitions), count(lane.acquisitions_wanted))),
        pair("hand-off p50", time(lane.handoff_ms.p50)),
        pair("hand-off p99", time(lane.handoff_ms.p99)),
        pair("woken in vain", count(lane.wasted)),
        pair("requests", count(requests)),
        pair("both ways", bytes(lane.bytes)),
    ];
    Html::tag("dl", &[("class", "lab-counts")], Html::all(inner))
}

/// What the seats' looks mean; the odd ones only where there is one.
fn legend(lanes: &[Lane]) -> Html {
    let is_there = |letter: char| lanes.iter().any(|lane| lane.seats.contains(letter));
    let usual = [('h', "holds"), ('k', "woken, and waits on"), ('w', "waits"), ('d', "done")];
    let odd = [('o', "opening"), ('.', "away"), ('b', "believes that it holds"), ('p', "paused"), ('g', "gave up, znode stays"), ('x', "killed")];
    let item = |(letter, text): &(char, &str)| {
        let seat = Html::tag("i", &[("data-s", seat_kind(*letter))], Html::default());
        Html::tag("li", &[], Html::all(vec![seat, Html::text(text)]))
    };
    let items = usual.iter().chain(odd.iter().filter(|(letter, _)| is_there(*letter))).map(item).collect();
    Html::tag("ul", &[("class", "lab-legend"), ("aria-label", "Seats")], Html::all(items))
}
