//! One ensemble: link, counters, roots.

use leptos::prelude::*;

use crate::ui::format::{count, duration, middle, visible};
use crate::ui::live::Live;
use crate::ui::parts::{Age, FindingList};
use crate::wire::{EnsembleStatus, Link, RootState, RootStatus};

fn link_word(link: Link) -> &'static str {
    match link {
        Link::Live => "live",
        Link::Syncing => "reading everything anew",
        Link::Stale => "stale: no answer",
        Link::Lost => "lost: no session",
    }
}

fn root_word(state: RootState) -> &'static str {
    match state {
        RootState::Live => "live",
        RootState::Syncing => "syncing",
        RootState::Stale => "stale",
        RootState::Partial => "partial",
        RootState::Denied => "denied",
        RootState::Gone => "gone",
        RootState::Reduced => "reduced",
    }
}

/// What is odd about the ensemble as a whole.
#[component]
fn Oddities(ensemble: Memo<Option<EnsembleStatus>>) -> impl IntoView {
    let findings = Memo::new(move |_| ensemble.with(|ensemble| ensemble.as_ref().map(|ensemble| ensemble.findings.clone()).unwrap_or_default()));
    move || view! { <FindingList findings=findings.get() /> }
}

/// The ensemble of this name.
#[component]
pub(super) fn Ensemble(name: String) -> impl IntoView {
    let live = Live::of_app();
    let title = format!("Ensemble {}", visible(&name));
    let ensemble = Memo::new(move |_| live.status(|status| status.ensembles.iter().find(|ensemble| ensemble.name == name).cloned()).flatten());
    let text = move |read: fn(&EnsembleStatus) -> String| move || ensemble.with(|ensemble| ensemble.as_ref().map(read));
    let since = Signal::derive(move || ensemble.with(|ensemble| ensemble.as_ref().map(|ensemble| ensemble.since_ms)));
    let state = move || ensemble.with(|ensemble| ensemble.as_ref().map(|ensemble| ensemble.link.name()));
    view! {
        <section class="part dims">
            <h2 class="part-title">{title}</h2>
            <dl class="pairs">
                <dt>"Connect string"</dt><dd class="mono break-all">{text(|ensemble| visible(&ensemble.connect))}</dd>
                <dt>"Link"</dt>
                <dd>
                    <span class="state" data-state=state>{text(|ensemble| link_word(ensemble.link).to_owned())}</span>
                    " for " <Age since_ms=since />
                    <span class="quiet">{text(|ensemble| if ensemble.why.is_empty() { String::new() } else { format!(" ({})", visible(&ensemble.why)) })}</span>
                </dd>
                <dt>"Session"</dt><dd class="mono">{text(|ensemble| ensemble.session_id.map_or("none".to_owned(), |session| session.to_string()))}</dd>
                <dt>"As of zxid"</dt><dd class="mono">{text(|ensemble| ensemble.zxid.to_string())}</dd>
                <dt>"Clock offset"</dt><dd>{text(|ensemble| offset(ensemble.clock_offset_ms))}</dd>
                <dt>"Events taken in"</dt><dd>{text(|ensemble| count(ensemble.events))}</dd>
                <dt>"Read anew"</dt><dd>{text(|ensemble| format!("{} times", count(ensemble.resyncs)))}</dd>
                <dt>"Events missed"</dt><dd>{text(|ensemble| count(ensemble.missed))}</dd>
                <dt>"Owner unknown"</dt><dd>{text(|ensemble| format!("{} znodes went before they could be read", count(ensemble.owner_unknown)))}</dd>
            </dl>
            <Oddities ensemble=ensemble />
            <Roots ensemble=ensemble />
            <Evidence ensemble=ensemble />
        </section>
    }
}

fn offset(ms: Option<i64>) -> String {
    match ms {
        None => "not known yet".to_owned(),
        Some(ms) if ms < 0 => format!("ours is {} behind", duration(-ms)),
        Some(ms) => format!("ours is {} ahead", duration(ms)),
    }
}

#[component]
fn Roots(ensemble: Memo<Option<EnsembleStatus>>) -> impl IntoView {
    let paths = Memo::new(move |_| {
        ensemble
            .with(|ensemble| ensemble.as_ref().map(|ensemble| ensemble.roots.iter().map(|root| root.path.clone()).collect::<Vec<_>>()))
            .unwrap_or_default()
    });
    view! {
        <div class="overflow-x-auto">
            <table class="table">
                <caption class="table-caption">"Roots"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Path"</th><th scope="col">"State"</th><th class="table-number" scope="col">"For"</th>
                        <th class="table-number" scope="col">"Locks"</th><th class="table-number" scope="col">"Znodes"</th><th scope="col">"Why"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || paths.get() key=Clone::clone let(path)>
                        <Root ensemble=ensemble path=path />
                    </For>
                </tbody>
            </table>
        </div>
    }
}

#[component]
fn Root(ensemble: Memo<Option<EnsembleStatus>>, path: String) -> impl IntoView {
    let shown = visible(&path);
    let root = Memo::new(move |_| ensemble.with(|ensemble| ensemble.as_ref()?.roots.iter().find(|root| root.path == path).cloned()));
    let text = move |read: fn(&RootStatus) -> String| move || root.with(|root| root.as_ref().map(read));
    let since = Signal::derive(move || root.with(|root| root.as_ref().map(|root| root.since_ms)));
    let state = move || root.with(|root| root.as_ref().map(|root| root.state.name()));
    view! {
        <tr data-root=shown.clone()>
            <td class="mono" title=shown.clone()><bdi>{middle(&shown, 60)}</bdi></td>
            <td><span class="state" data-state=state>{text(|root| root_word(root.state).to_owned())}</span></td>
            <td class="table-number"><Age since_ms=since /></td>
            <td class="table-number">{text(|root| count(root.locks))}</td>
            <td class="table-number">{text(|root| count(root.znodes))}</td>
            <td>{text(|root| visible(&root.why))}</td>
        </tr>
    }
}

/// What each member lets us see beyond znodes; nothing is drawn while nobody was asked.
#[component]
fn Evidence(ensemble: Memo<Option<EnsembleStatus>>) -> impl IntoView {
    let rows = Memo::new(move |_| ensemble.with(|ensemble| ensemble.as_ref().map(|ensemble| ensemble.evidence.clone())).unwrap_or_default());
    let lines = move || {
        let rows = rows.get().into_iter().map(|row| {
            view! {
                <tr>
                    <td class="mono">{visible(&row.member)}</td>
                    <td>{row.connections}</td><td>{row.watches}</td><td>{row.sessions}</td>
                    <td class="table-number"><Age since_ms=Signal::stored(Some(row.sampled_at_ms)) /></td>
                </tr>
            }
        });
        rows.collect_view()
    };
    view! {
        <Show when=move || rows.with(|rows| !rows.is_empty())>
            <div class="overflow-x-auto">
                <table class="table">
                    <caption class="table-caption">"Evidence from the members"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Member"</th><th scope="col">"Connections"</th><th scope="col">"Watches"</th>
                            <th scope="col">"Sessions"</th><th class="table-number" scope="col">"Asked, ago"</th>
                        </tr>
                    </thead>
                    <tbody>{lines}</tbody>
                </table>
            </div>
        </Show>
    }
}
