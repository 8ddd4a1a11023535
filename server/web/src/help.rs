//! What the words on the page mean: a page of its own, and one word for the page that asks in place. Both are made of the
//! tables that the documentation is made of, and need nothing but this program.

use axum::extract::{Query, State};
use axum::response::Response;
use lockscope_page::help_page;
use lockscope_view::guide::explanation;

use super::caller::Caller;
use super::compact::compact;
use super::problem::{ErrorResponse, echo};
use super::{Http, server_pages};

/// `GET /help`.
pub(super) async fn show(State(http): State<Http>, caller: Caller) -> Result<Response, ErrorResponse> {
    let (own, owner) = (http.clone(), caller.principal.owner.clone());
    http.work.ask(&owner, move || server_pages::page(&own, &caller, help_page)).await?
}

/// `GET /help/explain?of=ANCHOR`: one word, in the compact encoding.
pub(super) async fn explain(Query(pairs): Query<Vec<(String, String)>>) -> Result<Response, ErrorResponse> {
    let of = pairs.iter().find(|(name, _)| name == "of").map_or("", |(_, of)| of.as_str());
    let found = explanation(of);
    found
        .map(|found| compact(&found))
        .ok_or_else(|| ErrorResponse::not_found(format!("`{}` is no word on the page; /help lists them", echo(of))))
}
