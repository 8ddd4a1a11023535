//! Every route there is, and what each needs. The router is made of this table, and what is not in it is answered by
//! nobody: a page or handler that is added elsewhere stays unreachable until it has a row here.

use axum::http::{Method, Uri};
#[cfg(not(feature = "lab"))]
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, any, delete, get, post, put};

use super::params::ParamNames;
use super::problem::{ErrorResponse, echo};
use super::route::{Answer, Need, Route, Verb};
use super::{
    Http, alerts, api, approve, audit_api, audit_page, cluster, events, events_page, find, health, help, history, live,
    me, metrics_api, openapi, orders, preferences_api, release_api, server_pages, session_timeout, sign_in,
};
#[cfg(feature = "lab")]
use super::{lab_api, lab_page};
use lockscope_audit::Right;

const VIEW: Need = Need::Of(Right::View);
const RELEASE: Need = Need::Of(Right::Release);
#[cfg(feature = "lab")]
const LAB: Need = Need::Of(Right::RunLab);
const AUDIT: Need = Need::Of(Right::ReadAudit);

/// A handler for scripts.
const fn api(verb: Verb, path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route::new(verb, path, need, Answer::Api(answer))
}

/// A handler for scripts that executes a release.
const fn act(path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route::new(Verb::Post, path, need, Answer::Act(answer)).secret()
}

/// A handler for people.
const fn form(verb: Verb, path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route::new(verb, path, need, Answer::Form(answer))
}

/// A page.
const fn page(path: &'static str, need: Need) -> Route {
    Route::new(Verb::Get, path, need, Answer::Page)
}

/// A file of the page: the same for everybody, and the page for signing in needs some.
const fn file(path: &'static str) -> Route {
    Route::new(Verb::Get, path, Need::Open, Answer::File)
}

/// What the list of events takes.
const EVENTS: &[&str] = &["path", "session", "kind", "ensemble", "from", "to", "before", "after", "at"];
const DIFFERS: &[&str] =
    &["path", "ensemble", "range", "from", "to", "sel_from", "sel_to", "min_wait_ms", "max_wait_ms"];
const SESSION: &[&str] = &["ensemble", "id", "offset", "limit", "at"];

