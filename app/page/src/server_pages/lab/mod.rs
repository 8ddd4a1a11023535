//! The lab's pages, drawn by the server. A run's content is one piece, [`lab_drawn`]: the document holds it, and
//! while the run is under way the browser fetches it again and again and brings the document in line.

mod faults;
mod figures;
mod form;
mod head;
mod lanes;
mod list;
#[cfg(test)]
mod samples;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use form::LabDraft;

use leptos::prelude::*;

use super::{ServerPage, following, page};
use crate::exact::Exact;
use crate::format::visible;
use crate::parts::{Columns, Table, filled};
use lockscope_wire::{LabRun, LabRuns, ServerCounter};

/// Who looks at a run, and when.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabSight {
    /// They may stop it and throw faults into it.
    pub may_run: bool,
    /// There are several ensembles, so that their names tell something.
    pub has_many: bool,
    /// Now.
    pub now_ms: i64,
}

/// What the lab's first page shows.
#[derive(Clone, Debug)]
pub struct LabView {
    /// Runs and ensembles that this person may see.
    pub runs: LabRuns,
    /// Some ensemble allows the lab, seen by this person or not.
    pub has_lab: bool,
    /// They may start runs.
    pub may_run: bool,
    /// There is a way to sign in.
    pub can_sign_in: bool,
    /// What stands in the form.
    pub draft: LabDraft,
    /// Why what was ordered did not start; empty for nothing.
    pub error: String,
}

/// Address of a run, without the host.
pub fn run_url(id: &str) -> String {
    format!("/lab?{}", form_urlencoded::Serializer::new(String::new()).append_pair("run", id).finish())
}

/// The lab's first page.
pub fn lab_page(plain: &ServerPage<'_>, view: &LabView) -> String {
    page(plain, "Lab", "lab", 0, || view! { <div class="lab">{list::list(view)}</div> })
}

/// One run. `share` is its whole address; `error` says why a button did nothing, empty for nothing.
pub fn lab_run_page(plain: &ServerPage<'_>, run: &LabRun, sight: &LabSight, share: &str, error: &str) -> String {
    let is_moving = words::is_under_way(run.state);
    let title = format!("{} · Lab", head::title(&run.order));
    let content = || {
        let lost = is_moving.then(|| view! { <p class="lab-lost" id="follow-lost" role="status" data-testid="lab-lost"></p> });
        view! {
            <div class="lab">
                <p class="lab-back"><a href="/lab">"The lab: all runs, and how to start one"</a></p>
                {problem(error)}
                {lost}
                <div id="follow" class="lab-living">{drawn(run, sight)}</div>
                {links(run, share)}
            </div>
        }
    };
    if is_moving { following(plain, &title, "lab", sight.now_ms, content) } else { page(plain, &title, "lab", sight.now_ms, content) }
}

/// The content of a run's page.
pub fn lab_drawn(run: &LabRun, sight: &LabSight) -> String {
    super::text(sight.now_ms, || drawn(run, sight))
}

/// A run that is not there.
pub fn lab_gone_page(plain: &ServerPage<'_>, id: &str) -> String {
    let words = format!("There is no run {}. Only the newest are kept; this one was dropped for newer ones, or the address is wrong.", visible(id));
    page(plain, "Lab", "lab", 0, || {
        view! {
            <div class="lab">
                <h1 class="lab-title">"This run is gone"</h1>
                <p class="lab-lead" data-testid="lab-gone">{words}</p>
                <p><a href="/lab">"The runs that are kept"</a></p>
            </div>
        }
    })
}

/// Why what was asked for was not done; nothing for nothing.
fn problem(error: &str) -> impl IntoView + use<> {
    filled(error).map(|error| view! { <p class="notice" role="alert" data-testid="lab-error">{visible(error)}</p> })
}

fn drawn(run: &LabRun, sight: &LabSight) -> impl IntoView + use<> {
    let next = words::is_under_way(run.state).then(|| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        format!("/lab/drawn?{}", query.append_pair("run", &run.id).append_pair("after", &run.revision.to_string()).finish())
    });
    let conclusion = filled(&*run.conclusion).map(|conclusion| {
        view! { <p class="lab-conclusion" data-key="conclusion" data-testid="lab-conclusion">{visible(&words::spoken(conclusion))}</p> }
    });
    view! {
        <div class="lab-run" data-next=next data-state=run.state.name() data-testid="lab-run">
            {head::head(run, sight)}
            {lanes::lanes(&run.strategies)}
            {conclusion}
            {figures::figures(run)}
            {faults::faults(run, sight)}
            <div class="lab-result" data-key="result">{table::table(run)}{aside(run)}</div>
        </div>
    }
}

/// What to know beside the figures.
fn aside(run: &LabRun) -> impl IntoView + use<> {
    view! {
        <div class="lab-aside">
            <h2 class="lab-part">"What limits the figures"</h2>
            {validity(run)}
            {members(run)}
        </div>
    }
}

/// What limits the figures.
fn validity(run: &LabRun) -> impl IntoView + use<> {
    let lag = run.loop_lag_ms;
    let own = (lag.count > 0).then(|| {
        let least = run.strategies.iter().filter(|lane| lane.handoff_ms.count > 0).map(|lane| lane.handoff_ms.p99).fold(f64::INFINITY, f64::min);
        let then = if lag.p99 > least { "; that is more than a hand-off took, so the times say more of this machine than of the lock" } else { "" };
        let text = format!(
            "Our own timers were late by {} at the median, {} at p99, {} at most{then}.",
            words::millis(lag.p50),
            words::millis(lag.p99),
            words::millis(lag.max)
        );
        view! { <li data-testid="lab-lag">{text}</li> }
    });
    let notes = run.notes.iter().map(|note| view! { <li>{visible(note)}</li> }).collect_view();
    view! { <ul class="bullets lab-notes">{own}{notes}</ul> }
}

/// The members' own counters; only once nothing is redrawn, since a redrawn one would close under the reader.
fn members(run: &LabRun) -> impl IntoView + use<> {
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

/// Ways to take it along; they do not change.
fn links(run: &LabRun, share: &str) -> impl IntoView + use<> {
    let file = |end: &str, kind: &'static str, text: &'static str| {
        let (href, name) = (format!("/api/v1/lab/runs/{}{end}", encoded(&run.id)), Exact(format!("lab-{}.{kind}", run.id)));
        view! { <a class="tool" href=href download=name>{text}</a> }
    };
    view! {
        <footer class="lab-foot">
            <div class="lab-files">{file("", "json", "JSON")}{file(".csv", "csv", "CSV")}</div>
            <p class="lab-share">"To share: " <code data-testid="lab-share">{visible(share)}</code></p>
        </footer>
    }
}

/// One piece of a path.
fn encoded(piece: &str) -> String {
    form_urlencoded::byte_serialize(piece.as_bytes()).collect()
}
