//! The two charts of a run.

use crate::erase::view;
use leptos::prelude::*;

use super::lanes::mark;
use super::words::{hand_offs, name};
use crate::charts::latency::{HandOffCurve, latency};
use crate::charts::marks::Sign;
use crate::charts::releases::{Series, releases};
use lockscope_view::{LabRun, Lane};

pub(super) fn figures(run: &LabRun) -> AnyView {
    let series: Vec<Series<'_>> = run
        .strategies
        .iter()
        .map(|lane| Series { lane: lane.name.name(), mark: mark(lane.name), points: &lane.per_release })
        .collect();
    let hills: Vec<HandOffCurve<'_>> = run.strategies.iter().map(hill).collect();
    let one = |lane: &Lane| view! { <li><Sign lane=lane.name.name() mark=mark(lane.name) />{name(lane.name)}</li> };
    view! {
        <div class="lab-figures">
            <section class="lab-figure" data-testid="lab-releases">
                <h2 class="lab-part">"What one release costs"</h2>
                {releases(run.order.clients, &series)}
                <ul class="lab-legend">{run.strategies.iter().map(one).collect_view()}</ul>
            </section>
            <section class="lab-figure" data-testid="lab-latency">
                <h2 class="lab-part">"How long the lock takes to change hands"</h2>
                {latency(&hills)}
            </section>
        </div>
    }
}

fn hill(lane: &Lane) -> HandOffCurve<'_> {
    let spread = lane.handoff_ms;
    let known = |ms: f64| (spread.count > 0).then_some(ms * 1_000.0);
    HandOffCurve {
        lane: lane.name.name(),
        title: name(lane.name),
        words: hand_offs(spread),
        buckets: &lane.handoff_us,
        p50_us: known(spread.p50),
        p99_us: known(spread.p99),
    }
}
