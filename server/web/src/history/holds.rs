//! `GET /api/v1/history/holds`: who held and who waited, the newest first.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_history::query::{HoldsQuery, holds};
use lockscope_view::Scope;
use lockscope_view::past::Holds;

use super::ask::Asked;
use super::going_on::still;
use crate::Http;
use crate::api::share_past;
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;

pub(crate) const HOLDS_MAX: usize = 1_000;
const HOLDS_USUAL: usize = 100;

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let holds = Asked::read(&pairs, HOLDS_MAX)?;
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, &holds)).await)
}

fn found(http: &Http, scope: &Scope, asked: &Asked) -> Result<Json<Holds>, ErrorResponse> {
    let now_ms = http.hub.now_ms();
    let of = HoldsQuery { limit: asked.limit.unwrap_or(HOLDS_USUAL), ..asked.holds() };
    let mut answer = http.ask_past(scope, &asked.ensemble, asked.range(now_ms)?, |question| holds(question, of))?;
    let going_on = still(http, scope, &answer.ensemble, asked, now_ms)?;
    answer.holds.splice(0..0, going_on);
    Ok(Json(answer))
}

impl Asked {
    pub(super) fn holds(&self) -> HoldsQuery<'_> {
        let Self { path, session, client, before, .. } = self;
        HoldsQuery { path, session: *session, client, before: *before, limit: usize::MAX, bytes_max: usize::MAX }
    }
}
