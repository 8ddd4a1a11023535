//! What only the replica can answer that watches an ensemble: its past, its events. Reads are forwarded to it; files of any
//! size and pages of the past are handed on whole and come piece by piece. Releases are in `release_elsewhere`. Live views
//! have a connection of their own.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use lockscope_wire::{LockQuery, SessionQuery, View};

use super::Http;
use super::caller::Caller;
use super::handed_on::{Asked, EXPORT, HandedOnContent, HandedOnKind, HandedOnMethod, kind_of};
use super::handed_on_send::{NotHandedOn, request_id};
use super::problem::ErrorResponse;
use super::replica_request::{ReplicaAddress, ReplicaAnswer, ReplicaRequest};
use super::route::Route;
use super::sign_in;
use ::cluster::ANSWER_HEADERS;
use feed::{Elsewhere, FeedError, VisibilityScope};

/// Addresses, with all below, that are answered from what a replica has itself.
const ANSWERED_BY_OWNERS: [&str; 12] = [
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
    "/blame",
    "/differs",
];
/// Sections of pages that are empty where a replica has nothing itself; of one that is polled, nobody is told more.
const SECTIONS: [&str; 5] =
    ["/lock/over-time", "/lock/time-to-lock", "/session/timeout", "/waits/orders", "/events/news"];
/// What a replica asks of another for itself or for whoever reads the audit log.
const AUDIT: &str = "/api/v1/audit";
const ALERTS: &str = "/api/v1/alerts";
pub(super) const FLEET: &str = "/api/v1/fleet";
const LAB_RUN: &str = "/api/v1/lab/runs/";
/// How long one owner may take. Two of them have less time than an answer may take in all.
const OWNER_ANSWERS_WITHIN: Duration = Duration::from_millis(4_500);
/// Of those what is never forwarded: files of any size, which are handed on.
const NEVER_FORWARDED: [&str; 1] = [EXPORT];
/// How long a page of the past may take to begin.
const PAGE_MAX: Duration = Duration::from_millis(4_500);
/// How long a file may take to begin: as long as one takes to make at most, and a while.
const FILE_MAX: Duration = Duration::from_secs(75);

fn is_under(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether its handler hands it on.
fn is_handed_on_act(method: &Method, uri: &Uri) -> bool {
    let method = match *method {
        Method::POST => HandedOnMethod::Post,
        Method::DELETE => HandedOnMethod::Delete,
        _ => return false,
    };
    kind_of(method, uri).is_some()
}

fn pairs_of(uri: &Uri) -> Vec<(String, String)> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect()
}

fn given<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Whether an address is of a moment of the past.
pub(super) fn names_a_moment(uri: &Uri) -> bool {
    given(&pairs_of(uri), "at").is_some()
}

/// Whether a request to this address may be forwarded to another replica.
pub(super) fn may_be_forwarded(uri: &Uri) -> bool {
    let path = uri.path();
    let is_of_the_past = path.starts_with("/api/v1/") && given(&pairs_of(uri), "at").is_some();
    let is_known = path == AUDIT
        || path == ALERTS
        || path == FLEET
        || path.starts_with(LAB_RUN)
        || is_of_the_past
        || ANSWERED_BY_OWNERS.iter().chain(&SECTIONS).any(|top| is_under(path, top));
    is_known && !NEVER_FORWARDED.iter().any(|top| is_under(path, top))
}

/// A request that may have to be forwarded.
pub(super) struct ForwardRequest<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) row: &'static Route,
    /// It came from another replica: it is not forwarded again.
    pub(super) is_forwarded: bool,
}

impl Http {
    pub(super) fn elsewhere(&self, ensemble: &str, scope: &VisibilityScope) -> Option<Elsewhere> {
        // Out of scope, not even that it is there is disclosed.
        let may_know = ensemble.is_empty() || scope.covers_ensemble(ensemble);
        self.hub.projection().elsewhere(ensemble).filter(|_| may_know)
    }

    /// The answer to a request that this replica can't answer; None where it can.
    pub(super) async fn answer_elsewhere(&self, asked: ForwardRequest<'_>, caller: &Caller) -> Option<Response> {
        let path = asked.uri.path();
        let pairs = pairs_of(asked.uri);
        if is_handed_on_act(asked.method, asked.uri) {
            // Whoever does it looks where, once it is known what it is about.
            return None;
        }
        let is_section = SECTIONS.iter().any(|top| is_under(path, top));
        let is_there =
            is_section || given(&pairs, "at").is_some() || ANSWERED_BY_OWNERS.iter().any(|top| is_under(path, top));
        if is_there {
            let there = self.elsewhere(given(&pairs, "ensemble").unwrap_or_default(), &caller.scope);
            return match there {
                Some(there) => self.forward(&asked, &there, caller, is_section).await,
                None => None,
            };
        }
        let is_page = matches!(asked.row.answer, super::Answer::Page);
        if is_page { self.refuse_unreachable(path, &pairs, &caller.scope) } else { None }
    }

