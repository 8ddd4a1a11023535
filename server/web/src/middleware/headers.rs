//! Headers that every answer carries. A route that set one itself keeps it.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::Http;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const DOMAIN_POLICIES: HeaderName = HeaderName::from_static("x-permitted-cross-domain-policies");
const ORIGIN_CLUSTER: HeaderName = HeaderName::from_static("origin-agent-cluster");
/// The page copies text, and needs nothing else of the machine.
const PERMISSIONS: &str = "accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), \
     magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(self), serial=(), usb=(), xr-spatial-tracking=()";
/// A year.
const TRANSPORT_SECURITY: &str = "max-age=31536000";

pub(crate) async fn of_all(State(http): State<Http>, request: Request, next: Next) -> Response {
    let keeps_encrypted = http.origins.is_encrypted() && !is_this_machine(&request);
    let mut response = next.run(request).await;
    set(&mut response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut response, REFERRER_POLICY, "same-origin");
    set(&mut response, OPENER_POLICY, "same-origin");
    set(&mut response, RESOURCE_POLICY, "same-origin");
    set(&mut response, CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    set(&mut response, X_FRAME_OPTIONS, "DENY");
    set(&mut response, PERMISSIONS_POLICY, PERMISSIONS);
    set(&mut response, DOMAIN_POLICIES, "none");
    set(&mut response, ORIGIN_CLUSTER, "?1");
    // What is answered is true only now, a refusal too. The page's files say how long they are kept; "not modified"
    // speaks of one with such a lifetime.
    if response.status() != StatusCode::NOT_MODIFIED {
        set(&mut response, CACHE_CONTROL, "no-store");
    }
    if keeps_encrypted {
        set(&mut response, STRICT_TRANSPORT_SECURITY, TRANSPORT_SECURITY);
    }
    response
}

/// A browser would keep the promise for every other server of `localhost` too.
fn is_this_machine(request: &Request) -> bool {
    request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .is_none_or(|host| host.split(':').next() == Some("localhost"))
}

fn set(response: &mut Response, name: HeaderName, value: &'static str) {
    response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
}
