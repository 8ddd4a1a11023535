//! `GET /api/v1/history/lock`: a lock over time, in pieces of whole minutes.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::{grain, over_time};
use lockscope_view::Scope;
use lockscope_view::past::LockOverTime;

use super::ask::Asked;
use crate::Http;
use crate::api::share_past;
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(&pairs, 1)?;
    if of.path.is_empty() {
        return Err(ErrorResponse::bad_request("`path` is missing: the path of a lock"));
    }
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, &of)).await)
}

fn found(http: &Http, scope: &Scope, asked: &Asked) -> Result<Json<LockOverTime>, ErrorResponse> {
    let range = asked.range(http.hub.now_ms())?;
    let grain_ms = grain(range.end.since(range.start), asked.grain_ms).map_err(ErrorResponse::bad_request)?;
    http.ask_past(scope, &asked.ensemble, range, |question| over_time(question, &asked.path, grain_ms)).map(Json)
}
