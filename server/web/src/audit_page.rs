//! The page of the record, for people: drawn by the server, without script.

use axum::extract::State;
use axum::response::Response;
use lockscope_page::{AuditView, audit_page};

use super::caller::Caller;
use super::params::Params;
use super::problem::ErrorResponse;
use super::{Http, audit_api, server_pages};
use lockscope_audit::PageQuery;

const PAGE_RECORDS: usize = 100;

/// `GET /audit`.
pub(super) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Params(mut pairs): Params,
) -> Result<Response, ErrorResponse> {
    // What the form sends for "everything".
    pairs.retain(|(name, value)| (name.as_str(), value.as_str()) != ("kind", "any"));
    let kept: Vec<(String, String)> =
        pairs.iter().filter(|(name, _)| !matches!(name.as_str(), "before" | "after")).cloned().collect();
    let is_first = kept.len() == pairs.len();
    pairs.retain(|(name, _)| name != "limit");
    pairs.push(("limit".to_owned(), PAGE_RECORDS.to_string()));
    let query = PageQuery { scope: caller.actor.scope.clone(), ..audit_api::query(&pairs)? };
    let filter = query.clone();
    let page = http.audit(query).await?;
    let address = |before: Option<u64>| {
        let pairs = kept.iter().cloned().chain(before.map(|before| ("before".to_owned(), before.to_string())));
        format!("/audit?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    };
    let view = AuditView {
        actor: filter.actor.unwrap_or_default(),
        kind: filter.kind.map(|kind| kind.name().to_owned()).unwrap_or_default(),
        lock: filter.lock.unwrap_or_default(),
        newer: if is_first { String::new() } else { address(None) },
        older: page.next_before.map(|before| address(Some(before))).unwrap_or_default(),
    };
    server_pages::page(&http, &caller, |page_of| audit_page(page_of, &view, &page))
}
