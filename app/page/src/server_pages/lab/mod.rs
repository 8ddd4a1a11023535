//! The lab's pages: the runs that are kept with the form that starts one, and a page around each run.

mod form;
mod list;
#[cfg(test)]
mod tests;

pub use form::LabDraft;

use crate::erase::view;
use leptos::prelude::*;

use super::{ServerPage, moving, page};
use crate::exact::Exact;
use crate::format::visible;
use crate::lab::words::is_under_way;
use crate::lab::{LabSight, run_view, title};
use crate::parts::{filled, mark};
use lockscope_view::{LabRun, LabRuns};

#[derive(Clone, Debug)]
pub struct LabView {
    /// Runs and ensembles that this person may see.
    pub runs: LabRuns,
    /// Some ensemble allows the lab, seen by this person or not.
    pub has_lab: bool,
    pub may_run: bool,
    pub can_sign_in: bool,
    pub draft: LabDraft,
    /// Why what was ordered did not start; empty for nothing.
    pub error: String,
}

/// Address of a run, without the host.
pub fn run_url(id: &str) -> String {
    format!("/lab?{}", form_urlencoded::Serializer::new(String::new()).append_pair("run", id).finish())
}

pub fn lab_page(plain: &ServerPage<'_>, view: &LabView) -> String {
    page(plain, "Lab", "lab", 0, || view! { <div class="lab">{list::list(view)}</div> })
}

/// One run, as of `now_ms`. `share` is its whole address; `error` says why a button did nothing, empty for nothing.
pub fn lab_run_page(
    page_of: &ServerPage<'_>,
    run: &LabRun,
    sight: LabSight,
    now_ms: i64,
    share: &str,
    error: &str,
) -> String {
    let is_moving = is_under_way(run.state);
    let title = format!("{} · Lab", title(&run.order));
    let content = || {
        let lost =
            is_moving.then(|| view! { <p class="lab-lost" id="lab-lost" role="status" data-testid="lab-lost"></p> });
        view! {
            <div class="lab">
                <p class="lab-back"><a href="/lab">"The lab: all runs, and how to start one"</a></p>
                {problem(error)}
                {lost}
                <div id="lab-live" class="lab-living" data-run=Exact(run.id.clone()) data-may-run=mark(sight.may_run) data-has-many=mark(sight.has_many)>
                    {run_view(run, sight)}
                </div>
                {links(run, share)}
            </div>
        }
    };
    if is_moving {
        moving(page_of, &title, "lab", now_ms, content)
    } else {
        page(page_of, &title, "lab", now_ms, content)
    }
}

pub fn lab_gone_page(plain: &ServerPage<'_>, id: &str) -> String {
    let words = format!(
        "There is no run {}. Only the newest are kept; this one was dropped for newer ones, or the address is wrong.",
        visible(id)
    );
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

fn problem(error: &str) -> Option<AnyView> {
    filled(error).map(|error| view! { <p class="notice" role="alert" data-testid="lab-error">{visible(error)}</p> })
}

/// Ways to take it along; they do not change.
fn links(run: &LabRun, share: &str) -> AnyView {
    let file = |end: &str, kind: &'static str, text: &'static str| {
        let (href, name) =
            (format!("/api/v1/lab/runs/{}{end}", encoded(&run.id)), Exact(format!("lab-{}.{kind}", run.id)));
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
