//! A handler that panics is answered, not cut off: a page or view is asked for once more, anything else is answered
//! with 500. The panic itself is counted and logged by [`lockscope_runtime::panics`].

use std::panic::AssertUnwindSafe;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Response};
use futures_util::FutureExt as _;

use crate::problem::ErrorResponse;

const PAGE: &str = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Error · Lockscope</title>\
     <h1>Lockscope could not draw this page</h1><p>The fault is in Lockscope and was logged. Nothing was changed in ZooKeeper. \
     <a href=\"\">Try again</a> or go to the <a href=\"/\">board</a>.</p></html>\n";

/// Runs what is inside; a GET without a body runs a second time when it panicked, since it changes nothing.
pub(crate) async fn caught(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let (parts, body) = request.into_parts();
    let again = (parts.method == Method::GET && body.is_end_stream()).then(|| (parts.clone(), next.clone()));
    if let Ok(response) = AssertUnwindSafe(next.run(Request::from_parts(parts, body))).catch_unwind().await {
        return response;
    }
    if let Some((parts, next)) = again
        && let Ok(response) = AssertUnwindSafe(next.run(Request::from_parts(parts, Body::empty()))).catch_unwind().await
    {
        return response;
    }
    failed(is_api)
}

fn failed(is_api: bool) -> Response {
    let detail =
        "the answer could not be made: the fault is in Lockscope and was logged; try again, and report it with the log";
    if is_api {
        return ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, detail).into_response();
    }
    (StatusCode::INTERNAL_SERVER_ERROR, Html(PAGE)).into_response()
}
