//! `GET /api/v1/history/diff`: two moments compared.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::diff;
use lockscope_view::Scope;
use lockscope_view::past::Diff;

use super::MomentError;
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
    Ok(share_past(&http, asked, move |http, scope| compared(http, &scope, &of)).await)
}

fn compared(http: &Http, scope: &Scope, asked: &Asked) -> Result<Json<Diff>, ErrorResponse> {
    let (ensemble, _) = http.recorded(scope, &asked.ensemble)?;
    let moments = http.moments.as_ref().ok_or(MomentError::NoHistory)?;
    // Without `to` the newest moment that is kept.
    let range = asked.range(http.newest_moment(scope, &ensemble) - 1)?;
    let (before, after) = (moments.model(&ensemble, range.start.0)?, moments.model(&ensemble, range.end.0)?);
    let models = (before.model.observatory(), after.model.observatory());
    Ok(Json(diff(models, &range, (&ensemble, &asked.path), scope)))
}
