//! What is answered at addresses of the API that nothing is at, and at those of a part that this build has not.

use axum::http::Uri;
#[cfg(not(feature = "lab"))]
use axum::response::{IntoResponse as _, Response};

use super::problem::{ErrorResponse, echo};
use super::routes;

/// `GET /lab` of a build without it.
#[cfg(not(feature = "lab"))]
pub(super) async fn no_lab() -> Response {
    ErrorResponse::not_found(
        "this build of Lockscope has no lab; use one that was built with it (cargo feature `lab`)".to_owned(),
    )
    .into_response()
}

pub(super) async fn unknown_api(uri: Uri) -> ErrorResponse {
    ErrorResponse::not_found(format!("there is nothing at {}; the API has {}", echo(uri.path()), routes::addresses()))
}
