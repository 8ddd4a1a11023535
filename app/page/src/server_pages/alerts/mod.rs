//! Alerts: what fires and what did, who is told, and who silenced what. Drawn by the server alone; every form works without
//! a script.

mod list;
mod tables;
#[cfg(test)]
mod tests;
mod try_rule;
mod view;
mod watch;
mod words;

pub use try_rule::alert_test_page;
pub use view::{AlertDone, AlertFilter, AlertsView, TriedView};

use crate::erase::view;
use leptos::prelude::*;

use super::ServerPage;
use crate::format::{count, visible};
use crate::parts::filled;
use lockscope_view::AlertState;
use view::is_loud;

pub fn alerts_page(plain: &ServerPage<'_>, of: &AlertsView) -> String {
    super::drawn(plain, of.now_ms, || {
        let content = view! {
            <h1 class="page-title">"Alerts"</h1>
            {told(of)}
            {summary(of)}
            {watch::tools(of)}
            <div class="filters">{filters(of)} {watch::button()}</div>
            {list::list(of)}
            {who_may_act(plain, of)}
            {tables::silences(of)}
            {tables::rules(of)}
            {tables::routes(of)}
        };
        let tail = view! { <script nonce=plain.nonce.to_owned() inner_html=watch::SCRIPT></script> };
        super::framed(plain, "Alerts", "alerts", content, (), tail)
    })
}

/// What a form did, or why it did nothing; that nothing is kept; and what is not known.
fn told(of: &AlertsView) -> AnyView {
    let done = of.done.map(|done| {
        view! { <p class="release-result" data-kind="good" role="status" data-testid="alerts-done">{words::done(done)}</p> }
    });
    let wrong = of.wrong.as_deref().map(|why| {
        view! { <p class="release-result" data-kind="stop" role="alert" data-testid="alerts-wrong">{words::wrong(why)}</p> }
    });
    let trouble = filled(&*of.alerts.trouble).map(|why| {
        view! { <p class="notice" data-testid="alerts-trouble">{words::not_kept(why)}</p> }
    });
    view! { {done} {wrong} {trouble} }
}

fn summary(of: &AlertsView) -> AnyView {
    let alerts = &of.alerts.alerts;
    let loud = alerts.iter().filter(|alert| is_loud(alert));
    let unknown = loud.clone().filter(|alert| alert.unknown_since_ms.is_some()).count();
    let silenced = alerts.iter().filter(|alert| alert.state == AlertState::Firing && !is_loud(alert)).count();
    let worst = loud.clone().next();
    let is_well = match (worst, silenced) {
        (Some(_), _) => Some("false"),
        (None, 0) => Some("true"),
        (None, _) => None,
    };
    let severity = worst.map(|worst| worst.severity.name());
    let sentence =
        worst.map(|worst| view! { <span title=visible(&worst.sentence)>{words::sentence(&worst.sentence)}</span> });
    view! {
        <p class="status-summary alerts-summary" data-well=is_well data-severity=severity data-testid="alerts-summary">{words::summary(loud.count(), silenced, unknown)}{sentence}</p>
        <p class="quiet audit-lead">{words::LEAD}</p>
    }
}

fn filters(of: &AlertsView) -> AnyView {
    let way = |filter: AlertFilter| {
        let number = of.alerts.alerts.iter().filter(|alert| filter.takes(alert)).count();
        let current = (of.filter == filter).then_some("true");
        view! {
            <a class="tool" href=filter.url() aria-current=current>{words::filter(filter)}" "<span class="quiet">{count(number as u64)}</span></a>
        }
    };
    view! { <nav class="incident-ranges" aria-label="Which alerts" data-testid="alert-filters">{AlertFilter::ALL.map(way).collect_view()}</nav> }
}

/// What those read who may only look.
fn who_may_act(plain: &ServerPage<'_>, of: &AlertsView) -> Option<AnyView> {
    (!of.may_act).then(|| {
        let can_sign_in = plain.person.can_sign_in;
        let link = (can_sign_in && !of.is_signed_in)
            .then(|| view! { <a href="/sign-in?next=%2Falerts">"sign in"</a> "." });
        view! { <p class="quiet audit-lead" data-testid="alerts-viewer">{words::who_may_act(of.is_signed_in, can_sign_in)}{link}</p> }
    })
}
