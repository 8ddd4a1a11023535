//! Who asks, as the server sees them.

use axum::extract::State;
use axum::{Extension, Json};
use lockscope_wire::Person;

use super::Http;
use super::api::{Pairs, takes_none};
use super::problem::Refused;
use identity::Actor;

pub(super) async fn me(State(http): State<Http>, Extension(actor): Extension<Actor>, pairs: Pairs) -> Result<Json<Person>, Refused> {
    takes_none(pairs, "/api/v1/me")?;
    Ok(Json(http.access.person(&actor)))
}
