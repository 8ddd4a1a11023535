//! The lab's first page: what it is, the presets and the form, and the runs that are kept.

use crate::erase::view;
use leptos::prelude::*;

use super::super::words;
use super::form::{form, presets};
use super::{LabView, problem, run_url};
use crate::exact::Exact;
use crate::format::{count, visible};
use crate::lab::words::{is_under_way, name, spoken, state};
use crate::parts::{Columns, Table, shortened, stamp};
use lockscope_view::LabBrief;

/// Longest name in a cell; the whole is in its title.
const NAME_CHARS: usize = 32;
/// What switches the lab on.
const SETTINGS: &str = "[lab]\nensembles = [\"default\"]\n";

pub(super) fn list(view: &LabView) -> AnyView {
    view! {
        <h1 class="lab-title">"The lab"</h1>
        <p class="lab-lead">
            "One lock, many clients, two ways to wait. The herd watches one and the same place, so each release wakes everybody; \
             in the predecessor’s queue it wakes one. Here real sessions of real ZooKeeper clients do both, and what that costs is counted on the wire."
        </p>
        {problem(&view.error)}
        {under_way(view)}
        {start(view)}
        {kept(view)}
    }
}

fn under_way(view: &LabView) -> Option<AnyView> {
    let run = view.runs.runs.iter().find(|run| is_under_way(run.state));
    run.map(|run| {
        view! { <p class="notice">"A run is under way, and there is one at a time: " <a href=run_url(&run.id)>"watch it"</a> "."</p> }
    })
}

fn start(view: &LabView) -> AnyView {
    if view.runs.ensembles.is_empty() {
        return off(view.has_lab);
    }
    if !view.may_run {
        return viewer(view.can_sign_in);
    }
    view! {
        <h2 class="lab-part">"Start a run"</h2>
        {presets(view)}
        <h2 class="lab-part">"Or set it up yourself"</h2>
        {form(view)}
    }
}

/// What those read who may only look.
fn viewer(can_sign_in: bool) -> AnyView {
    let link = can_sign_in.then(|| view! { <a href="/sign-in?next=%2Flab">"Sign in as operator to start one."</a> });
    view! { <p class="lab-viewer" data-testid="lab-viewer">{words::who_may_run(can_sign_in)}{link}</p> }
}

/// The lab is off, or off for this person.
fn off(has_lab: bool) -> AnyView {
    if has_lab {
        return view! {
            <p class="notice" data-testid="lab-off">
                "The lab is on, for ensembles that you may not see. Ask an administrator for a wider scope."
            </p>
        };
    }
    view! {
        <section class="lab-off" data-testid="lab-off">
            <h2 class="lab-part">"The lab is off"</h2>
            <p>
                "It opens sessions and makes znodes, so somebody has to allow it for an ensemble. Add this to the configuration and start the server again:"
            </p>
            <pre class="lab-settings" tabindex="0">{SETTINGS}</pre>
            <p>"Or look at it with a private ZooKeeper: " <code>"lockscope demo"</code> "."</p>
        </section>
    }
}

fn kept(view: &LabView) -> AnyView {
    const COLUMNS: Columns =
        &[("When", ""), ("State", ""), ("Clients", "table-number"), ("Strategies", ""), ("Result", ""), ("By", "")];
    let runs = &view.runs.runs;
    let list = if runs.is_empty() {
        view! { <p class="quiet">"No runs yet."</p> }
    } else {
        view! { <Table class="table lab-runs" testid="lab-runs" columns=COLUMNS rows=runs.iter().map(row).collect_view() /> }
    };
    view! {
        <h2 class="lab-part">"Runs"</h2>
        {list}
    }
}

fn row(run: &LabBrief) -> AnyView {
    let names: Vec<&str> = run.strategies.iter().map(|strategy| name(*strategy)).collect();
    view! {
        <tr data-run=Exact(run.id.clone())>
            <td><a href=run_url(&run.id)>{stamp(run.ordered_at_ms)}</a></td>
            <td><span class="lab-lane-state" data-state=run.state.name()>{state(run.state)}</span></td>
            <td class="table-number">{count(run.clients)}</td>
            <td class="lab-wide">{names.join(", ")}</td>
            <td class="lab-wide">{visible(&spoken(&run.conclusion))}</td>
            <td>{shortened(&run.by, NAME_CHARS)}</td>
        </tr>
    }
}
