//! What only the replica can answer that watches an ensemble: its past, its events, releases. Asked for by the name of an
//! ensemble that another replica watches, this one names those to ask. Live views come from there by themselves.

use axum::http::Uri;
use axum::response::{IntoResponse as _, Response};
use lockscope_wire::{LockQuery, SessionQuery, View};

use super::Http;
use super::problem::ErrorResponse;
use super::sign_in;
use feed::{FeedError, VisibilityScope};

/// Addresses, with all below, that are answered from what a replica has itself.
const BY_WHO_WATCHES: [&str; 10] = [
    "/api/v1/history",
    "/api/v1/incident",
    "/api/v1/incidents",
    "/api/v1/events",
    "/api/v1/orders",
    "/api/v1/time-to-lock",
    "/history",
    "/incidents",
    "/incident",
    "/events",
];

impl Http {
    /// Refuses what has to be done where an ensemble is watched.
    pub(super) fn watched_here(&self, ensemble: &str, scope: &VisibilityScope) -> Result<(), ErrorResponse> {
        // Out of scope, not even that it is there is disclosed.
        let may_know = ensemble.is_empty() || scope.covers_ensemble(ensemble);
        match self.hub.projection().elsewhere(ensemble).filter(|_| may_know) {
            Some(who) => Err(ErrorResponse::elsewhere(who)),
            None => Ok(()),
        }
    }

    /// The answer to a request that this replica can't answer; None where it can. `is_page`: it is a page of a live view.
    pub(super) fn refuse_elsewhere(&self, uri: &Uri, scope: &VisibilityScope, is_page: bool) -> Option<Response> {
        let path = uri.path();
        let is_under = |top: &str| path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let given = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let is_of_the_past = given("at").is_some();
        if is_of_the_past || BY_WHO_WATCHES.iter().any(|top| is_under(top)) {
            let refused = self.watched_here(given("ensemble").unwrap_or_default(), scope).err()?;
            let is_for_scripts = path.starts_with("/api/");
            let shown = || sign_in::unavailable_page(refused.status(), refused.sentence());
            return Some(if is_for_scripts { refused.clone().into_response() } else { shown() });
        }
        if is_page { self.refuse_unreachable(path, &pairs, scope) } else { None }
    }

    /// "There is no such lock" is said only where that is known.
    fn refuse_unreachable(&self, path: &str, pairs: &[(String, String)], scope: &VisibilityScope) -> Option<Response> {
        let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let view = match path {
            "/lock" => View::Lock(LockQuery::from_page_pairs(pairs).ok()?),
            "/session" => View::Session(SessionQuery::from_pairs(pairs).ok()?),
            _ => return None,
        };
        let view = feed::normalise(view).ok()?;
        match super::page_source::aside(|| self.hub.projection().prepare(&view, scope)) {
            Err(error @ FeedError::OwnerUnreachable(_)) => {
                let refused = ErrorResponse::from(error);
                Some(sign_in::unavailable_page(refused.status(), refused.sentence()))
            }
            Ok(()) | Err(_) => None,
        }
    }
}
