//! `/api/v1/events`: what happened lately.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_wire::{Events, EventsQuery, WINDOW_ROWS_MAX};

use super::Http;
use super::api::{Pairs, read, share, short, wrong};
use super::problem::{ErrorResponse, echo};
use super::shared_answers::AnswerRequest;
use feed::project::EventsView;
use feed::{FILTER_CHARS_MAX, PATH_CHARS_MAX, VisibilityScope, absolute_or_none};

pub(super) async fn events(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (query, after) = query(&read(pairs)?)?;
    Ok(share(&http, asked, move |http, scope| told(http, &scope, &query, after)).await)
}

fn told(
    http: &Http,
    scope: &VisibilityScope,
    query: &EventsQuery,
    after: Option<u64>,
) -> Result<Json<Events>, ErrorResponse> {
    let mut told = http.hub.projection().events_after(scope, query, after);
    if told.len() > 1 {
        let names = told.iter().map(|told| told.ensemble.as_str()).collect::<Vec<_>>().join(", ");
        return Err(ErrorResponse::bad_request(format!(
            "each ensemble has events of its own; name one with `ensemble`: {names}"
        )));
    }
    let Some(EventsView { ensemble, events, next_after, lost }) = told.pop() else {
        return Err(ErrorResponse::not_found(format!(
            "there is no ensemble {}; GET /api/v1/status lists them",
            echo(&query.ensemble)
        )));
    };
    Ok(Json(Events { ensemble, epoch: http.hub.epoch(), events, next_after, lost }))
}

fn query(pairs: &[(String, String)]) -> Result<(EventsQuery, Option<u64>), ErrorResponse> {
    let (mut query, mut after) = (EventsQuery::default(), None);
    for (name, value) in pairs {
        match name.as_str() {
            "ensemble" => query.ensemble = short(name, value, FILTER_CHARS_MAX)?,
            "path" => {
                query.path = short(name, value, PATH_CHARS_MAX)?;
                absolute_or_none(&query.path)?;
            }
            "after" => after = Some(number(name, value)?),
            "limit" => {
                let limit: u32 =
                    value.parse().map_err(|_| wrong(name, value, "a whole number from 0 to 4294967295"))?;
                query.limit = limit.clamp(1, WINDOW_ROWS_MAX);
            }
            _ => {
                return Err(ErrorResponse::bad_request(format!(
                    "`{}` is not a parameter of /api/v1/events; it takes ensemble, path, after and limit",
                    echo(name)
                )));
            }
        }
    }
    Ok((query, after))
}

fn number(name: &str, value: &str) -> Result<u64, ErrorResponse> {
    value.parse().map_err(|_| wrong(name, value, "a whole number from 0 to 18446744073709551615"))
}
