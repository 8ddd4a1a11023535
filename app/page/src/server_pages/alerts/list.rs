//! The alerts themselves, by what became of them, each with the forms for those who may act.

use crate::erase::view;
use crate::exact::Exact;
use crate::form_token::form_token;
use leptos::prelude::*;

use super::view::AlertsView;
use super::words;
use crate::format::{count, visible};
use crate::parts::{lock_url, mark, marked, reason_field, select_field, severity, stamp};
use lockscope_view::{Alert, AlertState};

const GROUPS: [AlertState; 3] = [AlertState::Firing, AlertState::Pending, AlertState::Resolved];

/// Those of the filter, or that there are none.
pub(super) fn list(of: &AlertsView) -> AnyView {
    let shown: Vec<&Alert> = of.alerts.alerts.iter().filter(|alert| of.filter.takes(alert)).collect();
    if shown.is_empty() {
        return view! { <p class="quiet audit-lead" data-testid="alerts-none">{words::none(of.filter)}</p> };
    }
    GROUPS.map(|state| group(of, state, &shown)).collect_view().into_any()
}

/// Alerts of one state, in the order in which they came; nothing for none.
fn group(of: &AlertsView, state: AlertState, shown: &[&Alert]) -> Option<AnyView> {
    let inside: Vec<&Alert> = shown.iter().copied().filter(|alert| alert.state == state).collect();
    (!inside.is_empty()).then(|| {
        view! {
            <section class="part">
                <h2 class="part-title">{marked(words::group(state))}{format!(" ({})", count(inside.len() as u64))}</h2>
                <ul class="alert-list" data-testid=format!("alerts-{}", state.name())>
                    {inside.into_iter().map(|alert| item(of, alert)).collect_view()}
                </ul>
            </section>
        }
    })
}

fn item(of: &AlertsView, alert: &Alert) -> AnyView {
    let is_silenced = alert.silenced_by.is_some();
    let silenced = is_silenced.then(|| view! { <span class="chip">{words::SILENCED}</span> });
    let lock = visible(&alert.lock);
    // Colour is for what asks for somebody.
    let tint = (!is_silenced && alert.state != AlertState::Resolved).then(|| alert.severity.name());
    let acts = (of.may_act && alert.state != AlertState::Resolved).then(|| acts(alert));
    view! {
        <li class="verdict alert" id=Exact(format!("alert-{}", alert.key)) data-state=alert.state.name() data-severity=tint data-silenced=mark(is_silenced) data-key=Exact(alert.key.clone())>
            <div class="alert-line">
                {severity(alert.severity, tint.is_some())}
                <span class="chip">{alert.state.name()}</span>
                {silenced}
            </div>
            <p><strong>{visible(&alert.sentence)}</strong></p>
            <p class="alert-line">
                <a href=lock_url(&alert.ensemble, &alert.lock)><code><bdi>{lock}</bdi></code></a>
                <span class="quiet">{words::rule(&alert.rule)}</span>
                {words::ensemble(&alert.ensemble).map(|name| view! { <span class="quiet">{name}</span> })}
                <span class="quiet">{when(of, alert)}</span>
                {moment(alert)}
            </p>
            {notes(of, alert)}
            {acts}
        </li>
    }
}

/// Since when and for how long, as far as it was seen.
fn when(of: &AlertsView, alert: &Alert) -> AnyView {
    let since_ms = alert.since_at_ms;
    if let Some(resolved_ms) = alert.resolved_at_ms {
        let lasted = words::lasted(resolved_ms - since_ms, false);
        return view! { {words::FROM} {stamp(since_ms)} {words::TO} {stamp(resolved_ms)} {lasted} };
    }
    let seen_ms = alert.unknown_since_ms.unwrap_or(of.now_ms);
    view! { {words::SINCE} {stamp(since_ms)} {words::lasted(seen_ms - since_ms, alert.unknown_since_ms.is_some())} }
}

/// The way to the moment. Only to a page of our own.
fn moment(alert: &Alert) -> Option<AnyView> {
    let is_own = alert.link.starts_with('/') && !alert.link.starts_with("//") && !alert.link.contains('\\');
    is_own.then(|| view! { <a href=Exact(alert.link.clone())>{words::MOMENT}</a> })
}

fn notes(of: &AlertsView, alert: &Alert) -> AnyView {
    let unseen = alert.unknown_since_ms.map(|at_ms| {
        view! { <p data-kind="unseen">{words::UNSEEN} {stamp(at_ms)} {words::UNSEEN_END}</p> }
    });
    let acked = alert.acked_by.as_ref().map(|ack| {
        let text = words::acked(&ack.by, &ack.reason, of.now_ms - ack.at_ms);
        view! { <p data-kind="acked">{text}</p> }
    });
    let silenced = alert.silenced_by.as_ref().map(|silence| {
        let left = words::silence_left(silence.until_at_ms - of.now_ms, &silence.reason);
        view! { <p data-kind="silenced">{words::silenced(&silence.by)} {stamp(silence.until_at_ms)} {left}</p> }
    });
    view! { {unseen} {acked} {silenced} }
}

fn acts(alert: &Alert) -> AnyView {
    let length = |(ms, text): (i64, &'static str)| view! { <option value=ms.to_string()>{text}</option> };
    let of_which = words::of_which(&alert.rule, &alert.lock);
    view! {
        <details class="waits-fold">
            <summary>{words::ACT}<span class="sr-only">{of_which}</span></summary>
            <div class="sides">
                <form method="post" action="/alerts/ack">
                    {form_token("/alerts/ack")}
                    <input type="hidden" name="key" value=Exact(alert.key.clone()) />
                    {reason_field(words::ACK_REASON, words::ACK_MEANS)}
                    <div class="release-buttons"><button class="tool" type="submit">"Acknowledge"</button></div>
                </form>
                <form method="post" action="/alerts/silences">
                    {form_token("/alerts/silences")}
                    <input type="hidden" name="rule" value=Exact(alert.rule.clone()) />
                    <input type="hidden" name="ensemble" value=Exact(alert.ensemble.clone()) />
                    <input type="hidden" name="path" value=Exact(alert.lock.clone()) />
                    {reason_field(words::REASON, words::SILENCE_MEANS)}
                    <div class="release-buttons">
                        {select_field("for_ms", words::SILENCE_FOR, words::LENGTHS.map(length).collect_view())}
                        <button class="tool" type="submit">"Silence"</button>
                    </div>
                </form>
            </div>
        </details>
    }
}
