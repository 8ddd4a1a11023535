//! `GET /api/v1/history/diff`: two moments compared.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::diff;
use lockscope_view::Scope;
use lockscope_view::past::Diff;

use super::PastMoment;
use super::ask::Asked;
use super::{Moment, MomentError};
use crate::Http;
use crate::api::{Pairs, share_past};
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;

const TAKES: [&str; 4] = ["ensemble", "path", "from", "to"];

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, 1)?;
    Ok(share_past(&http, asked, move |http, scope| compared(http, &scope, &of)).await)
}

fn compared(http: &Http, scope: &Scope, asked: &Asked) -> Result<Json<Diff>, ErrorResponse> {
    let (ensemble, _) = http.recorded(scope, &asked.ensemble)?;
    let moments = http.moments.as_ref().ok_or(MomentError::NoHistory)?;
    // Without `to` the newest moment that is kept.
    let range = asked.range(http.newest_moment(scope) - 1)?;
    let at = |at_ms: i64| -> Result<Arc<PastMoment>, ErrorResponse> { Ok(moments.at(&Moment::At(at_ms), scope)?) };
    let (before, after) = (at(range.start.0)?, at(range.end.0)?);
    match (before.model(&ensemble), after.model(&ensemble)) {
        (Some(before), Some(after)) => {
            let models = (before.observatory(), after.observatory());
            Ok(Json(diff(models, &range, (&ensemble, &asked.path), scope)))
        }
        _ => Err(ErrorResponse::unavailable("the history can't be read now")),
    }
}
