//! Signing in a wallboard: a screen that nobody touches comes back by itself after a restart of the server or of its
//! browser. Its token is in the fragment of its address, which no browser sends: a script takes it out of the address bar
//! and sends it as the form would. Only tokens that may look and nothing else are taken.

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use leptos::nonce::Nonce;
use lockscope_view::Role;

use super::{Fields, POLICY, UNREADABLE, page, status_of, welcome};
use crate::Http;
use crate::peer::Peer;

pub(super) const ADDRESS: &str = "/sign-in/wall";
const WALL: &str = "/wall";

pub(super) fn is_wanted(address: &str) -> bool {
    address.split('?').next() == Some(WALL)
}

pub(crate) async fn show() -> Response {
    answer(StatusCode::OK, "")
}

pub(crate) async fn sign_in(
    State(http): State<Http>,
    peer: Peer,
    headers: HeaderMap,
    fields: Result<Form<Fields>, FormRejection>,
) -> Response {
    let Ok(Form(fields)) = fields else { return answer(StatusCode::BAD_REQUEST, UNREADABLE) };
    match http.access.by_token(&headers, peer.0, &fields.token, Some(Role::Viewer)).await {
        Ok(signed_in) => welcome(&http, &signed_in, WALL),
        Err(why) => answer(status_of(why).0, &why.words()),
    }
}

fn answer(status: StatusCode, error: &str) -> Response {
    let nonce = Nonce::new().to_string();
    let mut response = (status, Html(page::wall(&nonce, error))).into_response();
    let policy = format!("{POLICY}; script-src 'nonce-{nonce}'; require-trusted-types-for 'script'");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wallboard_has_a_way_in_of_its_own() {
        assert_eq!(
            ["/wall", "/wall?x=1", "/wallet", "/", "/lock?path=/wall"].map(is_wanted),
            [true, true, false, false, false]
        );
        assert_eq!(
            (super::super::address("/wall"), super::super::address("/waits").as_str()),
            (ADDRESS.to_owned(), "/sign-in?next=%2Fwaits")
        );
    }
}
