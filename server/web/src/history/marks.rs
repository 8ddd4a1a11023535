//! `GET /api/v1/history/marks`: how much happened when, and what stands out: for a time axis.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::marks;
use lockscope_view::Scope;
use lockscope_view::past::Marks;

use super::ask::Asked;
use crate::Http;
use crate::api::share_past;
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;

pub(crate) const MARKS_MAX: usize = 2_000;
const MARKS_USUAL: usize = 500;

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(&pairs, MARKS_MAX)?;
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, &of)).await)
}

fn found(http: &Http, scope: &Scope, asked: &Asked) -> Result<Json<Marks>, ErrorResponse> {
    let (range, limit) = (asked.range(http.hub.now_ms())?, asked.limit.unwrap_or(MARKS_USUAL));
    http.ask_past(scope, &asked.ensemble, range, |question| marks(question, &asked.path, limit)).map(Json)
}
