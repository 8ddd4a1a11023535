//! What may be made to go wrong in a run, and what was.

use super::LabSight;
use super::words::{fault, name};
use crate::format::{clock, middle, visible};
use crate::html::Html;
use lockscope_wire::{Fault, LabRun, LabState, LockQuery, ThrownFault};

/// Longest path in a cell; the whole is in its title.
const PATH_CHARS: usize = 56;

pub(super) fn faults(run: &LabRun, sight: &LabSight) -> Html {
    let buttons = if sight.may_run && run.state == LabState::Running { throw(run) } else { Html::default() };
    let thrown = if run.faults.is_empty() { Html::default() } else { thrown(run) };
    if buttons == Html::default() && thrown == Html::default() {
        return Html::default();
    }
    let inner = vec![Html::of("h2", &[("class", "lab-part")], "Faults"), buttons, thrown];
    Html::tag("section", &[("class", "lab-faults"), ("data-key", "faults")], Html::all(inner))
}

/// One button each, in one form.
fn throw(run: &LabRun) -> Html {
    let id = Html::tag("input", &[("type", "hidden"), ("name", "run"), ("value", &run.id)], Html::default());
    let options = run.strategies.iter().map(|lane| Html::of("option", &[("value", lane.name.name())], name(lane.name))).collect();
    let select = Html::tag("select", &[("class", "select"), ("name", "strategy")], Html::all(options));
    let lane = Html::tag("label", &[("class", "field")], Html::all(vec![Html::of("span", &[("class", "field-name")], "Throw into"), select]));
    let button = |kind: &Fault| {
        let (text, then) = fault(*kind);
        let described = format!("fault-{kind}");
        let button = [
            ("class", "tool"),
            ("type", "submit"),
            ("name", "fault"),
            ("value", kind.name()),
            ("aria-describedby", &*described),
            ("data-testid", &*described),
        ];
        let inner = vec![Html::of("button", &button, text), Html::of("span", &[("class", "lab-then"), ("id", &described)], then)];
        Html::tag("li", &[], Html::all(inner))
    };
    let list = Html::tag("ul", &[("class", "lab-throw")], Html::all(Fault::ALL.iter().map(button).collect()));
    let form = [("class", "lab-fault-form"), ("method", "post"), ("action", "/lab/fault"), ("data-key", "throw")];
    Html::tag("form", &form, Html::all(vec![id, lane, list]))
}

fn thrown(run: &LabRun) -> Html {
    let rows = run.faults.iter().rev().map(|thrown| row(run, thrown)).collect();
    let columns = [("When", ""), ("What", ""), ("Where", ""), ("The board should tell", "")];
    Html::table("table lab-thrown", "lab-thrown", &columns, rows)
}

fn row(run: &LabRun, thrown: &ThrownFault) -> Html {
    let cell = |inner: Html| Html::tag("td", &[], inner);
    let lock = run.strategies.iter().find(|lane| lane.name == thrown.strategy).map(|lane| lane.path.as_str()).unwrap_or_default();
    let href = LockQuery { ensemble: run.ensemble.clone(), path: lock.to_owned(), ..LockQuery::default() }.to_url();
    let client = thrown.client.map(|client| format!(", client {}", client + 1)).unwrap_or_default();
    let whole = if thrown.path.is_empty() { lock } else { &thrown.path };
    let place = vec![
        Html::text(&format!("{}{client}", name(thrown.strategy))),
        Html::tag("div", &[], Html::tag("code", &[], Html::link("lab-lock", &href, whole, &middle(&visible(whole), PATH_CHARS)))),
    ];
    let cells = vec![
        cell(Html::text(&clock(thrown.at_ms))),
        cell(Html::of("strong", &[], fault(thrown.fault).0)),
        cell(Html::all(place)),
        Html::of("td", &[("class", "lab-expect")], &thrown.expect),
    ];
    Html::tag("tr", &[("data-fault", thrown.fault.name())], Html::all(cells))
}
