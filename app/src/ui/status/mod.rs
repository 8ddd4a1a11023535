//! The status page: how Lockscope itself is doing.

mod ensemble;

use leptos::prelude::*;
use leptos_meta::Title;

use super::at_once::any;
use super::first::first;
use super::live::Live;
use super::parts::{Age, Chrome, use_keys};
use crate::wire::{Body, Status, View};
use ensemble::Ensemble;

/// The status page.
#[component]
pub(crate) fn StatusPage() -> impl IntoView {
    let live = Live::of_app();
    let first = first(|source| source.status());
    live.open(View::Status {}, first, Body::Status);
    use_keys(|_| false);
    let names = Memo::new(move |_| live.status(|status| status.ensembles.iter().map(|ensemble| ensemble.name.clone()).collect::<Vec<_>>()));
    let is_read = move || names.with(Option::is_some);
    view! {
        <Title text="Status · Lockscope" />
        <Chrome here="status">
            {any(view! {
                <h1 class="page-title">"Status"</h1>
            <Show when=is_read fallback=|| view! { <p class="quiet">"Not read yet."</p> }>
                <Server />
                <For each=move || names.get().unwrap_or_default() key=Clone::clone let(name)>
                    <Ensemble name=name />
                </For>
            </Show>
            })}
        </Chrome>
    }
}

/// The server itself.
#[component]
fn Server() -> impl IntoView {
    let live = Live::of_app();
    let started = Signal::derive(move || live.status(|status| status.started_at_ms));
    let text = move |read: fn(&Status) -> String| move || live.status(read);
    view! {
        <section class="part dims" aria-labelledby="server-title">
            <h2 class="part-title" id="server-title">"Lockscope"</h2>
            <dl class="pairs">
                <dt>"Version"</dt><dd>{text(|status| status.version.clone())}</dd>
                <dt>"Live protocol"</dt><dd>{text(|status| status.protocol.to_string())}</dd>
                <dt>"Running for"</dt><dd><Age since_ms=started /></dd>
                <dt>"Changes taken in"</dt><dd>{text(|status| super::format::count(status.seq))}</dd>
                <dt>"Hands"</dt>
                <dd>{text(|status| if status.read_only { "read-only: nothing can be released" } else { "an operator may release locks" }.to_owned())}</dd>
            </dl>
        </section>
    }
}