/// The table.
pub(super) const ROUTES: &[Route] = &[
    api(Verb::Get, "/healthz", Need::Open, || get(health::healthz)).probe(),
    api(Verb::Get, "/readyz", Need::Open, || get(health::readyz)).probe(),
    api(Verb::Get, "/metrics", VIEW, || get(metrics_api::metrics)),
    api(Verb::Get, "/api/v1/status", VIEW, || get(api::status)),
    api(Verb::Get, "/api/v1/fleet", VIEW, || get(server_pages::fleet::answer)),
    api(Verb::Get, "/api/v1/locks", VIEW, || get(api::locks)),
    api(Verb::Get, "/api/v1/lock", VIEW, || get(api::lock)),
    api(Verb::Get, "/api/v1/waits", VIEW, || get(api::waits)),
    api(Verb::Get, "/api/v1/cluster", VIEW, || get(cluster::show)),
    api(Verb::Get, "/api/v1/orders", VIEW, || get(orders::show)),
    api(Verb::Get, "/api/v1/time-to-lock", VIEW, || get(history::time_to_lock::show)),
    api(Verb::Post, "/api/v1/orders/snooze", RELEASE, || post(orders::snooze::snooze)),
    api(Verb::Delete, "/api/v1/orders/snooze/{id}", RELEASE, || delete(orders::snooze::end)),
    api(Verb::Get, "/api/v1/sessions", VIEW, || get(api::sessions)),
    api(Verb::Get, "/api/v1/session", VIEW, || get(api::session)),
    api(Verb::Get, "/api/v1/incidents", VIEW, || get(history::incidents::show)),
    api(Verb::Get, "/api/v1/incident", VIEW, || get(history::one_incident::show_one)),
    api(Verb::Get, "/api/v1/alerts", VIEW, || get(alerts::api::show)).polled(),
    api(Verb::Post, "/api/v1/alerts/silences", RELEASE, || post(alerts::api::silence)),
    api(Verb::Delete, "/api/v1/alerts/silences/{id}", RELEASE, || delete(alerts::api::end_silence)),
    api(Verb::Post, "/api/v1/alerts/ack", RELEASE, || post(alerts::api::acknowledge)),
    api(Verb::Post, "/api/v1/alerts/test", VIEW, || post(alerts::backtest::test)),
    api(Verb::Get, "/api/v1/events", VIEW, || get(events::events)),
    api(Verb::Get, "/api/v1/history", VIEW, || get(history::show)),
    api(Verb::Get, "/api/v1/history/marks", VIEW, || get(history::marks::show)),
    api(Verb::Get, "/api/v1/history/holds", VIEW, || get(history::holds::show)),
    api(Verb::Get, "/api/v1/history/blame", VIEW, || get(history::blame::show)),
    api(Verb::Get, "/api/v1/history/diff", VIEW, || get(history::diff::show)),
    api(Verb::Get, "/api/v1/history/differs", VIEW, || get(history::differs::show)),
    api(Verb::Get, "/api/v1/history/export", VIEW, || get(history::export::show)).bounding_itself(),
    api(Verb::Get, "/api/v1/history/lock", VIEW, || get(history::over_time::show)),
    api(Verb::Get, "/api/v1/me", VIEW, || get(me::me)),
    api(Verb::Get, "/api/v1/preferences", VIEW, || get(preferences_api::show)),
    api(Verb::Put, "/api/v1/preferences", VIEW, || put(preferences_api::replace)),
    api(Verb::Get, "/api/v1/live", VIEW, || get(live::live)).polled(),
    api(Verb::Post, "/api/v1/release/plan", RELEASE, || post(release_api::plan)).secret(),
    act("/api/v1/release/execute", RELEASE, || post(release_api::execute)),
    act("/api/v1/release/revoke", RELEASE, || post(release_api::revoke)),
    api(Verb::Post, "/api/v1/release/approve", RELEASE, || post(release_api::approve)).secret(),
    api(Verb::Get, "/api/v1/audit", AUDIT, || get(audit_api::page)),
    api(Verb::Get, "/api/v1/audit/export", AUDIT, || get(audit_api::export)),
    #[cfg(feature = "lab")]
    api(Verb::Get, "/api/v1/lab/runs", VIEW, || get(lab_api::runs)),
    #[cfg(feature = "lab")]
    api(Verb::Post, "/api/v1/lab/runs", LAB, || post(lab_api::start)),
    #[cfg(feature = "lab")]
    api(Verb::Get, "/api/v1/lab/runs/{id}", VIEW, || get(lab_api::run)),
    #[cfg(feature = "lab")]
    api(Verb::Delete, "/api/v1/lab/runs/{id}", LAB, || delete(lab_api::stop)),
    #[cfg(feature = "lab")]
    api(Verb::Post, "/api/v1/lab/runs/{id}/faults", LAB, || post(lab_api::throw)),
    api(Verb::Get, "/api/v1/openapi.json", Need::Open, || get(openapi::document)),
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

/// Whether pages may be at an address.
pub(super) fn is_page(path: &str) -> bool {
    ROUTES.iter().any(|row| matches!(row.answer, Answer::Page) && row.path == path)
}

/// The row that answers a request, if there is one. `path`: as it is matched.
pub(super) fn row(path: &str, method: &Method) -> Option<&'static Route> {
    ROUTES.iter().find(|row| row.path == path && row.verb.takes(method))
}

/// The parameters that a route takes.
pub(super) fn params(row: &Route) -> ParamNames {
    ParamNames(openapi::query_params(row).unwrap_or_else(|| row.params.to_vec()).into())
}

/// Whether an answer at an address may hold a secret; `path`: as it is matched.
pub(super) fn has_secret(path: &str) -> bool {
    ROUTES.iter().any(|row| row.has_secret && row.path == path)
}

/// Whether an address is a probe.
pub(super) fn is_probe(path: &str) -> bool {
    ROUTES.iter().any(|row| row.is_probe && row.path == path)
}

