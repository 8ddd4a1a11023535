//! Every route there is, what each needs, and how the API describes those that are its own. The router and the API's
//! document are made of these tables, and what is not in them is answered by nobody: a page or handler that is added
//! elsewhere stays unreachable until it has a row here.

mod acts;
#[cfg(feature = "lab")]
mod lab;
mod now;
mod pages;
mod params;
mod past;
mod replies;
mod server;

use axum::http::Method;

use super::operation::{Operation, Tag};
use super::params::ParamNames;
use super::route::{Answer, Need, Route, Verb};
use lockscope_audit::Right;

const VIEW: Need = Need::Of(Right::View);
const RELEASE: Need = Need::Of(Right::Release);
#[cfg(feature = "lab")]
const LAB: Need = Need::Of(Right::RunLab);
const AUDIT: Need = Need::Of(Right::ReadAudit);

pub(super) const OPERATIONS: &[(Tag, &[Operation])] = &[
    (Tag::Look, now::OPERATIONS),
    (Tag::Look, past::OPERATIONS),
    (Tag::Live, now::LIVE),
    (Tag::Release, acts::RELEASES),
    (Tag::Alerts, acts::ALERTS),
    (Tag::Audit, acts::LOG),
    (Tag::Server, server::OPERATIONS),
    #[cfg(feature = "lab")]
    (Tag::Lab, lab::OPERATIONS),
];

pub fn all() -> impl Iterator<Item = &'static Route> {
    let of_api = OPERATIONS.iter().flat_map(|(_, operations)| operations.iter().map(|operation| &operation.route));
    of_api.chain(pages::ROUTES)
}

pub(super) fn with_params() -> impl Iterator<Item = (&'static Route, ParamNames)> {
    let operations = OPERATIONS.iter().flat_map(|(_, operations)| *operations);
    let of_api = operations.map(|operation| (&operation.route, ParamNames(operation.query_params().collect())));
    of_api.chain(pages::ROUTES.iter().map(|row| (row, ParamNames(row.params.into()))))
}

pub(super) fn is_page(path: &str) -> bool {
    all().any(|row| matches!(row.answer, Answer::Page) && row.path == path)
}

/// The row that answers a request, if there is one. `path`: as it is matched.
pub(super) fn row(path: &str, method: &Method) -> Option<&'static Route> {
    all().find(|row| row.path == path && row.verb.takes(method))
}

/// Whether an answer at an address may hold a secret; `path`: as it is matched.
pub(super) fn has_secret(path: &str) -> bool {
    all().any(|row| row.has_secret && row.path == path)
}

pub(super) fn is_probe(path: &str) -> bool {
    all().any(|row| row.is_probe && row.path == path)
}

pub(super) enum Match {
    Route(&'static Route),
    /// The address, asked for otherwise.
    Otherwise,
    None,
}

pub(super) fn find(matched: &str, method: &Method) -> Match {
    match row(matched, method) {
        Some(row) => Match::Route(row),
        None if all().any(|row| row.path == matched) => Match::Otherwise,
        None => Match::None,
    }
}

/// Methods that an address takes, for people.
pub(super) fn verbs(path: &str) -> String {
    let names: Vec<_> = all().filter(|row| row.path == path).map(|row| row.verb.name()).collect();
    if names.is_empty() { Verb::Get.name().to_owned() } else { names.join(" or ") }
}

/// The same for programs, as `Allow` has it.
pub(super) fn allowed(path: &str) -> String {
    let names = all()
        .filter(|row| row.path == path)
        .map(|row| if row.verb == Verb::Get { "GET, HEAD" } else { row.verb.name() });
    names.collect::<Vec<_>>().join(", ")
}

/// Addresses of the API, for people; those below another one are left out.
fn addresses() -> String {
    let all = || all().map(|row| row.path).filter(|path| path.starts_with("/api/v1/"));
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
        for (at, row) in all().enumerate() {
            let twin = all().take(at).find(|other| other.path == row.path && other.verb == row.verb);
            assert!(twin.is_none(), "{} {} is listed twice", row.verb.name(), row.path);
        }
    }

    #[test]
    fn only_what_says_nothing_of_locks_is_open() {
        let open: Vec<_> = all().filter(|row| row.need == Need::Open).map(|row| (row.verb.name(), row.path)).collect();
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
        let plain: Vec<_> = all().filter(|row| row.has_secret).map(|row| row.path).collect();
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
        assert!(all().all(|row| row.has_secret || !is_below(row.path)));
    }

    #[test]
    fn every_page_of_the_app_has_a_row() {
        let listed: Vec<String> =
            leptos_axum::generate_route_list(lockscope_page::App).iter().map(|route| route.path().to_owned()).collect();
        for path in &listed {
            assert!(is_page(if path.is_empty() { "/" } else { path }), "{path:?} has no row");
        }
        for row in all().filter(|row| matches!(row.answer, Answer::Page)) {
            assert!(
                listed.iter().any(|path| path == row.path || (path.is_empty() && row.path == "/")),
                "{} is no page",
                row.path
            );
        }
    }
}
