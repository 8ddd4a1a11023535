//! Between every route and whoever comes: who is it, and may they? Asks the table what is needed, and refuses what the
//! table does not know.

use std::net::IpAddr;

use axum::body::{Body, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ALLOW, WWW_AUTHENTICATE};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use lockscope_page::ports::FORM_TOKEN;
use lockscope_view::{Role, SignedBy};

use crate::caller::{Caller, PayloadChanges};
use crate::listener::Arrival;
use crate::peer::Peer;
use crate::problem::{ErrorResponse, echo};
use crate::redirect::see_other;
use crate::route::{Need, Route};
use crate::routes::{self, Match};
use crate::{BODY_BYTES_MAX, Counts, Http, sign_in};
use lockscope_access::{Denied, FormKey, Principal};
use lockscope_audit::{Actor, Right};
use lockscope_runtime::quota::neighbourhood;

/// Whatever is open to everybody is answered without a look at anybody. Else resolves who asks, once, leaves it in the
/// request as [`Caller`], and lets pass who may.
pub(crate) async fn authenticate(State(http): State<Http>, mut request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let row = match matched.as_deref().map(|path| routes::find(path, request.method())) {
        Some(Match::Route(row)) => row,
        Some(Match::Otherwise) => {
            let row = matched.as_deref().unwrap_or_default();
            return method_not_allowed(request.method(), request.uri(), row);
        }
        // Served by no row: not there, whatever would answer.
        Some(Match::None) => return nothing_there(request.uri()).into_response(),
        None => return unknown(&http, request, next).await,
    };
    let Need::Of(right) = row.need else {
        if row.acts_by_form()
            && let Ok(principal) = http.access.resolve(request.headers(), Peer::of(request.extensions()).0).await
        {
            request = match with_token(&http, row, &principal.forms, request).await {
                Ok(request) => request,
                Err(refused) => return refused,
            };
        }
        return next.run(request).await;
    };
    // Before authentication: the socket that begins here is notified of changes in the meantime.
    let payloads = PayloadChanges::begin(&http);
    let principal = match resolve(&http, request.headers(), request.extensions()).await {
        Err(denied) => return not_known(row, &denied, request.uri()),
        Ok(principal) if !principal.actor.may(right) => {
            return not_allowed(row, &principal.actor, right, request.uri());
        }
        Ok(principal) => principal,
    };
    if row.acts_by_form() {
        request = match with_token(&http, row, &principal.forms, request).await {
            Ok(request) => request,
            Err(refused) => return refused,
        };
    }
    if !row.is_polled {
        http.access.touch(&principal);
    }
    request.extensions_mut().insert(Caller::new(&http, principal, payloads));
    next.run(request).await
}

/// Renders a page when it is the caller's turn: that keeps a thread of the runtime, and nobody has more than one. What the
/// page waits for was fetched before.
pub(crate) async fn render_in_turn(State(http): State<Http>, request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Caller>().cloned() else { return next.run(request).await };
    let _turn = http.work.enter(&caller.principal.owner).await;
    next.run(request).await
}

/// Who asks. Of all that come from one address and don't say who they are, a client is told from others by the address that
/// the last proxy names, else by its connection: they are not one caller. An unknown proxy is believed in this, since
/// whoever lies only divides the share of their own address.
async fn resolve(http: &Http, headers: &HeaderMap, extensions: &Extensions) -> Result<Principal, Denied> {
    let mut principal = http.access.resolve(headers, Peer::of(extensions).0).await?;
    if principal.actor.by == SignedBy::Nobody {
        let hops = headers.get_all("x-forwarded-for").iter().next_back().and_then(|hops| hops.to_str().ok());
        let client = hops.and_then(|hops| hops.rsplit(',').next()?.trim().parse::<IpAddr>().ok());
        let port = || extensions.get::<Arrival>().map_or(0, |arrival| arrival.peer.port()).to_string();
        let client = client.map_or_else(port, |client| neighbourhood(Some(client)).to_string());
        principal.owner = principal.owner.member(client);
    }
    Ok(principal)
}

