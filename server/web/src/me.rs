//! Who asks, as the server sees them.

use axum::Json;
use axum::extract::State;
use lockscope_view::Person;

use super::Http;
use super::api::{Pairs, takes_none};
use super::caller::Caller;
use super::problem::ErrorResponse;

pub(super) async fn me(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    pairs: Pairs,
) -> Result<Json<Person>, ErrorResponse> {
    takes_none(pairs, "/api/v1/me")?;
    Ok(Json(http.access.person(&actor)))
}
