//! The page of the record, for people: drawn by the server, without script.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use lockscope_page::{AuditView, audit_page};

use super::audit_logs::Whose;
use super::caller::Caller;
use super::problem::ErrorResponse;
use super::{Http, audit_api, server_pages};
use audit::PageQuery;

/// Records a page.
const PAGE_RECORDS: usize = 100;

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// `GET /audit`.
pub(super) async fn show(State(http): State<Http>, caller: Caller, pairs: Pairs) -> Result<Response, ErrorResponse> {
    let Query(mut pairs) = pairs
        .map_err(|error| ErrorResponse::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    // What the form sends for "everything".
    pairs.retain(|(name, value)| (name.as_str(), value.as_str()) != ("kind", "any"));
    let kept: Vec<(String, String)> =
        pairs.iter().filter(|(name, _)| !matches!(name.as_str(), "before" | "after" | "cursor")).cloned().collect();
    let is_numbered = pairs.iter().any(|(name, _)| matches!(name.as_str(), "before" | "after"));
    let is_paged = is_numbered || pairs.iter().any(|(name, _)| name == "cursor");
    // People are shown all logs, unless they name one.
    if http.requests.is_some() && !is_numbered && pairs.iter().all(|(name, _)| name != "replica") {
        pairs.push(("replica".to_owned(), "all".to_owned()));
    }
    let whose = Whose::take(&mut pairs)?;
    pairs.retain(|(name, _)| name != "limit");
    pairs.push(("limit".to_owned(), PAGE_RECORDS.to_string()));
    let query = PageQuery { scope: caller.actor.scope.clone(), ..audit_api::query(&pairs)? };
    let (filter, is_first) = (query.clone(), !is_paged);
    let page = http.audit_of(&caller, whose, query, &pairs).await?;
    let address = |on: Option<(&str, String)>| {
        let on = on.map(|(name, value)| (name.to_owned(), value));
        let pairs = kept.iter().cloned().chain(on);
        format!("/audit?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    };
    let older = match (&page.next_cursor, page.next_before) {
        (Some(cursor), _) => Some(("cursor", cursor.clone())),
        (None, before) => before.map(|before| ("before", before.to_string())),
    };
    let view = AuditView {
        actor: filter.actor.unwrap_or_default(),
        kind: filter.kind.map(|kind| kind.name().to_owned()).unwrap_or_default(),
        lock: filter.lock.unwrap_or_default(),
        newer: if is_first { String::new() } else { address(None) },
        older: older.map(|older| address(Some(older))).unwrap_or_default(),
    };
    server_pages::page(&http, &caller, |page_of| audit_page(page_of, &view, &page))
}
