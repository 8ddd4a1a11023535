//! The reading half of the API: status, locks, one lock.

use app::wire::{BoardQuery, Body, LockQuery, ParseQueryError, Status, View};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};

use super::Http;
use super::api_types::{LockDetail, Locks};
use super::problem::Refused;
use crate::feed::FeedError;

/// Decoded query parameters in the order given.
type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

pub(super) async fn status(State(http): State<Http>, pairs: Pairs) -> Result<Json<Status>, Refused> {
    let pairs = read(pairs)?;
    if let Some((name, _)) = pairs.first() {
        return Err(Refused::bad_request(format!("`{name}` is not a parameter of /api/v1/status; it takes none")));
    }
    match http.hub.look(View::Status {})? {
        (_, Body::Status(status)) => Ok(Json(status)),
        (_, Body::Board(_) | Body::Lock(_)) => Err(mixed_up()),
    }
}

pub(super) async fn locks(State(http): State<Http>, pairs: Pairs) -> Result<Json<Locks>, Refused> {
    let pairs = read(pairs)?;
    let query = BoardQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    match http.hub.look(View::Board(query))? {
        (seq, Body::Board(board)) => Ok(Json(Locks::new(seq, &board, http.hub.now_ms()))),
        (_, Body::Lock(_) | Body::Status(_)) => Err(mixed_up()),
    }
}

pub(super) async fn lock(State(http): State<Http>, pairs: Pairs) -> Result<Json<LockDetail>, Refused> {
    let pairs = read(pairs)?;
    let query = LockQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    let path = query.path.clone();
    match http.hub.look(View::Lock(query))? {
        (seq, Body::Lock(Some(page))) => Ok(Json(LockDetail::new(seq, *page, http.hub.now_ms()))),
        (_, Body::Lock(None)) => Err(Refused::not_found(format!("no lock is known at {path}; GET /api/v1/locks lists every lock that is"))),
        (_, Body::Board(_) | Body::Status(_)) => Err(mixed_up()),
    }
}

fn read(pairs: Pairs) -> Result<Vec<(String, String)>, Refused> {
    let Query(pairs) = pairs.map_err(|error| Refused::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    Ok(pairs)
}

fn mixed_up() -> Refused {
    Refused::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "the server looked at another view than it was asked for; report this")
}

impl From<ParseQueryError> for Refused {
    fn from(error: ParseQueryError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<FeedError> for Refused {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::BadView(_) => Self::bad_request(error.to_string()),
            FeedError::TooManyViews | FeedError::Encoding(_) => Self::unavailable(error.to_string()),
        }
    }
}
