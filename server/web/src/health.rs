//! Whether the process lives, and whether what it shows can be asked for.

use axum::extract::State;
use axum::response::{IntoResponse, Response};

use super::Http;
use super::problem::ErrorResponse;

pub(super) async fn healthz() -> &'static str {
    "alive\n"
}

pub(super) async fn readyz(State(http): State<Http>) -> Response {
    if http.draining.is_cancelled() {
        return ErrorResponse::unavailable("the server is shutting down; use another").into_response();
    }
    if !http.hub.projection().is_ready() {
        return ErrorResponse::unavailable("a root is still in its first sync; /api/v1/status names it")
            .into_response();
    }
    "ready\n".into_response()
}
