//! The audit log: a page of it, and all of it. Knows no file.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lockscope_view::{AuditKind, AuditPage};

use super::Http;
use super::caller::Caller;
use super::params::{Params, short};
use super::problem::{ErrorResponse, wrong};
use lockscope_audit::{AuditError, LIMIT_MAX, PageQuery};
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX};

/// `GET /api/v1/audit`: what is inside the scope of whoever asks.
pub(super) async fn page(
    State(http): State<Http>,
    caller: Caller,
    Params(pairs): Params,
) -> Result<Json<AuditPage>, ErrorResponse> {
    let query = PageQuery { scope: caller.actor.scope, ..query(&pairs)? };
    http.audit(query).await.map(Json)
}

/// `GET /api/v1/audit/export`: all of it, or nothing.
pub(super) async fn export(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    _: Params,
) -> Result<Response, ErrorResponse> {
    if !actor.scope.is_everywhere() {
        let detail = format!(
            "the audit log is exported whole, because a part of it can't be verified, and {} has a scope; ask somebody without one",
            actor.name
        );
        return Err(ErrorResponse::new(StatusCode::FORBIDDEN, detail));
    }
    let export = http.records.export().await?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"lockscope-audit.ndjson\""));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(export.bytes));
    Ok((headers, Body::from_stream(export.chunks)).into_response())
}

/// What is asked of the record; a mistake is one sentence.
pub(super) fn query(pairs: &[(String, String)]) -> Result<PageQuery, ErrorResponse> {
    let mut query = PageQuery::default();
    for (name, value) in pairs {
        match name.as_str() {
            "after" => query.after = Some(number(name, value)?),
            "before" => query.before = Some(number(name, value)?),
            "limit" => {
                let limit = value.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
                query.limit = limit.ok_or_else(|| wrong(name, value, &format!("a number from 1 to {LIMIT_MAX}")))?;
            }
            // Left empty, as a form sends it, it filters nothing.
            "actor" => query.actor = named(name, value, FILTER_CHARS_MAX)?,
            "lock" => query.lock = named(name, value, PATH_CHARS_MAX)?,
            "kind" if value.is_empty() => query.kind = None,
            "kind" => {
                let kind = AuditKind::ALL.into_iter().find(|kind| kind.name() == value);
                query.kind = Some(kind.ok_or_else(|| {
                    wrong(name, value, &format!("one of {}", AuditKind::ALL.map(AuditKind::name).join(", ")))
                })?);
            }
            _ => {}
        }
    }
    Ok(query)
}

fn named(name: &str, value: &str, chars_max: usize) -> Result<Option<String>, ErrorResponse> {
    Ok(Some(short(name, value, chars_max)?).filter(|value| !value.is_empty()))
}

fn number(name: &str, value: &str) -> Result<u64, ErrorResponse> {
    value.parse().map_err(|_| wrong(name, value, "the number of a record"))
}

impl From<AuditError> for ErrorResponse {
    fn from(error: AuditError) -> Self {
        Self::unavailable(error.to_string())
    }
}
