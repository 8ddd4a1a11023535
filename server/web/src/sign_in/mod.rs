//! Signing in and out in a browser, without a script: forms, and what they lead to.

#[cfg(feature = "oidc")]
pub(super) mod openid;
mod page;
pub(super) mod wall;

use std::collections::BTreeMap;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Query, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use serde::Deserialize;

use super::Http;
use super::peer::Peer;
use super::redirect::see_other;
use lockscope_access::{NewSession, Principal, Secret, SignInError};
use lockscope_view::{EnsembleStatus, Scope, StatusQuery};

/// No script at all, and forms that lead nowhere else.
const POLICY: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self' data:; style-src 'self'";
/// What the only ensemble is called when it has no name.
const UNNAMED: &str = "default";
/// Longest way back that is kept.
const NEXT_BYTES_MAX: usize = 2_048;
const UNREADABLE: &str = "the form could not be read; open this page again and fill it in";

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct Fields {
    name: String,
    password: Secret,
    token: Secret,
    key: Secret,
    next: String,
}

type QueryMap = Query<BTreeMap<String, String>>;

/// The page's address for somebody who wanted another.
pub(super) fn address(wanted: &str) -> String {
    if wall::is_wanted(wanted) {
        return wall::ADDRESS.to_owned();
    }
    let next = local(wanted);
    if next == "/" { "/sign-in".to_owned() } else { format!("/sign-in?next={}", page::encode(next)) }
}

/// The page for who is known and may not.
pub(super) fn refuse_page(detail: &str) -> Response {
    answer(StatusCode::FORBIDDEN, page::refused(detail))
}

pub(super) fn unavailable_page(status: StatusCode, detail: &str) -> Response {
    answer(status, page::unavailable(detail))
}

/// A way back that stays here: a path of ours, never another host in disguise, and not this page again.
fn local(next: &str) -> &str {
    let is_path = next.starts_with('/') && !next.starts_with("//") && next.len() <= NEXT_BYTES_MAX;
    let is_clean = !next.contains(|char: char| char == '\\' || char.is_control() || !char.is_ascii());
    let is_page = !["/sign-", "/api", "/pkg/"].iter().any(|begin| next.starts_with(begin));
    if is_path && is_clean && is_page { next } else { "/" }
}

pub(super) async fn show(State(http): State<Http>, peer: Peer, headers: HeaderMap, Query(asked): QueryMap) -> Response {
    let next = local(asked.get("next").map_or("", String::as_str));
    // Whether there is anybody who could sign in, be they as new as they may.
    http.access.look().await;
    let principal = http.access.resolve(&headers, peer.0).await.ok().filter(Principal::is_signed_in);
    let comes_from_elsewhere = headers.get("sec-fetch-site").is_some_and(|site| site.as_bytes() == b"cross-site");
    // A link on another site makes the browser keep the cookie back. Asked again from here, it sends it.
    if principal.is_none() && comes_from_elsewhere && !asked.contains_key("again") {
        return answer(StatusCode::OK, page::again(next));
    }
    if principal.is_some() && asked.contains_key("again") {
        return see_other(next);
    }
    answer(StatusCode::OK, page::form(&form(&http, next, principal)))
}

fn form<'a>(http: &Http, next: &'a str, who: Option<Principal>) -> page::Form<'a> {
    let access = &http.access;
    page::Form {
        next,
        name: "",
        error: "",
        who,
        has_accounts: access.has_accounts(),
        has_openid: access.has_openid(),
        is_read_only: access.is_read_only(),
        is_demo: access.is_demo(),
        offers_operator: access.offers_operator(),
    }
}

pub(super) async fn sign_in(
    State(http): State<Http>,
    peer: Peer,
    headers: HeaderMap,
    fields: Result<Form<Fields>, FormRejection>,
) -> Response {
    let fields = match fields {
        Ok(Form(fields)) => fields,
        // Its own words may quote what was typed.
        Err(_) => return refused(&http, &Fields::default(), StatusCode::BAD_REQUEST, UNREADABLE),
    };
    if fields.token.is_empty() && (fields.name.is_empty() || fields.password.is_empty()) {
        return refused(&http, &fields, StatusCode::UNPROCESSABLE_ENTITY, "write a name and its password, or a token");
    }
    let done = if fields.token.is_empty() {
        http.access.by_password(&headers, peer.0, &fields.name, fields.password.clone()).await
    } else {
        http.access.by_token(&headers, peer.0, &fields.token, None).await
    };
    match done {
        Ok(signed_in) => welcome(&http, &signed_in, local(&fields.next)),
        Err(why) => not_signed_in(&http, &fields, why),
    }
}

