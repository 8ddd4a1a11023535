//! Percentiles and past holders.

use leptos::prelude::*;

use super::LockState;
use crate::ui::format::{clock, count, duration, middle, visible};
use crate::ui::parts::session_url;
use crate::wire::{LockStats, PastHolder};

/// What was counted since this server watches.
#[component]
pub(super) fn Stats(state: LockState) -> impl IntoView {
    let stats = Memo::new(move |_| state.head.with(|head| head.as_ref().map(|head| head.stats.clone()).unwrap_or_default()));
    let number = move |read: fn(&LockStats) -> String| move || stats.with(read);
    let time = |ms: Option<i64>| ms.map_or("–".to_owned(), duration);
    view! {
        <section class="part" aria-labelledby="stats-title">
            <h2 class="part-title" id="stats-title">"Since Lockscope watches"</h2>
            <div class="overflow-x-auto">
                <table class="table">
                    <thead>
                        <tr><td></td><th class="table-number" scope="col">"Median"</th><th class="table-number" scope="col">"99th percentile"</th></tr>
                    </thead>
                    <tbody>
                        <tr>
                            <th scope="row">"Hold"</th>
                            <td class="table-number">{move || time(stats.with(|stats| stats.hold_p50_ms))}</td>
                            <td class="table-number">{move || time(stats.with(|stats| stats.hold_p99_ms))}</td>
                        </tr>
                        <tr>
                            <th scope="row">"Wait"</th>
                            <td class="table-number">{move || time(stats.with(|stats| stats.wait_p50_ms))}</td>
                            <td class="table-number">{move || time(stats.with(|stats| stats.wait_p99_ms))}</td>
                        </tr>
                    </tbody>
                </table>
            </div>
            <p class="quiet">
                "Taken " {number(|stats| count(stats.acquisitions))} " times; owner unknown "
                {number(|stats| count(stats.owner_unknown))} " times; left without holding "
                {number(|stats| count(stats.gave_up))} " times. " {number(sequence_words)}
            </p>
        </section>
    }
}

/// How much of the sequence numbers is used up.
fn sequence_words(stats: &LockStats) -> String {
    let Some(ppm) = stats.sequence_used_ppm else { return String::new() };
    let percent = match ppm {
        0 => "less than 0.0001".to_owned(),
        _ => format!("{}.{:04}", ppm / 10_000, ppm % 10_000).trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    format!("Sequence numbers used: {percent} %.")
}

/// The last holders, newest first.
#[component]
pub(super) fn Past(state: LockState) -> impl IntoView {
    let past = Memo::new(move |_| state.head.with(|head| head.as_ref().map(|head| head.past.clone()).unwrap_or_default()));
    let ensemble = Memo::new(move |_| state.head.with(|head| head.as_ref().map(|head| head.row.ensemble.clone()).unwrap_or_default()));
    let is_empty = move || past.with(Vec::is_empty);
    view! {
        <section class="part" aria-labelledby="past-title">
            <h2 class="part-title" id="past-title">"Held before by"</h2>
            <Show when=is_empty>
                <p class="quiet">"No hold ended since Lockscope watches."</p>
            </Show>
            <Show when=move || !is_empty()>
                <div class="overflow-x-auto">
                    <table class="table">
                        <thead>
                            <tr>
                                <th scope="col">"Who"</th><th scope="col">"Session"</th>
                                <th class="table-number" scope="col">"Held for"</th><th class="table-number" scope="col">"Until"</th><td></td>
                            </tr>
                        </thead>
                        <tbody>
                            <For each=move || past.get() key=|holder| (holder.node.clone(), holder.until_ms) let(holder)>
                                <PastRow holder=holder ensemble=ensemble />
                            </For>
                        </tbody>
                    </table>
                </div>
            </Show>
        </section>
    }
}

#[component]
fn PastRow(holder: PastHolder, ensemble: Memo<String>) -> impl IntoView {
    let name = visible(holder.label.as_deref().unwrap_or(&holder.node));
    let href = holder.session_id.map(|session| ensemble.with_untracked(|ensemble| session_url(ensemble, session)));
    let sign = if holder.is_lower_bound { "≥ " } else { "" };
    view! {
        <tr>
            <td title=visible(&holder.node)>{middle(&name, 36)}</td>
            <td><a class="mono id" href=href>{holder.session_id.map_or("not known".to_owned(), |session| session.to_string())}</a></td>
            <td class="table-number">{format!("{sign}{}", duration(holder.until_ms - holder.from_ms))}</td>
            <td class="table-number">{clock(holder.until_ms)}</td>
            <td class="quiet">{if holder.session_ended { "its session ended" } else { "" }}</td>
        </tr>
    }
}
