//! The status page: how Lockscope itself is doing.

mod ensemble;
mod members;

use leptos::prelude::*;

use super::erase::erase;
use super::format::count;
use super::html::{Html, Living};
use super::initial_view::initial_view;
use super::live::Live;
use super::parts::{Chrome, use_keys};
use ensemble::ensemble;
use lockscope_wire::{Body, ConfigStatus, Status, View};

/// The status page.
#[component]
pub(crate) fn StatusPage() -> impl IntoView {
    let live = Live::of_app();
    let first = initial_view(|source| source.status());
    live.open(View::Status {}, first, Body::Status);
    use_keys(|_| false);
    let html =
        move || live.status(|status| page(status, live.now_ms_untracked())).unwrap_or_else(|| Html::of("p", &[("class", "quiet")], "Not read yet."));
    view! {
        <Chrome here="status" title="Status">
            {erase(view! {
                <h1 class="page-title">"Status"</h1>
                <Living class="living" html=Signal::derive(html) />
            })}
        </Chrome>
    }
}

fn page(status: &Status, now_ms: i64) -> Html {
    let mut parts = vec![server(status, now_ms)];
    parts.extend(status.ensembles.iter().map(|row| ensemble(row, now_ms)));
    Html::all(parts)
}

/// Where the settings are from, and what of the file is not in force.
fn settings(config: &ConfigStatus, now_ms: i64) -> Html {
    let path = config.path.as_deref().unwrap_or("flags and environment");
    let mut parts = vec![Html::text(path), Html::text(", read "), Html::age(Some(config.loaded_at_ms), false, now_ms), Html::text(" ago")];
    if let Some(error) = &config.error {
        parts.push(Html::of("p", &[("class", "notice"), ("data-testid", "config-error")], error));
    }
    if !config.waits_for_restart.is_empty() {
        parts.push(Html::of("p", &[("class", "quiet")], &format!("waits for a restart: {}", config.waits_for_restart.join(", "))));
    }
    Html::all(parts)
}

/// The server itself.
fn server(status: &Status, now_ms: i64) -> Html {
    let hands = if status.read_only { "read-only: nothing can be released" } else { "an operator may release locks" };
    let pairs = vec![
        Html::pair("Version", "", Html::text(&status.version)),
        Html::pair("Live protocol", "", Html::text(&status.protocol.to_string())),
        Html::pair("Running for", "", Html::age(Some(status.started_at_ms), false, now_ms)),
        Html::pair("Changes taken in", "", Html::text(&count(status.seq))),
        Html::pair("Hands", "", Html::text(hands)),
        Html::pair("Settings", "", settings(&status.config, now_ms)),
    ];
    let inner = vec![
        Html::of("h2", &[("class", "part-title"), ("id", "server-title")], "Lockscope"),
        Html::tag("dl", &[("class", "pairs")], Html::all(pairs)),
    ];
    Html::tag("section", &[("class", "part dims"), ("aria-labelledby", "server-title")], Html::all(inner))
}
