//! The head of a run: what it is, how far it is, and the button that stops it.

use super::LabSight;
use super::words::{is_under_way, spelled, state};
use crate::format::{count, date, duration, middle, plural, visible};
use crate::html::Html;
use lockscope_wire::{LabOrder, LabRun, LabState};

/// Longest path or name in a line; the whole is in its title.
const NAME_CHARS: usize = 64;

pub(super) fn head(run: &LabRun, sight: &LabSight) -> Html {
    let word = Html::of(
        "span",
        &[("class", "lab-state"), ("role", "status"), ("data-testid", "lab-state"), ("data-state", run.state.name())],
        state(run.state),
    );
    let top = vec![Html::of("h1", &[("class", "lab-title")], &title(&run.order)), word, stop(run, sight)];
    let why = if run.why.is_empty() {
        Html::default()
    } else {
        let kind = if run.state == LabState::Failed { "failed" } else { "stopped" };
        Html::of("p", &[("class", "lab-why"), ("data-kind", kind), ("data-testid", "lab-why")], &run.why)
    };
    let inner = vec![Html::tag("div", &[("class", "lab-top")], Html::all(top)), facts(run, sight), progress(run, sight), why];
    Html::tag("header", &[("class", "lab-head")], Html::all(inner))
}

/// `50 clients, one lock, two ways to wait`.
pub(super) fn title(order: &LabOrder) -> String {
    let ways = order.strategies.len();
    let ways = format!("{} {}", spelled(ways), if ways == 1 { "way" } else { "ways" });
    format!("{}, one lock, {ways} to wait", plural(order.clients.into(), "client", "clients"))
}

/// What was ordered, in words.
pub(super) fn ordered(order: &LabOrder) -> String {
    let mut parts = vec![plural(order.rounds.into(), "round", "rounds"), format!("held for {}", duration(order.hold_ms.into()))];
    if order.think_ms > 0 {
        parts.push(format!("away for {} on average", duration(order.think_ms.into())));
    }
    if let Some(ms) = order.duration_ms {
        parts.push(format!("{} at most", duration(ms.into())));
    }
    if order.strategies.len() > 1 {
        parts.push(if order.in_turn { "one strategy after the other" } else { "all strategies at once" }.to_owned());
    }
    parts.join(", ")
}

fn facts(run: &LabRun, sight: &LabSight) -> Html {
    let name = |text: &str| Html::of("bdi", &[("title", &visible(text))], &middle(&visible(text), NAME_CHARS));
    let ensemble = if sight.has_many { Html::all(vec![Html::text(" on "), name(&run.ensemble)]) } else { Html::default() };
    let seed = run.order.seed.map(|seed| format!(" · seed {seed}")).unwrap_or_default();
    let line = vec![
        Html::text(&format!("Each in a session of its own, {} · ", ordered(&run.order))),
        Html::tag("code", &[("title", &visible(&run.root))], Html::of("bdi", &[], &middle(&visible(&run.root), NAME_CHARS))),
        ensemble,
        Html::text(" · by "),
        name(&run.by),
        Html::text(&format!(" · {}{seed}", date(run.ordered_at_ms))),
    ];
    Html::tag("p", &[("class", "lab-facts")], Html::all(line))
}

/// A line that fills, and in words how far it is.
fn progress(run: &LabRun, sight: &LabSight) -> Html {
    let sum = |part: fn(&lockscope_wire::Lane) -> u64| run.strategies.iter().map(part).sum::<u64>();
    let (got, wanted) = (sum(|lane| lane.acquisitions), sum(|lane| lane.acquisitions_wanted));
    let width = if wanted == 0 { 0.0 } else { (got as f64 * 1_000.0 / wanted as f64).min(1_000.0) };
    let width = format!("{width:.0}");
    let bar = |class: &str, width: &str| Html::tag("rect", &[("class", class), ("width", width), ("height", "4")], Html::default());
    let bars = Html::all(vec![bar("lab-bar-all", "1000"), bar("lab-bar-done", &width)]);
    let svg =
        [("class", "lab-bar"), ("viewBox", "0 0 1000 4"), ("preserveAspectRatio", "none"), ("aria-hidden", "true"), ("data-state", run.state.name())];
    let took = duration(run.ended_at_ms.unwrap_or(sight.now_ms).saturating_sub(run.ordered_at_ms));
    let words = format!("{} of {} acquisitions", count(got), count(wanted));
    let line = vec![Html::of("span", &[], &words), Html::of("span", &[("class", "lab-took")], &took)];
    Html::all(vec![Html::tag("svg", &svg, bars), Html::tag("p", &[("class", "lab-progress"), ("data-testid", "lab-progress")], Html::all(line))])
}

fn stop(run: &LabRun, sight: &LabSight) -> Html {
    if !(sight.may_run && is_under_way(run.state)) {
        return Html::default();
    }
    let id = Html::tag("input", &[("type", "hidden"), ("name", "run"), ("value", &run.id)], Html::default());
    let button = Html::of("button", &[("class", "tool"), ("type", "submit"), ("data-testid", "lab-stop")], "Stop this run");
    Html::tag("form", &[("class", "lab-stop"), ("method", "post"), ("action", "/lab/stop")], Html::all(vec![id, button]))
}
