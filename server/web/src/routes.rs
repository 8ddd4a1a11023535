//! Every route there is, and what each needs. The router is made of this table, and what is not in it is answered by
//! nobody: a page or handler that is added elsewhere stays unreachable until it has a row here.

use axum::http::Method;
use axum::routing::{MethodRouter, any, delete, get, post, put};

#[cfg(not(feature = "lab"))]
use super::nothing_there::no_lab;
use super::nothing_there::unknown_api;
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
    Route { verb, path, need, answer: Answer::Api(answer) }
}

/// A handler for scripts that executes a release.
const fn act(path: &'static str, need: Need, answer: fn() -> MethodRouter<Http>) -> Route {
    Route { verb: Verb::Post, path, need, answer: Answer::Act(answer) }
}

/// A handler for people.
const fn form(verb: Verb, path: &'static str, answer: fn() -> MethodRouter<Http>) -> Route {
    Route { verb, path, need: Need::Open, answer: Answer::Form(answer) }
}

/// A page.
const fn page(path: &'static str, need: Need) -> Route {
    Route { verb: Verb::Get, path, need, answer: Answer::Page }
}

/// A file of the page: the same for everybody, and the page for signing in needs some.
const fn file(path: &'static str) -> Route {
    Route { verb: Verb::Get, path, need: Need::Open, answer: Answer::File }
}

/// The table.
pub(super) const ROUTES: &[Route] = &[
    api(Verb::Get, "/healthz", Need::Open, || get(health::healthz)),
    api(Verb::Get, "/readyz", Need::Open, || get(health::readyz)),
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
    api(Verb::Get, ALERTS, VIEW, || get(alerts::api::show)),
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
    api(Verb::Get, EXPORT, VIEW, || get(history::export::show)),
    api(Verb::Get, "/api/v1/history/lock", VIEW, || get(history::over_time::show)),
    api(Verb::Get, "/api/v1/me", VIEW, || get(me::me)),
    api(Verb::Get, "/api/v1/preferences", VIEW, || get(preferences_api::show)),
    api(Verb::Put, "/api/v1/preferences", VIEW, || put(preferences_api::replace)),
    api(Verb::Get, LIVE, VIEW, || get(live::live)),
    api(Verb::Post, "/api/v1/release/plan", RELEASE, || post(release_api::plan)),
    act("/api/v1/release/execute", RELEASE, || post(release_api::execute)),
    act("/api/v1/release/revoke", RELEASE, || post(release_api::revoke)),
    api(Verb::Post, "/api/v1/release/approve", RELEASE, || post(release_api::approve)),
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
    Route { verb: Verb::Get, path: "/release/approve", need: RELEASE, answer: Answer::Form(|| get(approve::show)) },
    Route {
        verb: Verb::Post,
        path: "/release/approve",
        need: RELEASE,
        answer: Answer::Form(|| post(approve::approve)),
    },
    Route { verb: Verb::Get, path: "/audit", need: AUDIT, answer: Answer::Form(|| get(audit_page::show)) },
    #[cfg(feature = "lab")]
    Route { verb: Verb::Get, path: "/lab", need: VIEW, answer: Answer::Form(|| get(lab_page::show)) },
    #[cfg(feature = "lab")]
    Route { verb: Verb::Post, path: "/lab/run", need: LAB, answer: Answer::Form(|| post(lab_page::start)) },
    #[cfg(feature = "lab")]
    Route { verb: Verb::Post, path: "/lab/stop", need: LAB, answer: Answer::Form(|| post(lab_page::stop)) },
    #[cfg(feature = "lab")]
    Route { verb: Verb::Post, path: "/lab/fault", need: LAB, answer: Answer::Form(|| post(lab_page::throw)) },
    #[cfg(not(feature = "lab"))]
    Route { verb: Verb::Get, path: "/lab", need: VIEW, answer: Answer::Form(|| get(no_lab)) },
    Route { verb: Verb::Get, path: "/find", need: VIEW, answer: Answer::Form(|| get(find::show)) },
    api(Verb::Get, "/find/answer", VIEW, || get(find::answer)),
    Route { verb: Verb::Get, path: "/fleet", need: VIEW, answer: Answer::Form(|| get(server_pages::fleet::show)) },
    Route { verb: Verb::Get, path: "/events", need: VIEW, answer: Answer::Form(|| get(events_page::show)) },
    Route { verb: Verb::Get, path: "/alerts", need: VIEW, answer: Answer::Form(|| get(alerts::pages::show)) },
    api(Verb::Get, ALERT_BANNER, VIEW, || get(alerts::banner::show)),
    Route { verb: Verb::Get, path: "/alerts/test", need: VIEW, answer: Answer::Form(|| get(alerts::pages::try_rule)) },
    Route {
        verb: Verb::Post,
        path: "/waits/orders/snooze",
        need: RELEASE,
        answer: Answer::Form(|| post(orders::snooze::snooze_typed)),
    },
    Route {
        verb: Verb::Post,
        path: "/waits/orders/snooze/end",
        need: RELEASE,
        answer: Answer::Form(|| post(orders::snooze::end_typed)),
    },
    Route {
        verb: Verb::Post,
        path: "/alerts/ack",
        need: RELEASE,
        answer: Answer::Form(|| post(alerts::pages::acknowledge)),
    },
    Route {
        verb: Verb::Post,
        path: "/alerts/silences",
        need: RELEASE,
        answer: Answer::Form(|| post(alerts::pages::silence)),
    },
    Route {
        verb: Verb::Post,
        path: "/alerts/silences/end",
        need: RELEASE,
        answer: Answer::Form(|| post(alerts::pages::end_silence)),
    },
    Route {
        verb: Verb::Get,
        path: "/incidents",
        need: VIEW,
        answer: Answer::Form(|| get(history::incident_pages::show)),
    },
    Route {
        verb: Verb::Get,
        path: "/incident",
        need: VIEW,
        answer: Answer::Form(|| get(history::incident_pages::show_one)),
    },
    api(Verb::Get, NEWS, VIEW, || get(events_page::news)),
    Route { verb: Verb::Get, path: "/blame", need: VIEW, answer: Answer::Form(|| get(history::blame_page::show)) },
    Route { verb: Verb::Get, path: "/differs", need: VIEW, answer: Answer::Form(|| get(history::differs_page::show)) },
    Route { verb: Verb::Get, path: "/help", need: VIEW, answer: Answer::Form(|| get(help::show)) },
    api(Verb::Get, "/help/explain", VIEW, || get(help::explain)),
    form(Verb::Get, "/sign-in", || get(sign_in::show)),
    form(Verb::Post, "/sign-in", || post(sign_in::sign_in)),
    form(Verb::Get, "/sign-in/once", || get(sign_in::show_once)),
    form(Verb::Post, "/sign-in/once", || post(sign_in::once)),
    form(Verb::Get, "/sign-in/wall", || get(sign_in::wall::show)),
    form(Verb::Post, "/sign-in/wall", || post(sign_in::wall::sign_in)),
    #[cfg(feature = "oidc")]
    form(Verb::Get, "/sign-in/openid", || get(sign_in::openid::begin)),
    #[cfg(feature = "oidc")]
    form(Verb::Get, lockscope_access::OpenId::BACK, || get(sign_in::openid::back)),
    form(Verb::Post, "/sign-out", || post(sign_in::sign_out)),
    page("/", VIEW),
    page("/lock", VIEW),
    api(Verb::Get, "/lock/over-time", VIEW, || get(history::over_time_page::show)),
    api(Verb::Get, "/lock/time-to-lock", VIEW, || get(history::time_to_lock::section)),
    page("/waits", VIEW),
    api(Verb::Get, "/waits/orders", VIEW, || get(orders::section)),
    page("/wall", VIEW),
    page("/sessions", VIEW),
    page("/session", VIEW),
    api(Verb::Get, "/session/timeout", VIEW, || get(session_timeout::section)),
    page("/status", VIEW),
    api(Verb::Get, REPLICAS, VIEW, || get(cluster::section)),
    file("/pkg/{name}"),
    file("/favicon.svg"),
    file("/favicon-warn.svg"),
    file("/favicon-odd.svg"),
    file("/favicon-bad.svg"),
    file("/favicon-lost.svg"),
];

