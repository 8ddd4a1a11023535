//! `/api/v1/events`: what happened lately.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_view::{Events, EventsQuery, Scope, WINDOW_ROWS_MAX};

use super::Http;
use super::api::{share, share_past};
use super::history::give_up_at;
use super::history::happened::{Cursor, Page, Search, Wanted};
use super::params::{Params, short};
use super::problem::{ErrorResponse, echo, wrong};
use super::shared_answers::AnswerRequest;
use lockscope_live::project::EventsView;
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX, absolute_or_none};

/// Parameters that lead into what was recorded.
const REACH_BACK: [&str; 3] = ["from", "to", "before"];
/// Rows when nothing is said.
const ROWS_USUAL: usize = 100;

pub(super) async fn events(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    if pairs.iter().any(|(name, _)| REACH_BACK.contains(&name.as_str())) {
        let wanted = wanted(&pairs)?;
        return Ok(share_past(&http, asked, move |http, scope| earlier(http, &scope, wanted)).await);
    }
    let (query, after) = query(&pairs)?;
    Ok(share(&http, asked, move |http, scope| told(http, &scope, &query, after)).await)
}

fn told(http: &Http, scope: &Scope, query: &EventsQuery, after: Option<u64>) -> Result<Json<Events>, ErrorResponse> {
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
    Ok(Json(Events { ensemble, epoch: http.hub.epoch(), events, next_after, lost, next_before: None }))
}

/// The newest of a stretch that may reach into what was recorded, in the order they happened.
fn earlier(http: &Http, scope: &Scope, wanted: Wanted) -> Result<Json<Events>, ErrorResponse> {
    let (ensemble, _) = http.recording(scope, &wanted.ensemble)?;
    let ensemble = if ensemble.is_empty() { wanted.ensemble.clone() } else { ensemble };
    let mut search = Search::begin(http, scope, Wanted { ensemble: ensemble.clone(), ..wanted });
    if search.is_open(http) {
        search.look_back(http, scope, give_up_at());
    }
    let Page { lines, next, .. } = search.page(http, scope);
    let events = lines.into_iter().rev().filter_map(|line| line.shown.what.ok());
    let events: Vec<_> = events.collect();
    let next_after = events.last().map_or(0, |row| row.number);
    let next_before = next.map(Cursor::text);
    Ok(Json(Events { ensemble, epoch: http.hub.epoch(), events, next_after, lost: 0, next_before }))
}

fn wanted(pairs: &[(String, String)]) -> Result<Wanted, ErrorResponse> {
    let mut wanted = Wanted { limit: ROWS_USUAL, ..Wanted::default() };
    for (name, value) in pairs {
        match name.as_str() {
            "before" => {
                let cursor = Cursor::of(value);
                wanted.before = Some(cursor.ok_or_else(|| wrong(name, value, "`next_before` of the answer before"))?);
            }
            "limit" => {
                let limit: u32 =
                    value.parse().map_err(|_| wrong(name, value, "a whole number from 0 to 4294967295"))?;
                wanted.limit = limit.clamp(1, WINDOW_ROWS_MAX) as usize;
            }
            "after" => {
                let detail = "`after` goes on from now and can't be combined with from, to or before";
                return Err(ErrorResponse::bad_request(detail));
            }
            _ => wanted.take(name, value)?,
        }
    }
    Ok(wanted)
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
            _ => {}
        }
    }
    Ok((query, after))
}

fn number(name: &str, value: &str) -> Result<u64, ErrorResponse> {
    value.parse().map_err(|_| wrong(name, value, "a whole number from 0 to 18446744073709551615"))
}
