//! What every request passes before it is answered: is it meant for us, and may the page behind it ask this? Knows no
//! route and no person; who somebody is, is asked later.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, COOKIE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::listener::Arrival;
use crate::origins::{self, FETCH_MODE, FETCH_SITE, Origins, forbidden};
use crate::problem::ErrorResponse;
use crate::{BODY_BYTES_MAX, Http, routes};

pub(crate) async fn check_origin(State(http): State<Http>, request: Request, next: Next) -> Response {
    let local = request.extensions().get::<Arrival>().map(|arrival| arrival.local);
    match check(&request, &http.origins, local) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            crate::Counts::add(&http.counts.guarded);
            refused.into_response()
        }
    }
}

fn check(request: &Request, origins: &Origins, local: Option<SocketAddr>) -> Result<(), ErrorResponse> {
    let (headers, path) = (request.headers(), request.uri().path());
    if !routes::is_probe(path) {
        if request.uri().authority().is_some() {
            return Err(ErrorResponse::bad_request(
                "a whole address in the request's first line is for proxies; send the path alone",
            ));
        }
        origins::check_host(headers, origins, local)?;
    }
    let is_data = path.starts_with("/api/") || path == "/metrics";
    if is_safe(request.method()) {
        if is_data { check_read(headers) } else { Ok(()) }
    } else {
        check_act(headers, path, origins, local)
    }
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Nothing of the API is for pages of other sites: not as a script, an image, a frame or a fetch. A link may lead here.
fn check_read(headers: &HeaderMap) -> Result<(), ErrorResponse> {
    let is = |name, word: &str| headers.get(name).is_some_and(|value| value.as_bytes() == word.as_bytes());
    if is(FETCH_SITE, "cross-site") && !is(FETCH_MODE, "navigate") {
        return Err(forbidden("a page of another site may not read this; open the dashboard at its own address"));
    }
    Ok(())
}

/// Whatever changes something: from our own pages or from scripts, and to the API only in JSON, which no form can send.
fn check_act(
    headers: &HeaderMap,
    path: &str,
    origins: &Origins,
    local: Option<SocketAddr>,
) -> Result<(), ErrorResponse> {
    // Any cookie: with one the sender is a browser.
    origins::check(headers, origins, local, headers.contains_key(COOKIE))?;
    let length =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()).and_then(|length| length.parse().ok());
    if length.is_some_and(|length: usize| length > BODY_BYTES_MAX) {
        let detail = format!("at most {BODY_BYTES_MAX} bytes are taken; send less");
        return Err(ErrorResponse::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    if path.starts_with("/api/") && !is_json(headers) {
        return Err(ErrorResponse::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the API takes JSON only; send it with the header Content-Type: application/json",
        ));
    }
    Ok(())
}

/// Whether what is sent says that it is JSON; a request that sends nothing need not.
fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    match (kinds.next(), kinds.next()) {
        (None, _) => {
            !headers.contains_key(TRANSFER_ENCODING)
                && headers.get(CONTENT_LENGTH).is_none_or(|length| length.as_bytes() == b"0")
        }
        (Some(kind), None) => {
            let kind = kind.to_str().unwrap_or_default();
            kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        }
        (Some(_), Some(_)) => false,
    }
}

#[cfg(test)]
mod tests;