/// A form that acts, if it came from a page drawn for this sign-in: `Origin` says only that it is a page of ours, and
/// markup of others may be in one.
async fn with_token(http: &Http, row: &Route, forms: &FormKey, request: Request) -> Result<Request, Response> {
    if forms.allows(row.path, "") {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    // One that can't be read has no token.
    let body = to_bytes(body, BODY_BYTES_MAX).await.unwrap_or_default();
    let token = form_urlencoded::parse(&body).find(|(name, _)| name == FORM_TOKEN).map(|(_, token)| token);
    if forms.allows(row.path, token.as_deref().unwrap_or_default()) {
        return Ok(Request::from_parts(parts, Body::from(body)));
    }
    Counts::add(&http.counts.guarded);
    let detail = "Nothing was done: the form does not belong to your present sign-in. Open its page again, and send it from there.";
    Err(sign_in::unavailable_page(StatusCode::FORBIDDEN, detail))
}

/// An address that no route has: the page's own "not found" for those who may look, a plain one for the others.
async fn unknown(http: &Http, mut request: Request, next: Next) -> Response {
    let payloads = PayloadChanges::begin(http);
    match resolve(http, request.headers(), request.extensions()).await {
        Ok(principal) if principal.actor.may(Right::View) => {
            request.extensions_mut().insert(Caller::new(http, principal, payloads));
            next.run(request).await
        }
        _ => nothing_there(request.uri()).into_response(),
    }
}

/// Nobody was recognised: scripts get an error, people are redirected to sign in.
fn not_known(row: &Route, denied: &Denied, uri: &Uri) -> Response {
    match denied {
        Denied::Proxy(why) => ErrorResponse::new(StatusCode::FORBIDDEN, why.clone()).into_response(),
        Denied::Nobody if row.is_for_people() => to_sign_in(uri),
        Denied::Nobody => {
            let detail = "nobody may look here without being known; send `Authorization: Bearer TOKEN` (lockscope token new makes one), or sign in at /sign-in";
            challenge(ErrorResponse::new(StatusCode::UNAUTHORIZED, detail), "Bearer realm=\"lockscope\"")
        }
        Denied::Token(why) => challenge(
            ErrorResponse::new(StatusCode::UNAUTHORIZED, *why),
            "Bearer realm=\"lockscope\", error=\"invalid_token\"",
        ),
    }
}

fn not_allowed(row: &Route, actor: &Actor, right: Right, uri: &Uri) -> Response {
    let roles = right.roles();
    let detail = if actor.by == SignedBy::Nobody {
        let role = roles.first().map_or("somebody who may", |role| role.name());
        format!("You are signed out. Sign in as {} {role} to {}.", article(role), right.words())
    } else {
        let roles = roles.into_iter().map(Role::name).collect::<Vec<_>>().join(" or ");
        format!("{} has the role {}, which may not {}; that needs {roles}", actor.name, actor.role, right.words())
    };
    match (actor.by, row.is_for_people()) {
        (SignedBy::Nobody, true) => to_sign_in(uri),
        (_, true) => sign_in::refuse_page(&detail),
        (SignedBy::Nobody, false) => {
            challenge(ErrorResponse::new(StatusCode::UNAUTHORIZED, detail), "Bearer realm=\"lockscope\"")
        }
        (_, false) => ErrorResponse::new(StatusCode::FORBIDDEN, detail).into_response(),
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn challenge(refused: ErrorResponse, with: &'static str) -> Response {
    let mut response = refused.into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(with));
    response
}

fn to_sign_in(uri: &Uri) -> Response {
    let wanted = uri.path_and_query().map_or("/", |wanted| wanted.as_str());
    see_other(&sign_in::address(wanted))
}

/// The address is there, asked for otherwise; `row`: as the table has it.
fn method_not_allowed(method: &Method, uri: &Uri, row: &str) -> Response {
    let detail =
        format!("{} is not allowed at {}; use {}", echo(method.as_str()), echo(uri.path()), routes::verbs(row));
    let mut response = ErrorResponse::new(StatusCode::METHOD_NOT_ALLOWED, detail).into_response();
    if let Ok(allowed) = HeaderValue::from_str(&routes::allowed(row)) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

fn nothing_there(uri: &Uri) -> ErrorResponse {
    ErrorResponse::not_found(format!("there is nothing at {}; the dashboard begins at /", echo(uri.path())))
}
