//! The lab's first page: what it is, the presets and the form, and the runs that are kept.

use super::form::{form, presets};
use super::words::{is_under_way, name, state};
use super::{LabView, run_url};
use crate::format::{count, date, middle, visible};
use crate::html::Html;
use lockscope_wire::LabBrief;

/// Longest name in a cell; the whole is in its title.
const NAME_CHARS: usize = 32;
/// What switches the lab on.
const SETTINGS: &[&str] = &["[lab]", "ensembles = [\"default\"]"];

pub(super) fn list(view: &LabView) -> Html {
    let error = if view.error.is_empty() {
        Html::default()
    } else {
        Html::of("p", &[("class", "notice"), ("role", "alert"), ("data-testid", "lab-error")], &view.error)
    };
    let lead = "One lock, many clients, two ways to wait. The herd watches one and the same place, so each release wakes everybody; \
                in the predecessor’s queue it wakes one. Here real sessions of real ZooKeeper clients do both, and what that costs is counted on the wire.";
    let inner = vec![
        Html::of("h1", &[("class", "lab-title")], "The lab"),
        Html::of("p", &[("class", "lab-lead")], lead),
        error,
        under_way(view),
        start(view),
        kept(view),
    ];
    Html::all(inner)
}

/// The run that goes on now.
fn under_way(view: &LabView) -> Html {
    let Some(run) = view.runs.runs.iter().find(|run| is_under_way(run.state)) else { return Html::default() };
    let line = vec![
        Html::text("A run is under way, and there is one at a time: "),
        Html::of("a", &[("href", &run_url(&run.id))], "watch it"),
        Html::text("."),
    ];
    Html::tag("p", &[("class", "notice")], Html::all(line))
}

fn start(view: &LabView) -> Html {
    if view.runs.ensembles.is_empty() {
        return off(view.has_lab);
    }
    if !view.may_run {
        let words = if view.can_sign_in {
            "Operators may start a run. "
        } else {
            "Operators may start a run, and nobody can sign in here; `lockscope token new` makes a token."
        };
        let link =
            if view.can_sign_in { Html::of("a", &[("href", "/sign-in?next=%2Flab")], "Sign in as operator to start one.") } else { Html::default() };
        return Html::tag("p", &[("class", "lab-viewer"), ("data-testid", "lab-viewer")], Html::all(vec![Html::text(words), link]));
    }
    let inner = vec![
        Html::of("h2", &[("class", "lab-part")], "Start a run"),
        presets(view),
        Html::of("h2", &[("class", "lab-part")], "Or set it up yourself"),
        form(view),
    ];
    Html::all(inner)
}

/// The lab is off, or off for this person.
fn off(has_lab: bool) -> Html {
    if has_lab {
        let words = "The lab is on, for ensembles that you may not see. Ask an administrator for a wider scope.";
        return Html::of("p", &[("class", "notice"), ("data-testid", "lab-off")], words);
    }
    let lines = SETTINGS.iter().flat_map(|line| [Html::text(line), Html::trusted("\n")]).collect();
    let inner = vec![
        Html::of("h2", &[("class", "lab-part")], "The lab is off"),
        Html::of(
            "p",
            &[],
            "It opens sessions and makes znodes, so somebody has to allow it for an ensemble. Add this to the configuration and start the server again:",
        ),
        Html::tag("pre", &[("class", "lab-settings"), ("tabindex", "0")], Html::all(lines)),
        Html::tag(
            "p",
            &[],
            Html::all(vec![Html::text("Or look at it with a private ZooKeeper: "), Html::of("code", &[], "lockscope demo"), Html::text(".")]),
        ),
    ];
    Html::tag("section", &[("class", "lab-off"), ("data-testid", "lab-off")], Html::all(inner))
}

fn kept(view: &LabView) -> Html {
    let title = Html::of("h2", &[("class", "lab-part")], "Runs");
    if view.runs.runs.is_empty() {
        return Html::all(vec![title, Html::of("p", &[("class", "quiet")], "There was none yet.")]);
    }
    let columns = [("When", ""), ("State", ""), ("Clients", "table-number"), ("Strategies", ""), ("Result", ""), ("By", "")];
    let rows = view.runs.runs.iter().map(row).collect();
    Html::all(vec![title, Html::table("table lab-runs", "lab-runs", &columns, rows)])
}

fn row(run: &LabBrief) -> Html {
    let cell = |class: &str, inner: Html| Html::tag("td", &[("class", class)], inner);
    let names: Vec<&str> = run.strategies.iter().map(|strategy| name(*strategy)).collect();
    let cells = vec![
        cell("", Html::of("a", &[("href", &run_url(&run.id))], &date(run.ordered_at_ms))),
        cell("", Html::of("span", &[("class", "lab-lane-state"), ("data-state", run.state.name())], state(run.state))),
        cell("table-number", Html::text(&count(run.clients))),
        cell("lab-wide", Html::text(&names.join(", "))),
        cell("lab-wide", Html::text(&run.conclusion)),
        cell("", Html::of("bdi", &[("title", &visible(&run.by))], &middle(&visible(&run.by), NAME_CHARS))),
    ];
    Html::tag("tr", &[("data-run", &run.id)], Html::all(cells))
}
