//! What the section looks like, over made-up pasts.

use leptos::prelude::Owner;

use super::choice::{Choice, Former, Range};
use super::section::over_time_markup;
use super::view::{Bar, ClientShare, Missing, OverTime, OverTimeView, PieceShares, Strip, What};
use lockscope_view::Verdict;
use lockscope_view::past::{Hold, Percentiles, Point};

const HOSTILE: &str = "<script>\"'&\u{202e}evil</script>";
const HOUR_MS: i64 = 3_600_000;

fn empty() -> OverTimeView {
    OverTimeView {
        choice: Choice::of("", "/a"),
        range_ms: (0, HOUR_MS),
        now_ms: HOUR_MS,
        kept_from_ms: Some(0),
        grain_ms: 60_000,
        pieces: Vec::new(),
        former: None,
        clients: Vec::new(),
        clients_left_out: 0,
        strip: Strip::Holds(Vec::new()),
        gaps: Vec::new(),
        known: 1_000,
        happened: Vec::new(),
        holds_left_out: Some(0),
        has_more_facts: false,
        incident: None,
    }
}

fn markup(view: &OverTimeView) -> String {
    let of = OverTime::Found(Box::new(view.clone()));
    Owner::new_root(None).with(|| over_time_markup(&of, &view.choice, view.now_ms))
}

fn client(name: &str) -> ClientShare {
    ClientShare { name: name.to_owned(), held_ms: 60_000 }
}

fn bar(from_ms: i64, to_ms: i64, client: usize) -> Bar {
    Bar { from_ms, to_ms, client: Some(client), is_going_on: false }
}

#[test]
fn nothing_that_happened_is_said() {
    let html = markup(&empty());
    assert!(
        html.contains("Nobody held it or waited.") && html.contains("Nothing happened here in this range."),
        "{html}"
    );
    let unknown = OverTimeView { known: 0, ..empty() };
    assert!(
        markup(&unknown).contains("Nothing of this range is recorded.") && !markup(&unknown).contains("Nobody held")
    );
}

#[test]
fn what_comes_from_outside_is_text() {
    let hold = Hold {
        label: Some(HOSTILE.to_owned()),
        held_at_ms: Some(5),
        hold_ms: Some(9),
        how: "released".into(),
        ..Hold::default()
    };
    let view = OverTimeView {
        choice: Choice::of("eu", "/a<b>\"&c"),
        clients: vec![client(HOSTILE)],
        strip: Strip::Holds(vec![bar(0, HOUR_MS, 0)]),
        gaps: vec![Missing { from_ms: 5, to_ms: 9, why: HOSTILE.to_owned() }],
        happened: vec![What::Hold(Box::new(hold))],
        ..empty()
    };
    let html = markup(&view);
    assert!(!html.contains("<script") && !html.contains("a<b>") && !html.contains("\u{202e}"), "{html}");
    assert!(html.contains("path=%2Fa%3Cb%3E%22%26c&amp;range=6h#over-time"), "{html}");
    assert!(!html.contains("style=\""), "the policy forbids it");
}

#[test]
fn bars_lead_to_moments_that_can_be_shown() {
    let view = OverTimeView {
        choice: Choice { former: Some(Former::Day), ..Choice::of("", "/a") },
        clients: vec![client("anna"), client("bert")],
        strip: Strip::Holds(vec![bar(60_000, 600_000, 0), bar(600_000, 1_200_000, 1), bar(1_210_000, 1_300_000, 0)]),
        kept_from_ms: Some(500_000),
        gaps: vec![Missing { from_ms: 1_200_000, to_ms: 1_250_000, why: "x".to_owned() }],
        ..empty()
    };
    let html = markup(&view);
    let bars: Vec<&str> = html.split("class=\"ot-hold\"").collect();
    assert_eq!(bars.len() - 1, 1, "the first is older than what is kept, the last began in a gap: {html}");
    assert!(html.contains("from=0&amp;to=3600000&amp;compare=1d&amp;at=600000\""), "{html}");
    assert!(html.contains("data-testid=\"ot-not-compared\""));
    let at = OverTimeView { choice: Choice { at_ms: Some(900_000), ..view.choice.clone() }, ..view };
    let html = markup(&at);
    assert!(html.contains("data-testid=\"ot-cursor\" ") || html.contains("class=\"ot-cursor\""), "{html}");
    assert!(html.contains("range=24h&amp;compare=1d&amp;at=900000#over-time"), "another range keeps the moment");
}

#[test]
fn a_month_that_is_full_stays_small() {
    let grain_ms = 10_800_000;
    let piece = |at: i64| Point {
        at_ms: at * grain_ms,
        acquired: 9,
        depth_max: 3,
        wait_ms: Percentiles { p50: Some(1), p95: Some(20), p99: Some(300) },
        hold_ms: Percentiles { p50: Some(5), p95: Some(50), p99: Some(500) },
        worst: if at % 3 == 0 { Verdict::Stuck } else { Verdict::Healthy },
        client: Some(0),
        ..Point::default()
    };
    let shares =
        |at: i64| PieceShares { at_ms: at * grain_ms, held_ms: (0..5).map(|who| (Some(who), 900_000)).collect() };
    let name = |at: usize| client(&format!("{}-{at}", "long".repeat(80)));
    let what = |at: i64| What::Gap(Missing { from_ms: at, to_ms: at + 5, why: "x".repeat(100) });
    let view = OverTimeView {
        choice: Choice::of("", "/a").with_range(Range::Between(0, 240 * grain_ms)),
        range_ms: (0, 240 * grain_ms),
        now_ms: 240 * grain_ms,
        grain_ms,
        pieces: (0..240).map(piece).collect(),
        former: Some((0..240).map(piece).collect()),
        clients: (0..40).map(name).collect(),
        clients_left_out: 9_960,
        strip: Strip::Shares((0..240).map(shares).collect()),
        happened: (0..200).rev().map(what).collect(),
        holds_left_out: None,
        ..empty()
    };
    let html = markup(&view);
    assert!(html.len() < 600_000, "{} bytes", html.len());
    assert!(html.contains("and 9\u{202f}992 others") && html.contains("more older holds than were counted"));
    let wide =
        OverTimeView { strip: Strip::Holds((0..400).map(|at| bar(at * 9_000, at * 9_000, 0)).collect()), ..empty() };
    assert!(markup(&wide).len() < 400_000);
}

#[test]
fn what_can_not_be_drawn_says_why() {
    let choice = Choice::of("", "/a");
    let of = |state: &OverTime| Owner::new_root(None).with(|| over_time_markup(state, &choice, 5));
    assert!(of(&OverTime::Off).contains("History is off: set history"));
    let refused = of(&OverTime::Refused("<b>".to_owned()));
    assert!(refused.contains("role=\"alert\"") && refused.contains("&lt;b&gt;") && refused.contains("range=1h"));
}

#[test]
fn what_is_wrong_now_leads_to_its_incident() {
    let said = ("It has been stuck: the 3rd time. <b>".to_owned(), "/incident?id=1f&ensemble=a".to_owned());
    let view = OverTimeView { incident: Some(said), ..empty() };
    let html = over_time_markup(&OverTime::Found(Box::new(view)), &Choice::of("", "/a"), 0);
    assert!(html.contains("href=\"/incident?id=1f&amp;ensemble=a\"") && html.contains("&lt;b&gt;"), "{html}");
}
