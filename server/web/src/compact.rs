//! Answers in the compact encoding, for the page.

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockscope_view::{COMPACT_TYPE, encode_frame};
use serde::Serialize;

use super::problem::ErrorResponse;

/// The page's dialog asks for the compact encoding, in which it gets instants instead of ages.
pub(super) fn wants_compact(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept == COMPACT_TYPE)
}

pub(super) fn compact<T: Serialize>(value: &T) -> Response {
    match encode_frame(value) {
        Some(bytes) => ([(CONTENT_TYPE, COMPACT_TYPE)], bytes).into_response(),
        None => ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be encoded; ask for JSON")
            .into_response(),
    }
}
