//! Signing in by OpenID Connect: away to the provider, and back from it.

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::{Fields, Http, Peer, QueryMap, answer, local, page, refused, see_other, with_cookie};
use lockscope_access::{AuthorizationResponse, OpenIdFault};

pub(crate) async fn begin(
    State(http): State<Http>,
    peer: Peer,
    headers: HeaderMap,
    Query(asked): QueryMap,
) -> Response {
    let next = local(asked.get("next").map_or("", String::as_str));
    match http.access.openid_begin(&headers, peer.0, next).await {
        Ok(away) => with_cookie(see_other(&away.to), &away.cookie),
        Err(fault) => not_signed_in(&http, next, &fault),
    }
}

/// The answer is a page that goes on by itself: on a redirect the browser would keep the new Strict cookie back, since
/// it comes from another site.
pub(crate) async fn back(State(http): State<Http>, peer: Peer, headers: HeaderMap, Query(asked): QueryMap) -> Response {
    let part = |name: &str| asked.get(name).map_or("", String::as_str);
    let back = AuthorizationResponse {
        code: part("code"),
        state: part("state"),
        issuer: part("iss"),
        error: part("error"),
        description: part("error_description"),
    };
    match http.access.openid_end(&headers, peer.0, &back).await {
        Ok((signed_in, next)) => {
            let response =
                with_cookie(answer(StatusCode::OK, page::arrived(local(&next))), &signed_in.cookie(&http.access));
            with_cookie(response, &http.access.no_openid_cookie())
        }
        Err(fault) => not_signed_in(&http, "/", &fault),
    }
}

fn not_signed_in(http: &Http, next: &str, fault: &OpenIdFault) -> Response {
    let status = match fault {
        OpenIdFault::Provider(_) => StatusCode::BAD_GATEWAY,
        OpenIdFault::Refused(_) => StatusCode::FORBIDDEN,
    };
    refused(http, &Fields { next: next.to_owned(), ..Fields::default() }, status, &fault.to_string())
}

#[cfg(test)]
mod tests;
