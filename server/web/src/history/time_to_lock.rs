//! `GET /api/v1/time-to-lock`: how long the waiters of a lock still have to wait, and how often such times were right; and
//! the same as a section of the lock's page, `GET /lock/time-to-lock`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::time_to_lock::{Calibration, LineKind, LineLife, RANGE_MS, read as learned};
use lockscope_page::{TimeToLockMarkup, time_to_lock_first, time_to_lock_markup};
use lockscope_view::{
    Access, Contender, LockQuery, NoEstimateReason, Scope, TimeToLock, WINDOW_ROWS_MAX, WaitCalibration,
};

use super::ask::{give_up_at, refused};
use super::{Models, Moment, with_moment};
use crate::Http;
use crate::api::{no_lock, share_past};
use crate::api_as_of::state_now;
use crate::caller::Caller;
use crate::params::{NamedValues, Params, short};
use crate::problem::{ErrorResponse, wrong};
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_live::{FILTER_CHARS_MAX, LineView, PATH_CHARS_MAX, ProjectedView, RecordedHabits, time_to_lock};

/// Waiters that are listed where nobody says how many.
pub(crate) const WAITS_USUAL: u32 = 20;
const WAITS_SHOWN: u32 = 8;
/// How long a document waits for what was recorded.
const PATIENCE: Duration = Duration::from_millis(300);
const MEDIA_TYPE: &str = "text/html; charset=utf-8";

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let moment = moment.map(Moment::of_one);
    let query = query(&pairs, WAITS_USUAL)?;
    // With those who look back: it reads what was recorded, and nobody who looks at the present waits for that.
    let make =
        move |http: &Http, scope: Scope| told(http, &http.models(moment.as_ref(), &scope)?, &scope, &query).map(Json);
    Ok(share_past(&http, asked, make).await)
}

pub(crate) async fn section(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, moment) = with_moment(pairs)?;
    let moment = moment.map(Moment::of_one);
    let query = query(&pairs, WAITS_SHOWN)?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let make = move || {
        let models = own.models(moment.as_ref(), &scope)?;
        match told(&own, &models, &scope, &query) {
            Ok(told) => Ok(time_to_lock_markup(&told)),
            // A lock that is not there any more has no such section: that is no error of whoever looks at its page.
            Err(refused) if refused.status() == StatusCode::NOT_FOUND => Ok(String::new()),
            Err(refused) => Err(refused),
        }
    };
    Ok(http.past_shared.answer(asked, move || Answer::text(MEDIA_TYPE, make())).await)
}

fn query(pairs: &NamedValues, waits_usual: u32) -> Result<LockQuery, ErrorResponse> {
    let mut query = LockQuery { limit: waits_usual, ..LockQuery::default() };
    for (name, value) in pairs {
        match name.as_str() {
            "ensemble" => query.ensemble = short(name, value, FILTER_CHARS_MAX)?,
            "path" => query.path = short(name, value, PATH_CHARS_MAX)?,
            "limit" if value.is_empty() => {}
            "limit" => {
                let limit: u32 = value.parse().map_err(|_| wrong(name, value, "a number from 0 to 4294967295"))?;
                query.limit = limit.clamp(1, WINDOW_ROWS_MAX);
            }
            _ => {}
        }
    }
    if query.path.is_empty() {
        return Err(ErrorResponse::bad_request("`path` is missing: the path of a lock, or of a znode in it"));
    }
    Ok(query)
}

