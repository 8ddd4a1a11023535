//! What somebody keeps of how the board is shown, over HTTP.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockscope_view::Preferences;

use super::Http;
use super::caller::Caller;
use super::compact::{compact, wants_compact};
use super::params::Params;
use super::problem::ErrorResponse;
use super::release_api::{JsonBody, read};
use lockscope_access::PreferencesError;

const FORM: &str = "{\"revision\": 3, \"pins\": [], \"views\": [{\"name\": \"stuck\", \"query\": \"?verdict=stuck\"}]}";

/// `GET /api/v1/preferences`.
pub(super) async fn show(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    headers: HeaderMap,
    _: Params,
) -> Result<Response, ErrorResponse> {
    Ok(answer(&headers, http.access.preferences(&actor).await?))
}

/// `PUT /api/v1/preferences`.
pub(super) async fn replace(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    headers: HeaderMap,
    body: JsonBody<Preferences>,
) -> Result<Response, ErrorResponse> {
    Ok(answer(&headers, http.access.set_preferences(&actor, read(body, FORM)?).await?))
}

fn answer(headers: &HeaderMap, preferences: Preferences) -> Response {
    if wants_compact(headers) { compact(&preferences) } else { Json(preferences).into_response() }
}

impl From<PreferencesError> for ErrorResponse {
    fn from(error: PreferencesError) -> Self {
        let text = error.to_string();
        match error {
            PreferencesError::Nobody | PreferencesError::NoDirectory => Self::not_found(text),
            PreferencesError::Changed(_) => Self::new(StatusCode::CONFLICT, text),
            PreferencesError::TooOften(wait) => Self::too_many(text, wait),
            PreferencesError::Wrong(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, text),
            PreferencesError::Disk(_) => Self::unavailable(text),
        }
    }
}
