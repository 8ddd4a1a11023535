//! The two charts of a run.

use super::lanes::mark;
use super::words::{millis, name};
use crate::charts::latency::{Hill, latency};
use crate::charts::marks::sign;
use crate::charts::releases::{Series, releases};
use crate::html::Html;
use lockscope_wire::{LabRun, Lane};

pub(super) fn figures(run: &LabRun) -> Html {
    let series: Vec<Series<'_>> =
        run.strategies.iter().map(|lane| Series { lane: lane.name.name(), mark: mark(lane.name), points: &lane.per_release }).collect();
    let hills: Vec<Hill<'_>> = run.strategies.iter().map(hill).collect();
    let names =
        run.strategies.iter().map(|lane| Html::tag("li", &[], Html::all(vec![sign(lane.name.name(), mark(lane.name)), Html::text(name(lane.name))])));
    let inner = vec![
        figure(
            "What one release costs",
            "lab-releases",
            Html::all(vec![releases(run.order.clients, &series), Html::tag("ul", &[("class", "lab-legend")], Html::all(names.collect()))]),
        ),
        figure("How long the lock takes to change hands", "lab-latency", latency(&hills)),
    ];
    Html::tag("div", &[("class", "lab-figures")], Html::all(inner))
}

fn figure(title: &str, testid: &str, inner: Html) -> Html {
    let inner = vec![Html::of("h2", &[("class", "lab-part")], title), inner];
    Html::tag("section", &[("class", "lab-figure"), ("data-testid", testid)], Html::all(inner))
}

fn hill(lane: &Lane) -> Hill<'_> {
    let spread = lane.handoff_ms;
    let known = |ms: f64| (spread.count > 0).then_some(ms * 1_000.0);
    let words = if spread.count == 0 { "no hand-off yet".to_owned() } else { format!("p50 {} · p99 {}", millis(spread.p50), millis(spread.p99)) };
    Hill { lane: lane.name.name(), title: name(lane.name), words, buckets: &lane.handoff_us, p50_us: known(spread.p50), p99_us: known(spread.p99) }
}