pub(super) async fn show_once(State(http): State<Http>, Query(mut asked): QueryMap) -> Response {
    let key = Secret::new(asked.remove("key").unwrap_or_default());
    let Some((name, grant)) = http.access.look_at_link(&key) else {
        return answer(StatusCode::OK, page::not_once(&SignInError::Link.words()));
    };
    let scope = Scope::new(grant.scope(), false);
    let status = http.hub.look(StatusQuery, &scope).map(|(_, status)| status.body).ok();
    let called = |ensemble: EnsembleStatus| {
        if ensemble.name == UNNAMED { ensemble.connect } else { ensemble.name }
    };
    let ensembles = status.into_iter().flat_map(|status| status.ensembles).map(called).collect();
    answer(StatusCode::OK, page::once(&key, &page::LinkHolder { name, role: grant.role, ensembles }))
}

pub(super) async fn once(
    State(http): State<Http>,
    peer: Peer,
    headers: HeaderMap,
    fields: Result<Form<Fields>, FormRejection>,
) -> Response {
    let Ok(Form(fields)) = fields else {
        return refused(&http, &Fields::default(), StatusCode::BAD_REQUEST, UNREADABLE);
    };
    let done = if fields.key.is_empty() {
        http.access.by_demo(&headers, peer.0).await
    } else {
        http.access.by_link(&headers, peer.0, &fields.key).await
    };
    match done {
        Ok(signed_in) => welcome(&http, &signed_in, local(&fields.next)),
        Err(why) => not_signed_in(&http, &fields, why),
    }
}

pub(super) async fn sign_out(State(http): State<Http>, peer: Peer, headers: HeaderMap) -> Response {
    // Whoever has no session has nothing to end; the answer is the same.
    let _ = http.access.sign_out(&headers, peer.0).await;
    with_cookie(see_other("/"), &http.access.no_cookie())
}

fn welcome(http: &Http, signed_in: &NewSession, next: &str) -> Response {
    let response = with_cookie(see_other(next), &signed_in.cookie(&http.access));
    match signed_in.device_cookie(&http.access) {
        Some(device) => with_cookie(response, &device),
        None => response,
    }
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(mut cookie) = HeaderValue::from_str(cookie) {
        cookie.set_sensitive(true);
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

fn not_signed_in(http: &Http, fields: &Fields, why: SignInError) -> Response {
    let (status, retry_s) = status_of(why);
    let mut response = refused(http, fields, status, &why.words());
    if let Some(seconds) = retry_s {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The status of a refusal, and when to try again, in seconds.
fn status_of(why: SignInError) -> (StatusCode, Option<u64>) {
    match why {
        SignInError::Wrong | SignInError::Link => (StatusCode::UNAUTHORIZED, None),
        SignInError::TooMuch => (StatusCode::FORBIDDEN, None),
        SignInError::Wait(seconds) => (StatusCode::TOO_MANY_REQUESTS, Some(seconds)),
        SignInError::Busy => (StatusCode::SERVICE_UNAVAILABLE, Some(5)),
    }
}

fn refused(http: &Http, fields: &Fields, status: StatusCode, error: &str) -> Response {
    let form = page::Form { name: &fields.name, error, ..form(http, local(&fields.next), None) };
    let mut response = answer(status, page::form(&form));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lockscope\""));
    }
    response
}

fn answer(status: StatusCode, html: String) -> Response {
    let mut response = (status, Html(html)).into_response();
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_stays_here() {
        for path in ["/", "/lock?path=%2Forder", "/waits", "/lock?path=//a"] {
            assert_eq!(local(path), path);
        }
        let hostile = [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "evil",
            "/a\nb",
            "/\t/evil.example",
            "javascript:alert(1)",
            "/sign-in",
            "/sign-out",
            "/api/v1/me",
            "/é",
            &format!("/{}", "a".repeat(3_000)),
        ];
        for path in hostile {
            assert_eq!(local(path), "/", "{path:?}");
        }
        assert_eq!(address("/lock?path=%2Fa&x=1"), "/sign-in?next=%2Flock%3Fpath%3D%252Fa%26x%3D1");
        assert_eq!(address("//x"), "/sign-in");
    }
}
