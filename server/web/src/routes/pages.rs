//! Pages, their forms and parts, and what is at no other address.

use axum::http::Uri;
#[cfg(not(feature = "lab"))]
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};

#[cfg(feature = "lab")]
use super::LAB;
use super::{AUDIT, RELEASE, VIEW};
#[cfg(feature = "lab")]
use crate::lab_page;
use crate::problem::{ErrorResponse, echo};
use crate::route::{Need, Route, Verb, api, file, form, page};
use crate::{
    alerts, approve, audit_page, cluster, events_page, find, help, history, orders, server_pages, session_timeout,
    sign_in,
};

const EVENTS: &[&str] = &["path", "session", "kind", "ensemble", "from", "to", "before", "after", "at"];
const DIFFERS: &[&str] =
    &["path", "ensemble", "range", "from", "to", "sel_from", "sel_to", "min_wait_ms", "max_wait_ms"];
const SESSION: &[&str] = &["ensemble", "id", "offset", "limit", "at"];

pub(super) const ROUTES: &[Route] = &[
    // What is at no address is no secret.
    api(Verb::Any, "/api", Need::Open, || any(unknown_api)),
    api(Verb::Any, "/api/{*rest}", Need::Open, || any(unknown_api)),
    form(Verb::Get, "/release/approve", RELEASE, || get(approve::show)).secret(),
    form(Verb::Post, "/release/approve", RELEASE, || post(approve::approve)).secret(),
    form(Verb::Get, "/audit", AUDIT, || get(audit_page::show))
        .taking(&["before", "after", "limit", "actor", "kind", "lock"]),
    #[cfg(feature = "lab")]
    form(Verb::Get, "/lab", VIEW, || get(lab_page::show)),
    #[cfg(feature = "lab")]
    form(Verb::Post, "/lab/run", LAB, || post(lab_page::start)),
    #[cfg(feature = "lab")]
    form(Verb::Post, "/lab/stop", LAB, || post(lab_page::stop)),
    #[cfg(feature = "lab")]
    form(Verb::Post, "/lab/fault", LAB, || post(lab_page::throw)),
    #[cfg(not(feature = "lab"))]
    form(Verb::Get, "/lab", VIEW, || get(no_lab)),
    form(Verb::Get, "/find", VIEW, || get(find::show)).taking(&["q"]),
    api(Verb::Get, "/find/answer", VIEW, || get(find::answer)).taking(&["q"]),
    form(Verb::Get, "/fleet", VIEW, || get(server_pages::fleet::show)).taking(&["q", "label", "verdict", "offset"]),
    form(Verb::Get, "/events", VIEW, || get(events_page::show)).taking(EVENTS),
    form(Verb::Get, "/alerts", VIEW, || get(alerts::pages::show)).taking(&["state", "done"]),
    api(Verb::Get, "/alerts/banner", VIEW, || get(alerts::banner::show)).polled(),
    form(Verb::Get, "/alerts/test", VIEW, || get(alerts::pages::try_rule)).taking(&["toml", "hours"]),
    form(Verb::Post, "/waits/orders/snooze", RELEASE, || post(orders::snooze::snooze_typed)),
    form(Verb::Post, "/waits/orders/snooze/end", RELEASE, || post(orders::snooze::end_typed)),
    form(Verb::Post, "/alerts/ack", RELEASE, || post(alerts::pages::acknowledge)),
    form(Verb::Post, "/alerts/silences", RELEASE, || post(alerts::pages::silence)),
    form(Verb::Post, "/alerts/silences/end", RELEASE, || post(alerts::pages::end_silence)),
    form(Verb::Get, "/incidents", VIEW, || get(history::incident_pages::show))
        .taking(&["ensemble", "from", "to", "q", "min_ms", "limit"]),
    form(Verb::Get, "/incident", VIEW, || get(history::incident_pages::show_one))
        .taking(&["ensemble", "id", "path", "around"]),
    api(Verb::Get, "/events/news", VIEW, || get(events_page::news)).polled().taking(EVENTS),
    form(Verb::Get, "/blame", VIEW, || get(history::blame_page::show))
        .taking(&["by", "path", "ensemble", "range", "from", "to", "limit", "at"]),
    form(Verb::Get, "/differs", VIEW, || get(history::differs_page::show)).taking(DIFFERS),
    form(Verb::Get, "/help", VIEW, || get(help::show)),
    api(Verb::Get, "/help/explain", VIEW, || get(help::explain)),
    form(Verb::Get, "/sign-in", Need::Open, || get(sign_in::show)).secret(),
    form(Verb::Post, "/sign-in", Need::Open, || post(sign_in::sign_in)).secret(),
    form(Verb::Get, "/sign-in/once", Need::Open, || get(sign_in::show_once)).secret(),
    form(Verb::Post, "/sign-in/once", Need::Open, || post(sign_in::once)).secret(),
    form(Verb::Get, "/sign-in/wall", Need::Open, || get(sign_in::wall::show)).secret(),
    form(Verb::Post, "/sign-in/wall", Need::Open, || post(sign_in::wall::sign_in)).secret(),
    #[cfg(feature = "oidc")]
    form(Verb::Get, "/sign-in/openid", Need::Open, || get(sign_in::openid::begin)).secret(),
    #[cfg(feature = "oidc")]
    form(Verb::Get, lockscope_access::OpenId::BACK, Need::Open, || get(sign_in::openid::back)).secret(),
    form(Verb::Post, "/sign-out", Need::Open, || post(sign_in::sign_out)).secret(),
    page("/", VIEW),
    page("/lock", VIEW),
    api(Verb::Get, "/lock/over-time", VIEW, || get(history::over_time_page::show))
        .taking(&["ensemble", "path", "range", "from", "to", "compare", "at"]),
    api(Verb::Get, "/lock/time-to-lock", VIEW, || get(history::time_to_lock::section))
        .taking(&["ensemble", "path", "limit", "at"]),
    page("/waits", VIEW),
    api(Verb::Get, "/waits/orders", VIEW, || get(orders::section)).taking(&["at"]),
    page("/wall", VIEW),
    page("/sessions", VIEW),
    page("/session", VIEW),
    api(Verb::Get, "/session/timeout", VIEW, || get(session_timeout::section)).taking(SESSION),
    page("/status", VIEW),
    api(Verb::Get, "/status/cluster", VIEW, || get(cluster::section)).polled(),
    file("/pkg/{name}"),
    file("/favicon.svg"),
    file("/favicon-warn.svg"),
    file("/favicon-odd.svg"),
    file("/favicon-bad.svg"),
    file("/favicon-lost.svg"),
];

/// `GET /lab` of a build without it.
#[cfg(not(feature = "lab"))]
async fn no_lab() -> Response {
    ErrorResponse::not_found(
        "this build of Lockscope has no lab; use one that was built with it (cargo feature `lab`)".to_owned(),
    )
    .into_response()
}

async fn unknown_api(uri: Uri) -> ErrorResponse {
    ErrorResponse::not_found(format!("there is nothing at {}; the API has {}", echo(uri.path()), super::addresses()))
}
