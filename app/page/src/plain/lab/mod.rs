//! The lab's pages, drawn by the server as text. A run's content is one piece, [`lab_drawn`]: the document holds it, and
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

use super::{Plain, document, following};
use crate::format::visible;
use crate::html::Html;
use lockscope_wire::{LabRun, LabRuns};

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
pub fn lab_page(plain: &Plain<'_>, view: &LabView) -> String {
    document(plain, "Lab", "lab", Html::tag("div", &[("class", "lab")], list::list(view)))
}

/// One run. `share` is its whole address; `error` says why a button did nothing, empty for nothing.
pub fn lab_run_page(plain: &Plain<'_>, run: &LabRun, sight: &LabSight, share: &str, error: &str) -> String {
    let error = if error.is_empty() {
        Html::default()
    } else {
        Html::of("p", &[("class", "notice"), ("role", "alert"), ("data-testid", "lab-error")], error)
    };
    let back = Html::tag("p", &[("class", "lab-back")], Html::of("a", &[("href", "/lab")], "The lab: all runs, and how to start one"));
    let is_moving = words::is_under_way(run.state);
    let lost = Html::tag("p", &[("class", "lab-lost"), ("id", "follow-lost"), ("role", "status"), ("data-testid", "lab-lost")], Html::default());
    let living = Html::tag("div", &[("id", "follow"), ("class", "lab-living")], drawn(run, sight));
    let inner = vec![back, error, if is_moving { lost } else { Html::default() }, living, links(run, share)];
    let (inner, title) = (Html::tag("div", &[("class", "lab")], Html::all(inner)), format!("{} · Lab", head::title(&run.order)));
    if is_moving { following(plain, &title, "lab", inner) } else { document(plain, &title, "lab", inner) }
}

/// The content of a run's page.
pub fn lab_drawn(run: &LabRun, sight: &LabSight) -> String {
    drawn(run, sight).into_string()
}

/// A run that is not there.
pub fn lab_gone_page(plain: &Plain<'_>, id: &str) -> String {
    let words = format!("There is no run {}. Only the newest are kept; this one was dropped for newer ones, or the address is wrong.", visible(id));
    let inner = vec![
        Html::of("h1", &[("class", "lab-title")], "This run is gone"),
        Html::of("p", &[("class", "lab-lead"), ("data-testid", "lab-gone")], &words),
        Html::tag("p", &[], Html::of("a", &[("href", "/lab")], "The runs that are kept")),
    ];
    document(plain, "Lab", "lab", Html::tag("div", &[("class", "lab")], Html::all(inner)))
}

fn drawn(run: &LabRun, sight: &LabSight) -> Html {
    let next = if words::is_under_way(run.state) {
        let mut query = form_urlencoded::Serializer::new(String::new());
        format!("/lab/drawn?{}", query.append_pair("run", &run.id).append_pair("after", &run.revision.to_string()).finish())
    } else {
        String::new()
    };
    let conclusion = if run.conclusion.is_empty() {
        Html::default()
    } else {
        Html::of("p", &[("class", "lab-conclusion"), ("data-key", "conclusion"), ("data-testid", "lab-conclusion")], &words::spoken(&run.conclusion))
    };
    let inner = vec![
        head::head(run, sight),
        lanes::lanes(&run.strategies),
        conclusion,
        figures::figures(run),
        faults::faults(run, sight),
        Html::tag("div", &[("class", "lab-result"), ("data-key", "result")], Html::all(vec![table::table(run), aside(run)])),
    ];
    Html::tag("div", &[("class", "lab-run"), ("data-next", &next), ("data-state", run.state.name()), ("data-testid", "lab-run")], Html::all(inner))
}

/// What to know beside the figures.
fn aside(run: &LabRun) -> Html {
    let title = Html::of("h2", &[("class", "lab-part")], "What limits the figures");
    Html::tag("div", &[("class", "lab-aside")], Html::all(vec![title, validity(run), members(run)]))
}

/// What limits the figures.
fn validity(run: &LabRun) -> Html {
    let lag = run.loop_lag_ms;
    let own = if lag.count == 0 {
        Html::default()
    } else {
        let least = run.strategies.iter().filter(|lane| lane.handoff_ms.count > 0).map(|lane| lane.handoff_ms.p99).fold(f64::INFINITY, f64::min);
        let then = if lag.p99 > least { "; that is more than a hand-off took, so the times say more of this machine than of the lock" } else { "" };
        let text = format!(
            "Our own timers were late by {} at the median, {} at p99, {} at most{then}.",
            words::millis(lag.p50),
            words::millis(lag.p99),
            words::millis(lag.max)
        );
        Html::of("li", &[("data-testid", "lab-lag")], &text)
    };
    let mut lines = vec![own];
    lines.extend(run.notes.iter().map(|note| Html::of("li", &[], note)));
    Html::tag("ul", &[("class", "bullets lab-notes")], Html::all(lines))
}

/// The members' own counters; only once nothing is redrawn, since a redrawn one would close under the reader.
fn members(run: &LabRun) -> Html {
    if run.server.is_empty() || words::is_under_way(run.state) {
        return Html::default();
    }
    let row = |counter: &lockscope_wire::ServerCounter| {
        let cells = vec![
            Html::tag("td", &[], Html::of("code", &[], &counter.member)),
            Html::tag("td", &[], Html::of("code", &[], &counter.name)),
            Html::of("td", &[("class", "table-number")], &signed(counter.grew)),
        ];
        Html::tag("tr", &[], Html::all(cells))
    };
    let table = Html::table(
        "table lab-members",
        "lab-members",
        &[("Member", ""), ("Counter", ""), ("Grew by", "table-number")],
        run.server.iter().map(row).collect(),
    );
    let inner = vec![
        Html::of("summary", &[], "What the members counted meanwhile"),
        Html::of("p", &[("class", "quiet")], "By `mntr`, before and after; everybody else’s traffic is in it too."),
        table,
    ];
    Html::tag("details", &[("class", "lab-more"), ("data-key", "members")], Html::all(inner))
}

fn signed(number: i64) -> String {
    let digits = crate::format::count(number.unsigned_abs());
    if number < 0 { format!("−{digits}") } else { digits }
}

/// Ways to take it along; they do not change.
fn links(run: &LabRun, share: &str) -> Html {
    let file = |end: &str, kind: &str, text: &str| {
        let (href, name) = (format!("/api/v1/lab/runs/{}{end}", encoded(&run.id)), format!("lab-{}.{kind}", run.id));
        Html::of("a", &[("class", "tool"), ("href", &href), ("download", &name)], text)
    };
    let inner = vec![
        Html::tag("div", &[("class", "lab-files")], Html::all(vec![file("", "json", "JSON"), file(".csv", "csv", "CSV")])),
        Html::tag(
            "p",
            &[("class", "lab-share")],
            Html::all(vec![Html::text("To share: "), Html::of("code", &[("data-testid", "lab-share")], share)]),
        ),
    ];
    Html::tag("footer", &[("class", "lab-foot")], Html::all(inner))
}

/// One piece of a path.
fn encoded(piece: &str) -> String {
    form_urlencoded::byte_serialize(piece.as_bytes()).collect()
}