    /// Asks an owner, and the next where one does not answer. None: a section of a page, which stays empty.
    async fn forward(
        &self,
        asked: &ForwardRequest<'_>,
        there: &Elsewhere,
        caller: &Caller,
        is_section: bool,
    ) -> Option<Response> {
        let is_read = matches!(*asked.method, Method::GET | Method::HEAD);
        let mut refused = ErrorResponse::elsewhere(there.why.clone());
        let may_ask = is_read && !asked.is_forwarded && self.requests.is_some();
        let target = asked.uri.path_and_query().map_or("/", |target| target.as_str());
        if may_ask && may_be_forwarded(asked.uri) {
            let request = ReplicaRequest::new(target, caller);
            for (id, address) in &there.owners {
                let of = ReplicaAddress { id: id.clone(), address: address.clone() };
                match self.ask_replica(&of, &request, OWNER_ANSWERS_WITHIN).await {
                    // Two that look at each other for it are of different minds for a moment.
                    Ok(answer) if answer.status == StatusCode::MISDIRECTED_REQUEST.as_u16() => {}
                    Ok(answer) if is_section && answer.status != StatusCode::OK.as_u16() => return None,
                    Ok(answer) => match response_of(answer) {
                        Some(response) => return Some(response),
                        None => {
                            refused = ErrorResponse::owner_unreachable(format!("the replica {id} answers nonsense"))
                        }
                    },
                    Err(error) => refused = error,
                }
            }
        } else if let Some(kind) = kind_of(HandedOnMethod::Get, asked.uri).filter(|_| may_ask) {
            let whole =
                Asked { method: HandedOnMethod::Get, target: target.to_owned(), content: HandedOnContent::None };
            match self.handed_on_read(kind, &whole, there, caller).await {
                Ok(Some(response)) => return Some(response),
                Ok(None) => {}
                Err(error) => refused = error,
            }
        }
        if is_section {
            return None;
        }
        Some(if asked.row.is_for_people() {
            sign_in::unavailable_page(refused.status(), refused.sentence())
        } else {
            refused.into_response()
        })
    }

    /// A file or a page of the past of an owner, and of the next where one does not answer. None: nobody of them watches it.
    async fn handed_on_read(
        &self,
        kind: HandedOnKind,
        asked: &Asked,
        there: &Elsewhere,
        caller: &Caller,
    ) -> Result<Option<Response>, ErrorResponse> {
        let within = if kind == HandedOnKind::File { FILE_MAX } else { PAGE_MAX };
        let mut refused = None;
        for (id, _) in &there.owners {
            let Some(owner) = self.other_replica(id) else { continue };
            match self.hand_on(&owner, (kind, asked, &request_id()), caller, within).await {
                Ok(answer) if answer.status() == StatusCode::MISDIRECTED_REQUEST => {}
                Ok(answer) => return Ok(Some(answer.streamed())),
                // Another owner would be asked for the same by one who asks for too much.
                Err(NotHandedOn::NotSent(why)) if why.status() == StatusCode::TOO_MANY_REQUESTS => return Err(why),
                Err(why) => refused = Some(why.unreachable(&owner.at)),
            }
        }
        refused.map_or(Ok(None), Err)
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

/// Another's answer, as ours; None where it can't be one.
pub(super) fn response_of(answer: ReplicaAnswer) -> Option<Response> {
    let mut response = axum::body::Body::from(answer.body).into_response();
    *response.status_mut() = StatusCode::from_u16(answer.status).ok()?;
    for (name, value) in ANSWER_HEADERS.into_iter().zip(&answer.headers).filter(|(_, value)| !value.is_empty()) {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(value).ok()?);
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_and_short_is_forwarded() {
        let is = |target: &str| may_be_forwarded(&target.parse().unwrap());
        for target in ["/api/v1/history", "/api/v1/history/lock?path=/a", "/incident", "/api/v1/locks?at=1", AUDIT] {
            assert!(is(target), "{target}");
        }
        for target in [
            "/api/v1/history/export?at=1",
            "/api/v1/audit/export",
            "/api/v1/live",
            "/api/v1/me",
            "/api/v1/locks",
            "/lock?at=1",
            "/sign-in",
            "/api/v1/cluster/ask",
            "/api/v1/release/plan",
        ] {
            assert!(!is(target), "{target}");
        }
    }

    #[test]
    fn a_forwarded_file_keeps_its_name_and_a_refusal_its_time() {
        let headers = ["text/csv", "", "attachment; filename=\"blame.csv\"", "30"].map(str::to_owned);
        let response = response_of(ReplicaAnswer { status: 429, headers, body: "a,b".into() }).unwrap();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"blame.csv\"");
        assert_eq!(response.headers()["retry-after"], "30");
        assert!(!response.headers().contains_key("content-security-policy"), "the usual one is added");
    }
}
