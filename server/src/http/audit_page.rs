//! The page of the record, for people: drawn by the server, without script.

use app::ui::{AuditView, Plain, audit_page};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Query, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::response::{Html, IntoResponse as _, Response};
use leptos::nonce::Nonce;

use super::problem::Refused;
use super::{Http, assets, audit};
use crate::access::Actor;
use crate::audit::PageQuery;

/// Records a page.
const PAGE_RECORDS: usize = 100;

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// `GET /audit`.
pub(super) async fn show(State(http): State<Http>, Extension(actor): Extension<Actor>, pairs: Pairs) -> Result<Response, Refused> {
    let Query(mut pairs) = pairs.map_err(|error| Refused::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    // What the form sends for "everything".
    pairs.retain(|(name, value)| (name.as_str(), value.as_str()) != ("kind", "any"));
    let query = PageQuery { limit: PAGE_RECORDS, scope: actor.scope.clone(), ..audit::query(&pairs)? };
    let (filter, is_first) = (query.clone(), query.before.is_none() && query.after.is_none());
    let page = http.records.page(query).await?;
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
    let Some(assets) = assets::names() else {
        return Err(Refused::unavailable("this build carries no page; run `cargo run -p style`, then build the server again"));
    };
    let (nonce, person) = (Nonce::new().to_string(), http.access.person(&actor));
    let html = audit_page(&Plain { assets: &assets, nonce: &nonce, person: &person }, &view, &page);
    let mut response = Html(html).into_response();
    let policy = format!(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; img-src 'self'; style-src 'self'; script-src 'nonce-{nonce}'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
