//! Headers that every answer carries. A route that set one itself keeps it.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// For every answer.
pub(super) async fn of_all(mut response: Response) -> Response {
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut response, REFERRER_POLICY, "same-origin");
    set(&mut response, OPENER_POLICY, "same-origin");
    set(&mut response, RESOURCE_POLICY, "same-origin");
    set(&mut response, CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    response
}

/// For answers that are true only now.
pub(super) async fn of_api(mut response: Response) -> Response {
    set(&mut response, CACHE_CONTROL, "no-store");
    response
}

fn set(response: &mut Response, name: HeaderName, value: &'static str) {
    response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
}
