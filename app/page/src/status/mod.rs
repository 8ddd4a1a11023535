//! The status page: how Lockscope itself is doing.

mod ensemble;
mod members;
mod summary_words;
mod words;

use leptos::prelude::*;

use super::erase::{dynamic, view};
use super::format::{count, visible};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Age, Chrome, Pair, use_keys};
use super::sections::ServerSection;
use ensemble::ensemble;
use lockscope_view::{ConfigStatus, Freshness, Status, StatusQuery};
use summary_words::summary;

#[component]
pub(crate) fn StatusPage() -> AnyView {
    let live = Live::of_app();
    let first = initial_view(|source| source.status());
    live.open(StatusQuery, first);
    use_keys(|_| false);
    let page = move || {
        let is_fresh = live.freshness() != Freshness::Stale;
        live.status(|status| page(status, is_fresh)).unwrap_or_else(|| view! { <p class="quiet">"Not read yet."</p> })
    };
    view! {
        <Chrome here="status" title="Status">
            <h1 class="page-title">"Status"</h1>
            {dynamic(page)}
        </Chrome>
    }
}

fn page(status: &Status, is_fresh: bool) -> AnyView {
    let ensembles = status.ensembles.iter().map(ensemble).collect_view();
    let summary = summary(status).dated(is_fresh);
    view! {
        <p class="status-summary" data-testid="summary" data-well=summary.is_well.to_string()>{summary.words}</p>
        {server(status)}
        {ServerSection::Cluster.element()}
        {ensembles}
    }
}

fn settings(config: &ConfigStatus) -> AnyView {
    let path = visible(config.path.as_deref().unwrap_or(words::NO_FILE));
    let error =
        config.error.as_ref().map(|error| view! { <p class="notice" data-testid="config-error">{visible(error)}</p> });
    let waiting = (!config.waits_for_restart.is_empty()).then(|| {
        view! { <p class="quiet">{words::waits_for_restart(&config.waits_for_restart)}</p> }
    });
    view! { {path} ", read " <Age since_ms=Some(config.loaded_at_ms) /> " ago" {error} {waiting} }
}

fn server(status: &Status) -> AnyView {
    view! {
        <section class="part dims" aria-labelledby="server-title">
            <h2 class="part-title" id="server-title">"Lockscope"</h2>
            <dl class="pairs">
                <Pair term="Version" value=visible(&status.version) />
                <Pair term="Live protocol" value=status.protocol.to_string() />
                <Pair term="Running for" value=view! { <Age since_ms=Some(status.started_at_ms) /> } />
                <Pair term="Updates applied" value=count(status.seq) />
                <Pair term="Releases" value=words::releases(status.read_only) />
                <Pair term="Settings" value=settings(&status.config) />
            </dl>
        </section>
    }
}
