//! A run of the lab: the strategies side by side, what they cost, and what was made to go wrong. The server renders it;
//! while the run is under way the browser draws the same from the live socket.

mod faults;
mod figures;
mod head;
mod lanes;
#[cfg(feature = "hydrate")]
mod live;
mod table;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod words;

use crate::erase::view;
use leptos::prelude::*;

use super::format::visible;
use super::parts::{Columns, Table, filled};
#[cfg(feature = "hydrate")]
pub(crate) use live::draw_live;
use lockscope_view::{LabRun, ServerCounter};
#[cfg(feature = "ssr")]
pub(crate) use words::title;

/// Who looks at a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabSight {
    /// They may stop it and throw faults into it.
    pub may_run: bool,
    /// There are several ensembles, so their names matter.
    pub has_many: bool,
}

pub(crate) fn run_view(run: &LabRun, sight: LabSight) -> AnyView {
    let conclusion = filled(&*run.conclusion).map(|conclusion| {
        view! { <p class="lab-conclusion" data-key="conclusion" data-testid="lab-conclusion">{visible(&words::spoken(conclusion))}</p> }
    });
    view! {
        <div class="lab-run" data-state=run.state.name() data-testid="lab-run">
            {head::head(run, sight)}
            {lanes::lanes(&run.strategies)}
            {conclusion}
            {figures::figures(run)}
            {faults::faults(run, sight)}
            <div class="lab-result" data-key="result">{table::table(run)}{aside(run)}</div>
        </div>
    }
}

fn aside(run: &LabRun) -> AnyView {
    view! {
        <div class="lab-aside">
            <h2 class="lab-part">"What limits the figures"</h2>
            {validity(run)}
            {members(run)}
        </div>
    }
}

/// What limits the figures.
fn validity(run: &LabRun) -> AnyView {
    let lag = run.loop_lag_ms;
    let own = (lag.count > 0).then(|| {
        let least = run
            .strategies
            .iter()
            .filter(|lane| lane.handoff_ms.count > 0)
            .map(|lane| lane.handoff_ms.p99)
            .fold(f64::INFINITY, f64::min);
        view! { <li data-testid="lab-lag">{words::lag(lag, lag.p99 > least)}</li> }
    });
    let notes = run.notes.iter().map(|note| view! { <li>{visible(note)}</li> }).collect_view();
    view! { <ul class="bullets lab-notes">{own}{notes}</ul> }
}

/// The members' own counters, once all of them are there.
fn members(run: &LabRun) -> Option<AnyView> {
    const COLUMNS: Columns = &[("Member", ""), ("Counter", ""), ("Grew by", "table-number")];
    let row = |counter: &ServerCounter| {
        view! {
            <tr>
                <td><code>{visible(&counter.member)}</code></td>
                <td><code>{visible(&counter.name)}</code></td>
                <td class="table-number">{signed(counter.grew)}</td>
            </tr>
        }
    };
    let are_shown = !run.server.is_empty() && !words::is_under_way(run.state);
    are_shown.then(|| {
        view! {
            <details class="lab-more" data-key="members">
                <summary>"What the members counted meanwhile"</summary>
                <p class="quiet">"By `mntr`, before and after; everybody else’s traffic is in it too."</p>
                <Table class="table lab-members" testid="lab-members" columns=COLUMNS rows=run.server.iter().map(row).collect_view() />
            </details>
        }
    })
}

fn signed(number: i64) -> String {
    let digits = crate::format::count(number.unsigned_abs());
    if number < 0 { format!("−{digits}") } else { digits }
}
