//! The reading half of the API: status, locks, one lock, who waits for whom, sessions.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_view::past::Unanswered;
use lockscope_view::{
    BoardQuery, LockQuery, ParseQueryError, Scope, SessionGroup, SessionQuery, SessionsQuery, StatusQuery, WaitsQuery,
    age_ms,
};
use serde::Serialize;

use super::Http;
use super::api_sessions::{SessionDetail, SessionList, StatusAnswer, WaitsJson};
use super::api_types::{LockDetail, Locks};
use super::csv::{self, Table};
use super::history::{Models, Moment, with_moment};
use super::params::{NamedValues, Params};
use super::problem::{ErrorResponse, echo, wrong};
use super::shared_answers::{Answer, AnswerRequest};
use lockscope_live::{FeedError, ProjectedView};

pub(super) async fn status(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (_, moment) = with_moment(pairs)?;
    Ok(share_at(&http, asked, moment, status_now).await)
}

fn status_now(models: &Models, scope: Scope) -> Result<Json<StatusAnswer>, ErrorResponse> {
    let (_, ProjectedView { body: status, known }) = models.hub.look(StatusQuery, &scope)?;
    Ok(Json(StatusAnswer { age_ms: age_ms(known.at_ms, models.hub.now_ms()), status }))
}

pub(super) async fn locks(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let (pairs, format) = with_format(pairs)?;
    let query = BoardQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(match format {
        ListFormat::Json => share_at(&http, asked, moment, |models, scope| locks_now(models, scope, query)).await,
        ListFormat::Csv => share_table(&http, asked, moment, |models, scope| locks_table(models, scope, query)).await,
    })
}

fn locks_now(models: &Models, scope: Scope, query: BoardQuery) -> Result<Json<Locks>, ErrorResponse> {
    let (seq, ProjectedView { body: board, known }) = models.hub.look(query, &scope)?;
    Ok(Json(Locks::new(seq, &board, known, models.hub.now_ms())))
}

fn locks_table(models: &Models, scope: Scope, query: BoardQuery) -> Result<Table, ErrorResponse> {
    let (_, ProjectedView { body: board, known }) = models.hub.look(query, &scope)?;
    Ok(csv::locks(&board, known, models.hub.now_ms()))
}

pub(super) async fn lock(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let moment = moment.map(Moment::of_one);
    let (pairs, format) = with_format(pairs)?;
    let query = LockQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(match format {
        ListFormat::Json => share_at(&http, asked, moment, |models, scope| lock_now(models, scope, query)).await,
        ListFormat::Csv => {
            share_table(&http, asked, moment, |models, scope| contenders_table(models, scope, query)).await
        }
    })
}

fn lock_now(models: &Models, scope: Scope, query: LockQuery) -> Result<Json<LockDetail>, ErrorResponse> {
    let path = query.path.clone();
    let (seq, ProjectedView { body: page, known }) = models.hub.look(query, &scope)?;
    let page = page.ok_or_else(|| no_lock(&path))?;
    Ok(Json(LockDetail::new(seq, *page, known, models.hub.now_ms())))
}

fn contenders_table(models: &Models, scope: Scope, query: LockQuery) -> Result<Table, ErrorResponse> {
    let path = query.path.clone();
    let (_, ProjectedView { body: page, known }) = models.hub.look(query, &scope)?;
    let page = page.ok_or_else(|| no_lock(&path))?;
    Ok(csv::contenders(&page, known, models.hub.now_ms()))
}

pub(super) fn no_lock(path: &str) -> ErrorResponse {
    ErrorResponse::not_found(format!("no lock is known at {}; GET /api/v1/locks lists every lock that is", echo(path)))
}

pub(super) async fn waits(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (_, moment) = with_moment(pairs)?;
    Ok(share_at(&http, asked, moment, waits_now).await)
}

fn waits_now(models: &Models, scope: Scope) -> Result<Json<WaitsJson>, ErrorResponse> {
    let (seq, ProjectedView { body: waits, known }) = models.hub.look(WaitsQuery::default(), &scope)?;
    Ok(Json(WaitsJson::new(seq, *waits, known, models.hub.now_ms())))
}

pub(super) async fn sessions(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let (pairs, format) = with_format(pairs)?;
    let query = SessionsQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(match format {
        ListFormat::Json => share_at(&http, asked, moment, |models, scope| sessions_now(models, scope, query)).await,
        ListFormat::Csv => {
            share_table(&http, asked, moment, |models, scope| sessions_table(models, scope, query)).await
        }
    })
}

