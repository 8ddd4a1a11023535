//! The page of the record, for people: drawn by the server, without script.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use lockscope_page::{AuditView, audit_page};

use super::caller::Caller;
use super::problem::ErrorResponse;
use super::{Http, audit_api, server_pages};
use audit::PageQuery;

/// Records a page.
const PAGE_RECORDS: usize = 100;

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// `GET /audit`.
pub(super) async fn show(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let Query(mut pairs) = pairs
        .map_err(|error| ErrorResponse::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    // What the form sends for "everything".
    pairs.retain(|(name, value)| (name.as_str(), value.as_str()) != ("kind", "any"));
    let query = PageQuery { limit: PAGE_RECORDS, scope: actor.scope.clone(), ..audit_api::query(&pairs)? };
    let (filter, is_first) = (query.clone(), query.before.is_none() && query.after.is_none());
    let mut page = http.records.page(query).await?;
    http.name_other_logs(&mut page).await;
    let address = |before: Option<u64>| {
        let before = before.map(|before| ("before".to_owned(), before.to_string()));
        let kept = pairs.iter().filter(|(name, _)| !matches!(name.as_str(), "before" | "after")).cloned();
        format!("/audit?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(kept.chain(before)).finish())
    };
    let view = AuditView {
        actor: filter.actor.unwrap_or_default(),
        kind: filter.kind.map(|kind| kind.name().to_owned()).unwrap_or_default(),
        lock: filter.lock.unwrap_or_default(),
        newer: if is_first { String::new() } else { address(None) },
        older: page.next_before.map(|before| address(Some(before))).unwrap_or_default(),
    };
    server_pages::page(&http, &actor, |page_of| audit_page(page_of, &view, &page))
}
