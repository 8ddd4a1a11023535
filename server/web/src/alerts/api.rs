//! `GET /api/v1/alerts`, and what operators do about them, for scripts.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lockscope_view::{Alert, AlertMatchers, Alerts, Silence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::StateFilter;
use crate::Http;
use crate::caller::Caller;
use crate::params::Params;
use crate::problem::{ErrorResponse, echo, wrong};
use crate::release_api::{JsonBody, read};

const SILENCE: &str = "{\"matchers\": {\"path\": \"/orders/*\"}, \"for_ms\": 3600000, \"reason\": \"maintenance\"}";
const ACK: &str = "{\"key\": \"3f0c…\", \"reason\": \"looking at it\"}";

/// Body of `POST /api/v1/alerts/silences`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SilenceOrder {
    /// Which alerts; one field at least.
    pub(crate) matchers: AlertMatchers,
    /// Until when, ms since the epoch; this or `for_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) until_at_ms: Option<i64>,
    /// For how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) for_ms: Option<i64>,
    /// Why, in at most 500 characters.
    pub(crate) reason: String,
}

/// Body of `POST /api/v1/alerts/ack`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckOrder {
    /// Which alert.
    pub(crate) key: String,
    /// Why, in at most 500 characters.
    pub(crate) reason: String,
}

/// `GET /api/v1/alerts`.
pub(crate) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Json<Alerts>, ErrorResponse> {
    let mut filter = StateFilter::All;
    for (name, value) in pairs {
        let remedy = StateFilter::NAMES.join(", ");
        filter = StateFilter::named(&value).ok_or_else(|| wrong(&name, &value, &format!("one of {remedy}")))?;
    }
    let Caller { actor, scope, principal, .. } = caller;
    let own = http.clone();
    Ok(Json(http.work.ask(&principal.owner, move || own.alerts_for(&actor, &scope, filter)).await??))
}

/// `POST /api/v1/alerts/silences`.
pub(crate) async fn silence(
    State(http): State<Http>,
    caller: Caller,
    order: JsonBody<SilenceOrder>,
) -> Result<Response, ErrorResponse> {
    let SilenceOrder { matchers, until_at_ms, for_ms, reason } = read(order, SILENCE)?;
    let until_at_ms = match (until_at_ms, for_ms) {
        (Some(until), None) => until,
        (None, Some(for_ms)) => http.alert_desk()?.alerts.now_ms().saturating_add(for_ms),
        (Some(_), Some(_)) | (None, None) => {
            let sentence = "give either `for_ms` or `until_at_ms`";
            return Err(ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, sentence));
        }
    };
    let silence = http.silence(&caller, matchers, until_at_ms, &reason).await?;
    let at = [(LOCATION, HeaderValue::from_static("/api/v1/alerts"))];
    Ok((StatusCode::CREATED, at, Json(silence)).into_response())
}

/// `DELETE /api/v1/alerts/silences/ID`.
pub(crate) async fn end_silence(
    State(http): State<Http>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Silence>, ErrorResponse> {
    let number = id.parse().map_err(|_| {
        ErrorResponse::not_found(format!("there is no silence {:?}; /api/v1/alerts lists them", echo(&id)))
    })?;
    Ok(Json(http.end_silence(&caller, number).await?))
}

/// `POST /api/v1/alerts/ack`.
pub(crate) async fn acknowledge(
    State(http): State<Http>,
    caller: Caller,
    order: JsonBody<AckOrder>,
) -> Result<Json<Alert>, ErrorResponse> {
    let AckOrder { key, reason } = read(order, ACK)?;
    Ok(Json(http.acknowledge(&caller, &key, &reason).await?))
}