fn sessions_table(models: &Models, scope: Scope, query: SessionsQuery) -> Result<Table, ErrorResponse> {
    let is_grouped = query.group != SessionGroup::Session;
    let (_, ProjectedView { body: sessions, known }) = models.hub.look(query, &scope)?;
    Ok(csv::sessions(&sessions, is_grouped, known, models.hub.now_ms()))
}

fn sessions_now(models: &Models, scope: Scope, query: SessionsQuery) -> Result<Json<SessionList>, ErrorResponse> {
    let (seq, ProjectedView { body: sessions, known }) = models.hub.look(query, &scope)?;
    Ok(Json(SessionList::new(seq, sessions, known, models.hub.now_ms())))
}

pub(super) async fn session(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let moment = moment.map(Moment::of_one);
    let query = SessionQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    Ok(share_at(&http, asked, moment, |models, scope| session_now(models, scope, query)).await)
}

fn session_now(models: &Models, scope: Scope, query: SessionQuery) -> Result<Json<SessionDetail>, ErrorResponse> {
    let id = query.id;
    let (seq, ProjectedView { body: page, known }) = models.hub.look(query, &scope)?;
    let Some(page) = page else {
        return Err(ErrorResponse::not_found(format!(
            "session {id} owns nothing under the watched roots, and nothing is known of it; GET /api/v1/sessions lists those that do"
        )));
    };
    Ok(Json(SessionDetail::new(seq, *page, known, models.hub.now_ms())))
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

pub(super) async fn share_past<T: Serialize>(
    http: &Http,
    asked: AnswerRequest,
    make: impl FnOnce(&Http, Scope) -> Result<Json<T>, ErrorResponse> + Send + 'static,
) -> Response {
    let (own, scope) = (http.clone(), asked.scope.clone());
    http.past_shared.answer(asked, move || Answer::json(make(&own, scope).map(|Json(value)| value))).await
}

/// Of a moment; of the present without one.
pub(super) async fn share_at<T: Serialize>(
    http: &Http,
    asked: AnswerRequest,
    moment: Option<Moment>,
    make: impl FnOnce(&Models, Scope) -> Result<Json<T>, ErrorResponse> + Send + 'static,
) -> Response {
    let is_past = moment.is_some();
    let make = move |http: &Http, scope: Scope| {
        let models = http.models(moment.as_ref(), &scope)?;
        let Json(answer) = make(&models, scope).map_err(|refused| refused.beside(&models.unanswered))?;
        Ok(Json(AtMoment::new(answer, models.unanswered)))
    };
    if is_past { share_past(http, asked, make).await } else { share(http, asked, make).await }
}

async fn share_table(
    http: &Http,
    asked: AnswerRequest,
    moment: Option<Moment>,
    make: impl FnOnce(&Models, Scope) -> Result<Table, ErrorResponse> + Send + 'static,
) -> Response {
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answers = if moment.is_some() { &http.past_shared } else { &http.shared };
    let make = move || {
        let models = own.models(moment.as_ref(), &scope)?;
        let table = make(&models, scope).map_err(|refused| refused.beside(&models.unanswered))?;
        Ok(table.without(&models.unanswered))
    };
    answers.answer(asked, move || Answer::table(make())).await
}

/// An answer about a moment, with the ensembles of which nothing is known then, if there are any.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum AtMoment<T> {
    /// Of all ensembles, or of the present.
    Whole(T),
    Part {
        #[serde(flatten)]
        answer: T,
        unanswered: Vec<Unanswered>,
    },
}

impl<T> AtMoment<T> {
    fn new(answer: T, unanswered: Vec<Unanswered>) -> Self {
        if unanswered.is_empty() { Self::Whole(answer) } else { Self::Part { answer, unanswered } }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListFormat {
    Json,
    Csv,
}

/// The parameters without `format`, and what that says.
pub(super) fn with_format(mut pairs: NamedValues) -> Result<(NamedValues, ListFormat), ErrorResponse> {
    let Some(at) = pairs.iter().position(|(name, _)| name == "format") else { return Ok((pairs, ListFormat::Json)) };
    let (name, value) = pairs.remove(at);
    match value.as_str() {
        "json" | "" => Ok((pairs, ListFormat::Json)),
        "csv" => Ok((pairs, ListFormat::Csv)),
        other => Err(wrong(&name, other, "json or csv")),
    }
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