/// Files of the past, which may be large.
const EXPORT: &str = "/api/v1/history/export";
/// Events that are new.
const NEWS: &str = "/events/news";
/// The live socket.
const LIVE: &str = "/api/v1/live";
/// What the page of alerts asks for.
const ALERTS: &str = "/api/v1/alerts";
/// What every page asks for.
const ALERT_BANNER: &str = "/alerts/banner";

/// Which replicas there are, which the status page asks for.
const REPLICAS: &str = "/status/cluster";

/// Whether browsers ask for it by themselves again and again, so that it is no sign of anybody at the keyboard.
pub(super) fn is_by_itself(path: &str) -> bool {
    [LIVE, NEWS, ALERTS, ALERT_BANNER, REPLICAS].contains(&path)
}

/// Addresses whose answers, or those below, may hold a secret (a one-time link's token, the id of a plan) beside text that
/// whoever asks chose: compressed, their length would tell the secret, a guess at a time (BREACH).
const NEVER_COMPRESSED: [&str; 4] = ["/api/v1/release", "/release", "/sign-in", "/sign-out"];

/// Whether answers of a route may be compressed.
pub(super) fn is_compressed(path: &str) -> bool {
    let is_under = |top: &str| path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !NEVER_COMPRESSED.into_iter().any(is_under)
}

/// Whether pages may be at an address.
pub(super) fn is_page(path: &str) -> bool {
    ROUTES.iter().any(|row| matches!(row.answer, Answer::Page) && row.path == path)
}

/// Whether an answer has a limit of its own for how long it may take.
pub(super) fn bounds_itself(method: &Method, path: &str) -> bool {
    let is_its_own = |row: &Route| matches!(row.answer, Answer::Act(_)) || row.path == EXPORT;
    ROUTES.iter().any(|row| is_its_own(row) && row.verb.takes(method) && row.path == path)
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
    let mut there = ROUTES.iter().filter(|row| row.path == matched).peekable();
    if there.peek().is_none() {
        return Match::None;
    }
    there.find(|row| row.verb.takes(method)).map_or(Match::Otherwise, Match::Route)
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

/// Addresses of the API, for people; those below another one are left out.
pub(super) fn addresses() -> String {
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
            // It has both sides prove that they know the secret of the cluster, before anything else.
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
        let plain: Vec<_> = ROUTES.iter().map(|row| row.path).filter(|path| !is_compressed(path)).collect();
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
