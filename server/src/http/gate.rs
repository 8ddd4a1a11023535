//! Between every route and whoever comes: who is it, and may they? Asks the table what is needed, and refuses what the
//! table does not know.

use std::net::{IpAddr, SocketAddr};

use app::wire::{Duty, SignedBy};
use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::http::header::{LOCATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Http;
use super::problem::Refused;
use super::routes::{self, Answer, LIVE, Match, Need, Row};
use super::sign_in;
use crate::access::{Actor, Denied, Known, Right};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Where a request came from on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) Option<IpAddr>);

impl Peer {
    pub(super) fn of(extensions: &Extensions) -> Self {
        Self(extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip()))
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.extensions))
    }
}

/// Resolves who asks, once, leaves it in the request as [`Actor`] and [`Known`], and lets pass who may.
pub(super) async fn gate(State(http): State<Http>, mut request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let row = match matched.as_deref().map(|path| routes::find(path, request.method())) {
        Some(Match::Row(row)) => row,
        Some(Match::Otherwise) => return method_not_allowed(request.method(), request.uri()).into_response(),
        // Served by no row: not there, whatever would answer.
        Some(Match::None) => return nothing_there(request.uri()).into_response(),
        None => return unknown(&http, request, next).await,
    };
    let known = http.access.resolve(request.headers(), Peer::of(request.extensions()).0);
    if let Need::Of(right) = row.need {
        match &known {
            Err(denied) => return not_known(row, denied, request.uri()),
            Ok(known) if !known.actor.may(right) => return not_allowed(row, &known.actor, right, request.uri()),
            Ok(_) => {}
        }
    }
    if let Err(refused) = check_origin(request.method(), request.headers(), known.as_ref().ok()) {
        return refused.into_response();
    }
    if let Ok(known) = known {
        if row.path != LIVE {
            http.access.touch(&known);
        }
        request.extensions_mut().insert(known.actor.clone());
        request.extensions_mut().insert(known);
    }
    next.run(request).await
}

/// Whoever does something with what the browser sends by itself (a cookie, or a proxy's word) has to come from one of
/// our own pages. A token is sent by nobody by itself. The check of all origins belongs here too.
fn check_origin(method: &Method, headers: &HeaderMap, known: Option<&Known>) -> Result<(), Refused> {
    if matches!(*method, Method::GET | Method::HEAD) || known.is_some_and(Known::is_by_bearer) {
        return Ok(());
    }
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    if matches!(site, None | Some(b"same-origin" | b"none")) {
        return Ok(());
    }
    Err(Refused::new(StatusCode::FORBIDDEN, "a page of another site may not do this; open the dashboard at the address it is served from"))
}

/// An address that no route has: the page's own "not found" for those who may look, a plain one for the others.
async fn unknown(http: &Http, request: Request, next: Next) -> Response {
    match http.access.resolve(request.headers(), Peer::of(request.extensions()).0) {
        Ok(known) if known.actor.may(Right::View) => next.run(request).await,
        _ => nothing_there(request.uri()).into_response(),
    }
}

/// Nobody was recognised: scripts are told so, people are led to the page for signing in.
fn not_known(row: &Row, denied: &Denied, uri: &Uri) -> Response {
    match denied {
        Denied::Proxy(why) => Refused::new(StatusCode::FORBIDDEN, why.clone()).into_response(),
        Denied::Nobody if matches!(row.answer, Answer::Page) => to_sign_in(uri),
        Denied::Nobody => {
            let detail = "nobody may look here without being known; send `Authorization: Bearer TOKEN` (lockscope token new makes one), or sign in at /sign-in";
            challenge(Refused::new(StatusCode::UNAUTHORIZED, detail), "Bearer realm=\"lockscope\"")
        }
        Denied::Token(why) => challenge(Refused::new(StatusCode::UNAUTHORIZED, *why), "Bearer realm=\"lockscope\", error=\"invalid_token\""),
    }
}

fn not_allowed(row: &Row, actor: &Actor, right: Right, uri: &Uri) -> Response {
    let roles = right.roles().into_iter().map(Duty::name).collect::<Vec<_>>().join(" or ");
    let detail = format!("{} has the role {}, which may not {}; that needs {roles}", actor.name, actor.role, right.words());
    match (actor.by, row.answer) {
        (SignedBy::Nobody, Answer::Page) => to_sign_in(uri),
        (_, Answer::Page) => sign_in::refuse_page(&detail),
        (SignedBy::Nobody, _) => challenge(Refused::new(StatusCode::UNAUTHORIZED, detail), "Bearer realm=\"lockscope\""),
        _ => Refused::new(StatusCode::FORBIDDEN, detail).into_response(),
    }
}

fn challenge(refused: Refused, with: &'static str) -> Response {
    let mut response = refused.into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(with));
    response
}

fn to_sign_in(uri: &Uri) -> Response {
    let wanted = uri.path_and_query().map_or("/", |wanted| wanted.as_str());
    see_other(&sign_in::address(wanted))
}

/// A redirect that turns every method into GET.
pub(super) fn see_other(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, to);
    response
}

/// The address is there, asked for otherwise.
pub(super) fn method_not_allowed(method: &Method, uri: &Uri) -> Refused {
    let path = uri.path();
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, format!("{method} is not allowed at {path}; use {}", routes::verbs(path)))
}

fn nothing_there(uri: &Uri) -> Refused {
    Refused::not_found(format!("there is nothing at {}; the dashboard begins at /", uri.path()))
}