/// The section for the document of a lock's page: what the model alone knows, and where that is too little, what was
/// recorded, if it is there soon. None where there is no section.
pub(super) async fn in_document(http: &Http, caller: &Caller, pairs: &NamedValues) -> Option<TimeToLockMarkup> {
    let query = LockQuery { limit: WAITS_SHOWN, ..query(pairs, WAITS_SHOWN).ok()? };
    let (scope, mut is_kept) = (caller.scope.clone(), false);
    let live = http.models(None, &scope).ok()?;
    let by_model = told_by(&live, &scope, &query, |line| {
        is_kept = http.recording(&scope, &line.ensemble).is_ok_and(|(_, handle)| handle.is_some());
        Ok(None)
    });
    let by_model = by_model.ok()?;
    let knows_too_little = matches!(
        by_model.reason,
        Some(NoEstimateReason::TooFewHolds | NoEstimateReason::HolderBeyondSeen | NoEstimateReason::HolderAgeUnknown)
    );
    if is_kept && knows_too_little {
        let (own, owner) = (http.clone(), caller.principal.owner.clone());
        let asked = http.past_work.ask(&owner, move || told(&own, &live, &scope, &query).ok());
        if let Ok(Ok(Some(told))) = tokio::time::timeout(PATIENCE, asked).await {
            return Some(time_to_lock_first(&told, is_kept));
        }
    }
    Some(time_to_lock_first(&by_model, is_kept))
}

fn told(http: &Http, models: &Models, scope: &Scope, query: &LockQuery) -> Result<TimeToLock, ErrorResponse> {
    told_by(models, scope, query, |line| recorded(http, scope, line))
        .map_err(|refused| refused.beside(&models.unanswered))
}

fn told_by(
    models: &Models,
    scope: &Scope,
    query: &LockQuery,
    recorded: impl FnOnce(&LineView) -> Result<Option<RecordedHabits>, ErrorResponse>,
) -> Result<TimeToLock, ErrorResponse> {
    let head = LockQuery { limit: 1, ..query.clone() };
    let (_, ProjectedView { body, known }) = models.hub.look(head, scope)?;
    let page = body.ok_or_else(|| no_lock(&query.path))?;
    let meant = LockQuery { ensemble: page.head.row.ensemble.clone(), ..query.clone() };
    let line = models.hub.projection().line(scope, &meant).ok_or_else(|| no_lock(&query.path))?;
    let recorded = recorded(&line)?;
    let state = state_now(&page.head.as_of, known, models.hub.now_ms());
    Ok(time_to_lock(line, recorded, state))
}

/// What was recorded of the lock before the line is told of; None where nothing is recorded, or it is no line.
fn recorded(http: &Http, scope: &Scope, line: &LineView) -> Result<Option<RecordedHabits>, ErrorResponse> {
    let Some(kind) = LineKind::of(line.recipe.name()) else { return Ok(None) };
    let Some(store) = http.recording(scope, &line.ensemble)?.1.and_then(|handle| handle.store()) else {
        return Ok(None);
    };
    let now = TimeMs(line.at_ms());
    let going_on = line.holders.iter().chain(line.waiters.iter().map(|(_, waiter)| waiter));
    let going_on = going_on.filter_map(life).collect();
    let learned = learned(&*store, &line.path, kind, going_on, now, Some(give_up_at()))
        .map_err(|error| refused(error, &(TimeMs(now.0 - RANGE_MS)..now)))?;
    Ok(Some(RecordedHabits { calibration: calibration(learned.calibration), habits: learned.habits }))
}

fn life(contender: &Contender) -> Option<LineLife> {
    let joined = contender.created_at_ms.or(contender.waiting_since_ms).or(contender.holding_since_ms)?;
    let held = contender.holding_since_ms;
    Some(LineLife {
        czxid: Zxid(contender.czxid?.0),
        joined_at: TimeMs(held.map_or(joined, |held| held.min(joined))),
        held_at: held.map(TimeMs),
        left_at: None,
        reads: contender.access == Access::Read,
        is_uncertain: contender.holding_is_lower_bound,
    })
}

fn calibration(found: Calibration) -> WaitCalibration {
    WaitCalibration {
        judged: found.judged(),
        right: found.right,
        sooner: found.sooner,
        later: found.later,
        unknown: found.unknown,
        untold: found.untold,
    }
}
