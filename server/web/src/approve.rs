//! The page on which a second person approves a release.

use axum::extract::{Form, Query, State};
use axum::response::Response;
use lockscope_page::approve_page;
use lockscope_view::ReleaseOrder;
use serde::Deserialize;

use super::caller::Caller;
use super::problem::ErrorResponse;
use super::{Http, server_pages};
use lockscope_live::project;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ApproveQuery {
    plan: String,
}

/// `GET /release/approve?plan=ID`.
pub(super) async fn show(
    State(http): State<Http>,
    caller: Caller,
    Query(asked): Query<ApproveQuery>,
) -> Result<Response, ErrorResponse> {
    page(&http, &caller, &asked.plan, "")
}

/// `POST /release/approve`.
pub(super) async fn approve(
    State(http): State<Http>,
    caller: Caller,
    Form(order): Form<ReleaseOrder>,
) -> Result<Response, ErrorResponse> {
    let Some(service) = &http.release_service else { return Err(gone()) };
    let error = service.approve(&caller.actor, &order).await.err().map(|refused| refused.sentence).unwrap_or_default();
    page(&http, &caller, &order.plan_id, &error)
}

fn page(http: &Http, caller: &Caller, plan_id: &str, error: &str) -> Result<Response, ErrorResponse> {
    let planned = http.release_service.as_ref().and_then(|service| service.planned(&caller.actor, plan_id));
    let (plan, approved_by) = planned.ok_or_else(gone)?;
    let (plan, now_ms) = (project::shown(plan, &caller.scope), http.hub.now_ms());
    server_pages::page(http, caller, |of| {
        approve_page(of, &plan, approved_by.as_deref().unwrap_or_default(), error, now_ms)
    })
}

fn gone() -> ErrorResponse {
    ErrorResponse::not_found("there is no such plan, or it ran out; have it planned again")
}
