//! Who asks, as the server sees them.

use app::wire::Person;
use axum::extract::State;
use axum::{Extension, Json};

use super::Http;
use crate::access::Actor;

pub(super) async fn me(State(http): State<Http>, Extension(actor): Extension<Actor>) -> Json<Person> {
    Json(http.access.person(&actor))
}
