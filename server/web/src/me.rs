//! Who asks, as the server sees them.

use axum::Json;
use axum::extract::State;
use lockscope_view::Person;

use super::Http;
use super::caller::Caller;
use super::params::Params;
use super::problem::ErrorResponse;

pub(super) async fn me(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    _: Params,
) -> Result<Json<Person>, ErrorResponse> {
    Ok(Json(http.access.person(&actor)))
}