/// What a table has for a request.
pub(super) enum Match {
    /// This route.
    Route(&'static Route),
    /// The address, asked for otherwise.
    Otherwise,
    /// Nothing.
    None,
}

/// The row of a matched path and a method.
pub(super) fn find(matched: &str, method: &Method) -> Match {
    match row(matched, method) {
        Some(row) => Match::Route(row),
        None if ROUTES.iter().any(|row| row.path == matched) => Match::Otherwise,
        None => Match::None,
    }
}

/// Methods that an address takes, for people.
pub(super) fn verbs(path: &str) -> String {
    let names: Vec<_> = ROUTES.iter().filter(|row| row.path == path).map(|row| row.verb.name()).collect();
    if names.is_empty() { Verb::Get.name().to_owned() } else { names.join(" or ") }
}

/// The same for programs, as `Allow` has it.
pub(super) fn allowed(path: &str) -> String {
    let names = ROUTES
        .iter()
        .filter(|row| row.path == path)
        .map(|row| if row.verb == Verb::Get { "GET, HEAD" } else { row.verb.name() });
    names.collect::<Vec<_>>().join(", ")
}

/// `GET /lab` of a build without it.
#[cfg(not(feature = "lab"))]
async fn no_lab() -> Response {
    ErrorResponse::not_found(
        "this build of Lockscope has no lab; use one that was built with it (cargo feature `lab`)".to_owned(),
    )
    .into_response()
}

async fn unknown_api(uri: Uri) -> ErrorResponse {
    ErrorResponse::not_found(format!("there is nothing at {}; the API has {}", echo(uri.path()), addresses()))
}

/// Addresses of the API, for people; those below another one are left out.
fn addresses() -> String {
    let all = || ROUTES.iter().map(|row| row.path).filter(|path| path.starts_with("/api/v1/"));
    let is_below = |path: &str, other: &str| path.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    let mut paths: Vec<_> = all().filter(|path| !all().any(|other| is_below(path, other))).collect();
    paths.dedup();
    let last = paths.pop().unwrap_or_default();
    format!("{} and {last}", paths.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_answer_the_same() {
        for (at, row) in ROUTES.iter().enumerate() {
            let twin = ROUTES.iter().take(at).find(|other| other.path == row.path && other.verb == row.verb);
            assert!(twin.is_none(), "{} {} is listed twice", row.verb.name(), row.path);
        }
    }

    #[test]
    fn only_what_says_nothing_of_locks_is_open() {
        let open: Vec<_> =
            ROUTES.iter().filter(|row| row.need == Need::Open).map(|row| (row.verb.name(), row.path)).collect();
        let expected = [
            ("GET", "/healthz"),
            ("GET", "/readyz"),
            ("GET", "/api/v1/openapi.json"),
            ("any", "/api"),
            ("any", "/api/{*rest}"),
            ("GET", "/sign-in"),
            ("POST", "/sign-in"),
            ("GET", "/sign-in/once"),
            ("POST", "/sign-in/once"),
            ("GET", "/sign-in/wall"),
            ("POST", "/sign-in/wall"),
            #[cfg(feature = "oidc")]
            ("GET", "/sign-in/openid"),
            #[cfg(feature = "oidc")]
            ("GET", "/sign-in/openid/back"),
            ("POST", "/sign-out"),
            ("GET", "/pkg/{name}"),
            ("GET", "/favicon.svg"),
            ("GET", "/favicon-warn.svg"),
            ("GET", "/favicon-odd.svg"),
            ("GET", "/favicon-bad.svg"),
            ("GET", "/favicon-lost.svg"),
        ];
        assert_eq!(open, expected);
    }

    #[test]
    fn what_may_hold_a_secret_is_never_compressed() {
        let plain: Vec<_> = ROUTES.iter().filter(|row| row.has_secret).map(|row| row.path).collect();
        let mut expected = vec![
            "/api/v1/release/plan",
            "/api/v1/release/execute",
            "/api/v1/release/revoke",
            "/api/v1/release/approve",
            "/release/approve",
            "/release/approve",
            "/sign-in",
            "/sign-in",
            "/sign-in/once",
            "/sign-in/once",
            "/sign-in/wall",
            "/sign-in/wall",
        ];
        #[cfg(feature = "oidc")]
        expected.extend(["/sign-in/openid", lockscope_access::OpenId::BACK]);
        expected.push("/sign-out");
        assert_eq!(plain, expected);
        // A route that is added there is listed above.
        let is_below = |path: &str| ["/api/v1/release", "/release", "/sign-"].iter().any(|top| path.starts_with(top));
        assert!(ROUTES.iter().all(|row| row.has_secret || !is_below(row.path)));
    }

    #[test]
    fn every_page_of_the_app_has_a_row() {
        let listed: Vec<String> =
            leptos_axum::generate_route_list(lockscope_page::App).iter().map(|route| route.path().to_owned()).collect();
        for path in &listed {
            assert!(is_page(if path.is_empty() { "/" } else { path }), "{path:?} has no row");
        }
        for row in ROUTES.iter().filter(|row| matches!(row.answer, Answer::Page)) {
            assert!(
                listed.iter().any(|path| path == row.path || (path.is_empty() && row.path == "/")),
                "{} is no page",
                row.path
            );
        }
    }
}
