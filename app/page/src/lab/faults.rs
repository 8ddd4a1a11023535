//! What may be made to go wrong in a run, and what was.

use crate::erase::view;
use leptos::prelude::*;

use super::LabSight;
use super::words::{fault, name, thrown_into};
use crate::exact::Exact;
use crate::form_token::form_token;
use crate::format::{clock, middle, visible};
use crate::parts::{Columns, Table, lock_url};
use lockscope_view::{Fault, LabRun, LabState, ThrownFault};

/// Longest path in a cell; the whole is in its title.
const PATH_CHARS: usize = 56;

pub(super) fn faults(run: &LabRun, sight: LabSight) -> Option<AnyView> {
    let buttons = (sight.may_run && run.state == LabState::Running).then(|| throw(run));
    let thrown = (!run.faults.is_empty()).then(|| thrown(run));
    (buttons.is_some() || thrown.is_some()).then(|| {
        view! {
            <section class="lab-faults" data-key="faults">
                <h2 class="lab-part">"Faults"</h2>
                {buttons}
                {thrown}
            </section>
        }
    })
}

/// One button each, in one form.
fn throw(run: &LabRun) -> AnyView {
    let options = run
        .strategies
        .iter()
        .map(|lane| view! { <option value=lane.name.name()>{name(lane.name)}</option> })
        .collect_view();
    let button = |kind: Fault| {
        let (text, then) = fault(kind);
        let described = format!("fault-{kind}");
        view! {
            <li>
                <button
                    class="tool"
                    type="submit"
                    name="fault"
                    value=kind.name()
                    aria-describedby=described.clone()
                    data-testid=described.clone()
                >{text}</button>
                <span class="lab-then" id=described>{then}</span>
            </li>
        }
    };
    view! {
        <form class="lab-fault-form" method="post" action="/lab/fault" data-key="throw">
            {form_token("/lab/fault")}
            <input type="hidden" name="run" value=Exact(run.id.clone()) />
            <label class="field">
                <span class="field-name">"Throw into"</span>
                <select class="select" name="strategy">{options}</select>
            </label>
            <ul class="lab-throw">{Fault::ALL.map(button).collect_view()}</ul>
        </form>
    }
}

fn thrown(run: &LabRun) -> AnyView {
    const COLUMNS: Columns = &[("When", ""), ("What", ""), ("Where", ""), ("The board should show", "")];
    let rows = run.faults.iter().rev().map(|thrown| row(run, thrown)).collect_view();
    view! { <Table class="table lab-thrown" testid="lab-thrown" columns=COLUMNS rows=rows /> }
}

fn row(run: &LabRun, thrown: &ThrownFault) -> AnyView {
    let lock = run
        .strategies
        .iter()
        .find(|lane| lane.name == thrown.strategy)
        .map(|lane| lane.path.as_str())
        .unwrap_or_default();
    let href = lock_url(&run.ensemble, lock);
    let whole = visible(if thrown.path.is_empty() { lock } else { &thrown.path });
    view! {
        <tr data-fault=thrown.fault.name()>
            <td>{clock(thrown.at_ms)}</td>
            <td><strong>{fault(thrown.fault).0}</strong></td>
            <td>
                {thrown_into(thrown)}
                <div><code><a class="lab-lock" href=href title=whole.clone()><bdi>{middle(&whole, PATH_CHARS)}</bdi></a></code></div>
            </td>
            <td class="lab-expect">{visible(&thrown.expect)}</td>
        </tr>
    }
}
