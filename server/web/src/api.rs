//! The reading half of the API: status, locks, one lock, who waits for whom, sessions.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query, State};
use axum::http::request::Parts;
use axum::response::Response;
use lockscope_view::{
    BoardQuery, LockQuery, ParseQueryError, Scope, SessionGroup, SessionQuery, SessionsQuery, StatusQuery, WaitsQuery,
    age_ms,
};
use serde::Serialize;

use super::Http;
use super::api_sessions::{SessionDetail, SessionList, StatusAnswer, WaitsJson};
use super::api_types::{LockDetail, Locks};
use super::csv::{self, Table};
use super::history::{Moment, with_moment};
use super::problem::{ErrorResponse, echo, wrong};
use super::shared_answers::{Answer, AnswerRequest};
use lockscope_live::{FeedError, ProjectedView};

/// Decoded query parameters in the order given.
pub(super) type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

pub(super) async fn status(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let moment = only_moment(pairs, "/api/v1/status")?;
    Ok(share_at(&http, asked, moment, status_now).await)
}

fn status_now(http: &Http, scope: Scope) -> Result<Json<StatusAnswer>, ErrorResponse> {
    let (_, ProjectedView { body: status, known }) = http.hub.look(StatusQuery, &scope)?;
    Ok(Json(StatusAnswer { age_ms: age_ms(known.at_ms, http.hub.now_ms()), status }))
}

pub(super) async fn locks(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(read(pairs)?)?;
    let (pairs, format) = with_format(pairs)?;
    let query = BoardQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(match format {
        ListFormat::Json => share_at(&http, asked, moment, |http, scope| locks_now(http, scope, query)).await,
        ListFormat::Csv => share_table(&http, asked, moment, |http, scope| locks_table(http, scope, query)).await,
    })
}

fn locks_now(http: &Http, scope: Scope, query: BoardQuery) -> Result<Json<Locks>, ErrorResponse> {
    let (seq, ProjectedView { body: board, known }) = http.hub.look(query, &scope)?;
    Ok(Json(Locks::new(seq, &board, known, http.hub.now_ms())))
}

fn locks_table(http: &Http, scope: Scope, query: BoardQuery) -> Result<Table, ErrorResponse> {
    let (_, ProjectedView { body: board, known }) = http.hub.look(query, &scope)?;
    Ok(csv::locks(&board, known, http.hub.now_ms()))
}

pub(super) async fn lock(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(read(pairs)?)?;
    let (pairs, format) = with_format(pairs)?;
    let query = LockQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(match format {
        ListFormat::Json => share_at(&http, asked, moment, |http, scope| lock_now(http, scope, query)).await,
        ListFormat::Csv => share_table(&http, asked, moment, |http, scope| contenders_table(http, scope, query)).await,
    })
}

fn lock_now(http: &Http, scope: Scope, query: LockQuery) -> Result<Json<LockDetail>, ErrorResponse> {
    let path = query.path.clone();
    let (seq, ProjectedView { body: page, known }) = http.hub.look(query, &scope)?;
    let page = page.ok_or_else(|| no_lock(&path))?;
    Ok(Json(LockDetail::new(seq, *page, known, http.hub.now_ms())))
}

fn contenders_table(http: &Http, scope: Scope, query: LockQuery) -> Result<Table, ErrorResponse> {
    let path = query.path.clone();
    let (_, ProjectedView { body: page, known }) = http.hub.look(query, &scope)?;
    let page = page.ok_or_else(|| no_lock(&path))?;
    Ok(csv::contenders(&page, known, http.hub.now_ms()))
}

pub(super) fn no_lock(path: &str) -> ErrorResponse {
    ErrorResponse::not_found(format!("no lock is known at {}; GET /api/v1/locks lists every lock that is", echo(path)))
}

pub(super) async fn waits(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let moment = only_moment(pairs, "/api/v1/waits")?;
    Ok(share_at(&http, asked, moment, waits_now).await)
}

fn waits_now(http: &Http, scope: Scope) -> Result<Json<WaitsJson>, ErrorResponse> {
    let (seq, ProjectedView { body: waits, known }) = http.hub.look(WaitsQuery::default(), &scope)?;
    Ok(Json(WaitsJson::new(seq, *waits, known, http.hub.now_ms())))
}

pub(super) async fn sessions(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(read(pairs)?)?;
    let (pairs, format) = with_format(pairs)?;
    let query = SessionsQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(match format {
        ListFormat::Json => share_at(&http, asked, moment, |http, scope| sessions_now(http, scope, query)).await,
        ListFormat::Csv => share_table(&http, asked, moment, |http, scope| sessions_table(http, scope, query)).await,
    })
}

fn sessions_table(http: &Http, scope: Scope, query: SessionsQuery) -> Result<Table, ErrorResponse> {
    let is_grouped = query.group != SessionGroup::Session;
    let (_, ProjectedView { body: sessions, known }) = http.hub.look(query, &scope)?;
    Ok(csv::sessions(&sessions, is_grouped, known, http.hub.now_ms()))
}

fn sessions_now(http: &Http, scope: Scope, query: SessionsQuery) -> Result<Json<SessionList>, ErrorResponse> {
    let (seq, ProjectedView { body: sessions, known }) = http.hub.look(query, &scope)?;
    Ok(Json(SessionList::new(seq, sessions, known, http.hub.now_ms())))
}

pub(super) async fn session(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(read(pairs)?)?;
    let query = SessionQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(share_at(&http, asked, moment, |http, scope| session_now(http, scope, query)).await)
}

