//! The head of a run: what it is, how far it is, and the button that stops it.

use crate::erase::view;
use leptos::prelude::*;

use super::LabSight;
use super::words::{self, is_under_way, state};
use crate::exact::Exact;
use crate::form_token::form_token;
use crate::format::{duration, visible};
use crate::live::Live;
use crate::parts::{filled, shortened, shortened_code, stamp};
use lockscope_view::{LabRun, LabState, Lane};

/// Longest path or name in a line; the whole is in its title.
const NAME_CHARS: usize = 64;

pub(super) fn head(run: &LabRun, sight: LabSight) -> AnyView {
    let why = filled(&*run.why).map(|why| {
        let kind = if run.state == LabState::Failed { "failed" } else { "stopped" };
        view! { <p class="lab-why" data-kind=kind data-testid="lab-why">{visible(why)}</p> }
    });
    view! {
        <header class="lab-head">
            <div class="lab-top">
                <h1 class="lab-title">{words::title(&run.order)}</h1>
                <span class="lab-state" role="status" data-testid="lab-state" data-state=run.state.name()>{state(run.state)}</span>
                {stop(run, sight)}
            </div>
            {facts(run, sight)}
            {progress(run)}
            {why}
        </header>
    }
}

fn facts(run: &LabRun, sight: LabSight) -> AnyView {
    let name = |text: &str| shortened(text, NAME_CHARS);
    let seed = run.order.seed.map(words::seed).unwrap_or_default();
    view! {
        <p class="lab-facts">
            {words::facts(&run.order)}
            {shortened_code(&run.root, NAME_CHARS)}
            {sight.has_many.then(|| view! { " on " {name(&run.ensemble)} })}
            " · by "
            {name(&run.by)}
            " · "
            {stamp(run.ordered_at_ms)}
            {seed}
        </p>
    }
}

fn progress(run: &LabRun) -> AnyView {
    let sum = |part: fn(&Lane) -> u64| run.strategies.iter().map(part).sum::<u64>();
    let (got, wanted) = (sum(|lane| lane.acquisitions), sum(|lane| lane.acquisitions_wanted));
    let width = if wanted == 0 { 0.0 } else { (got as f64 * 1_000.0 / wanted as f64).min(1_000.0) };
    let (live, began_ms, ended_ms) = (Live::of_app(), run.ordered_at_ms, run.ended_at_ms);
    let took = move || duration(ended_ms.unwrap_or_else(|| live.now_ms()).saturating_sub(began_ms));
    view! {
        <svg class="lab-bar" viewBox="0 0 1000 4" preserveAspectRatio="none" aria-hidden="true" data-state=run.state.name()>
            <rect class="lab-bar-all" width="1000" height="4"></rect>
            <rect class="lab-bar-done" width=format!("{width:.0}") height="4"></rect>
        </svg>
        <p class="lab-progress" data-testid="lab-progress">
            <span>{words::acquisitions(got, wanted)}</span>
            <span class="lab-took">{took}</span>
        </p>
    }
}

fn stop(run: &LabRun, sight: LabSight) -> Option<AnyView> {
    (sight.may_run && is_under_way(run.state)).then(|| {
        view! {
            <form class="lab-stop" method="post" action="/lab/stop">
                {form_token("/lab/stop")}
                <input type="hidden" name="run" value=Exact(run.id.clone()) />
                <button class="tool" type="submit" data-testid="lab-stop">"Stop this run"</button>
            </form>
        }
    })
}
