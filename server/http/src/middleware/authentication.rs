//! Between every route and whoever comes: who is it, and may they? Asks the table what is needed, and refuses what the
//! table does not know.

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ALLOW, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use lockscope_wire::{Role, SignedBy};

use crate::Http;
use crate::caller::{Caller, PayloadChanges};
use crate::elsewhere::ForwardRequest;
use crate::peer::Peer;
use crate::problem::{ErrorResponse, echo};
use crate::redirect::see_other;
use crate::replica_answer::ForwardedCaller;
use crate::route::{Answer, Need, Route};
use crate::routes::{self, Match};
use crate::sign_in;
use access::Denied;
use identity::{Actor, Right};

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
    let Need::Of(right) = row.need else { return next.run(request).await };
    // Before authentication: the socket that begins here is notified of changes in the meantime.
    let payloads = PayloadChanges::begin(&http);
    let forwarded = request.extensions().get::<ForwardedCaller>().cloned();
    let resolved = match &forwarded {
        Some(forwarded) => Ok(forwarded.principal.clone()),
        None => http.access.resolve(request.headers(), Peer::of(request.extensions()).0).await,
    };
    let principal = match resolved {
        Err(denied) => return not_known(row, &denied, request.uri()),
        Ok(principal) if !principal.actor.may(right) => {
            return not_allowed(row, &principal.actor, right, request.uri());
        }
        Ok(principal) => principal,
    };
    if forwarded.is_none() && !routes::is_by_itself(row.path) {
        http.access.touch(&principal);
    }
    let line = http.work.line(&principal.actor.quota_owner());
    let mut caller = Caller::new(&http, principal, payloads);
    if let Some(forwarded) = &forwarded {
        // Nobody sees more here than where they are.
        caller.scope = caller.scope.with_payloads_if(forwarded.payloads);
        caller.is_of_replica = true;
    }
    let is_page = matches!(row.answer, Answer::Page);
    let asked = ForwardRequest { method: request.method(), uri: request.uri(), row, is_forwarded: forwarded.is_some() };
    if let Some(answer) = http.answer_elsewhere(asked, &caller).await {
        return answer;
    }
    request.extensions_mut().insert(caller);
    // Rendering a page keeps a thread of the runtime: nobody has more than one.
    let _mine = if is_page { Some(line.lock().await) } else { None };
    next.run(request).await
}

/// An address that no route has: the page's own "not found" for those who may look, a plain one for the others.
async fn unknown(http: &Http, mut request: Request, next: Next) -> Response {
    let payloads = PayloadChanges::begin(http);
    match http.access.resolve(request.headers(), Peer::of(request.extensions()).0).await {
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