fn session_now(http: &Http, scope: Scope, query: SessionQuery) -> Result<Json<SessionDetail>, ErrorResponse> {
    let id = query.id;
    let (seq, ProjectedView { body: page, known }) = http.hub.look(query, &scope)?;
    let Some(page) = page else {
        return Err(ErrorResponse::not_found(format!(
            "session {id} owns nothing under the watched roots, and nothing is known of it; GET /api/v1/sessions lists those that do"
        )));
    };
    Ok(Json(SessionDetail::new(seq, *page, known, http.hub.now_ms())))
}

/// Has an answer made off the runtime, once for all who ask for the same at the same time.
pub(super) async fn share<T: Serialize>(
    http: &Http,
    asked: AnswerRequest,
    make: impl FnOnce(&Http, Scope) -> Result<Json<T>, ErrorResponse> + Send + 'static,
) -> Response {
    let (own, scope) = (http.clone(), asked.scope.clone());
    http.shared.answer(asked, move || Answer::json(make(&own, scope).map(|Json(value)| value))).await
}

/// The same of the past.
pub(super) async fn share_past<T: Serialize>(
    http: &Http,
    asked: AnswerRequest,
    make: impl FnOnce(&Http, Scope) -> Result<Json<T>, ErrorResponse> + Send + 'static,
) -> Response {
    let (own, scope) = (http.clone(), asked.scope.clone());
    http.past_shared.answer(asked, move || Answer::json(make(&own, scope).map(|Json(value)| value))).await
}

/// The same of a moment; of the present without one.
pub(super) async fn share_at<T: Serialize>(
    http: &Http,
    asked: AnswerRequest,
    moment: Option<Moment>,
    make: impl FnOnce(&Http, Scope) -> Result<Json<T>, ErrorResponse> + Send + 'static,
) -> Response {
    if moment.is_none() {
        return share(http, asked, make).await;
    }
    share_past(http, asked, move |http, scope| make(&http.at(moment.as_ref(), &scope)?, scope)).await
}

/// The same, as a table.
async fn share_table(
    http: &Http,
    asked: AnswerRequest,
    moment: Option<Moment>,
    make: impl FnOnce(&Http, Scope) -> Result<Table, ErrorResponse> + Send + 'static,
) -> Response {
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answers = if moment.is_some() { &http.past_shared } else { &http.shared };
    let make = move || make(&own.at(moment.as_ref(), &scope)?, scope);
    answers.answer(asked, move || Answer::table(make())).await
}

/// What a list is written as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListFormat {
    Json,
    Csv,
}

/// The parameters without `format`, and what that says.
pub(super) fn with_format(
    mut pairs: Vec<(String, String)>,
) -> Result<(Vec<(String, String)>, ListFormat), ErrorResponse> {
    let Some(at) = pairs.iter().position(|(name, _)| name == "format") else { return Ok((pairs, ListFormat::Json)) };
    let (name, value) = pairs.remove(at);
    match value.as_str() {
        "json" | "" => Ok((pairs, ListFormat::Json)),
        "csv" => Ok((pairs, ListFormat::Csv)),
        other => Err(wrong(&name, other, "json or csv")),
    }
}

/// The parameters of a request, each at most once.
pub(super) fn read(pairs: Pairs) -> Result<Vec<(String, String)>, ErrorResponse> {
    let Query(pairs) = pairs
        .map_err(|error| ErrorResponse::bad_request(format!("the query could not be read: {}", error.body_text())))?;
    let twice =
        pairs.iter().enumerate().find(|(at, (name, _))| pairs.iter().take(*at).any(|(before, _)| before == name));
    match twice {
        Some((_, (name, _))) => {
            Err(ErrorResponse::bad_request(format!("`{}` came more than once; send it once", echo(name))))
        }
        None => Ok(pairs),
    }
}

/// For addresses that have no parameters.
pub(super) fn takes_none(pairs: Pairs, address: &str) -> Result<(), ErrorResponse> {
    match read(pairs)?.first() {
        Some((name, _)) => {
            Err(ErrorResponse::bad_request(format!("`{}` is not a parameter of {address}; it takes none", echo(name))))
        }
        None => Ok(()),
    }
}

/// What is ordered is ordered now, and by its body alone: a parameter would be one that nobody heeds.
pub(super) struct NoParameters;

impl<S: Send + Sync> FromRequestParts<S> for NoParameters {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let path = parts.uri.path().to_owned();
        takes_none(Query::from_request_parts(parts, state).await, &path).map(|()| Self)
    }
}

/// For addresses that have no parameter but a moment.
pub(super) fn only_moment(pairs: Pairs, address: &str) -> Result<Option<Moment>, ErrorResponse> {
    let (pairs, moment) = with_moment(read(pairs)?)?;
    match pairs.first() {
        Some((name, _)) => Err(ErrorResponse::bad_request(format!(
            "`{}` is not a parameter of {address}; its only one is `at`",
            echo(name)
        ))),
        None => Ok(moment),
    }
}

/// A text that is not too long.
pub(super) fn short(name: &str, value: &str, chars_max: usize) -> Result<String, ErrorResponse> {
    if value.chars().count() > chars_max {
        return Err(wrong(name, value, &format!("at most {chars_max} characters")));
    }
    Ok(value.to_owned())
}

impl From<ParseQueryError> for ErrorResponse {
    fn from(error: ParseQueryError) -> Self {
        let ParseQueryError { name, value, expected } = error;
        Self::bad_request(ParseQueryError { name: echo(&name), value: echo(&value), expected }.to_string())
    }
}

impl From<FeedError> for ErrorResponse {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::BadView(_) | FeedError::Ambiguous(_) => Self::bad_request(error.to_string()),
            FeedError::TooManyViews | FeedError::ViewsTooLarge | FeedError::Encoding(_) => {
                Self::unavailable(error.to_string())
            }
        }
    }
}
