//! Releases over HTTP: the release service's answers as JSON, or in the compact encoding for the page's dialog.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lockscope_view::api::AgedContender;
use lockscope_view::{
    DeleteRight, Naming, Outcome, PlanRequest, Recipe, ReleaseOrder, ReleasePlan, ReleaseResult, SessionId, Zxid,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Http;
use super::api_types::contender;
use super::caller::Caller;
use super::compact::{compact, wants_compact};
use super::params::Params;
use super::problem::ErrorResponse;
use lockscope_live::project;
use lockscope_release::{self, Execution, RejectionReason, ReleaseService};

/// Answer of `POST /api/v1/release/plan`: a plan, with ages instead of instants.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Plan")]
pub(super) struct PlanJson {
    /// Names the plan.
    plan_id: String,
    /// For how long it can be ordered.
    expires_in_ms: i64,
    /// Ensemble.
    ensemble: String,
    /// The znode.
    path: String,
    /// The lock it belongs to; this is what has to be typed.
    lock: String,
    /// Family.
    recipe: Recipe,
    /// What it was recognised as, like "Curator InterProcessMutex".
    recipe_label: String,
    /// Identity of the znode; null while not read.
    czxid: Zxid,
    /// Its owner; null for a persistent znode.
    session_id: Option<SessionId>,
    /// Data version.
    version: i32,
    /// How exactly it can be deleted.
    naming: Naming,
    /// Who would be released: holder or waiter.
    holder: AgedContender,
    /// Who holds after it, as far as the recipe's rule determines it.
    next: Vec<AgedContender>,
    /// One sentence on who gets it.
    next_sentence: String,
    /// Waiters that move up.
    waiters_moving: u32,
    /// What can't be promised, most important first.
    warnings: Vec<String>,
    /// In how long it frees itself; null when it does not.
    frees_itself_in_ms: Option<i64>,
    /// That is the latest it can be, not a reported time.
    frees_itself_is_upper_bound: bool,
    /// Whether the server's own identity may delete it.
    right: DeleteRight,
    /// The same in one sentence.
    right_sentence: String,
    /// Its holder can be asked to let go.
    can_revoke: bool,
    /// A second person has to approve the order.
    needs_second: bool,
    /// Other ephemerals of the owner's session, the first fifty.
    falls: Vec<String>,
    /// How many those are.
    falls_count: u32,
    /// How an administrator ends the whole session; null for persistent znodes.
    runbook: Option<String>,
}

/// What came of an order.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReleaseResult")]
pub(super) struct ResultJson {
    /// How it ended.
    outcome: Outcome,
    /// Who lost the lock and who has it, or what to do.
    sentence: String,
    /// What happened was read back from ZooKeeper.
    verified: bool,
    /// Who holds now.
    holders: Vec<AgedContender>,
    /// From the order's arrival to its end.
    took_ms: i64,
    /// The record of the outcome; null when there is none.
    audit_id: Option<u64>,
    /// What was deleted and who has the znode's place, by their czxids, and how that is known; empty where nothing was
    /// tried.
    proof: String,
}

impl PlanJson {
    fn new(plan: ReleasePlan, now_ms: i64) -> Self {
        Self {
            expires_in_ms: (plan.expires_at_ms - now_ms).max(0),
            holder: contender(&plan.holder, now_ms),
            next: plan.next.iter().map(|next| contender(next, now_ms)).collect(),
            frees_itself_in_ms: plan.frees_itself_at_ms.map(|at_ms| (at_ms - now_ms).max(0)),
            plan_id: plan.plan_id,
            ensemble: plan.ensemble,
            path: plan.path,
            lock: plan.lock,
            recipe: plan.recipe,
            recipe_label: plan.recipe_label,
            czxid: plan.czxid,
            session_id: plan.session_id,
            version: plan.version,
            naming: plan.naming,
            next_sentence: plan.next_sentence,
            waiters_moving: plan.waiters_moving,
            warnings: plan.warnings,
            frees_itself_is_upper_bound: plan.frees_itself_is_upper_bound,
            right: plan.right,
            right_sentence: plan.right_sentence,
            can_revoke: plan.can_revoke,
            needs_second: plan.needs_second,
            falls: plan.falls,
            falls_count: plan.falls_count,
            runbook: plan.runbook,
        }
    }
}

impl ResultJson {
    fn new(result: ReleaseResult, now_ms: i64) -> Self {
        let holders = result.holders.iter().map(|holder| contender(holder, now_ms)).collect();
        let ReleaseResult { outcome, sentence, verified, took_ms, audit_id, proof, .. } = result;
        Self { outcome, sentence, verified, holders, took_ms, audit_id, proof }
    }
}

pub(super) type JsonBody<T> = Result<Json<T>, JsonRejection>;

pub(super) async fn plan(
    State(http): State<Http>,
    caller: Caller,
    _: Params,
    headers: HeaderMap,
    request: JsonBody<PlanRequest>,
) -> Result<Response, ReleaseError> {
    let request = read(request, "{\"ensemble\": NAME, \"path\": ZNODE}")?;
    let service = release_service(&http)?;
    let plan = service.plan(&caller.actor, &request).await?;
    Ok(show_plan(&http, &headers, project::shown(plan, &caller.scope)))
}

pub(super) async fn execute(
    State(http): State<Http>,
    caller: Caller,
    _: Params,
    headers: HeaderMap,
    order: JsonBody<ReleaseOrder>,
) -> Result<Response, ReleaseError> {
    let order = read(order, ORDER)?;
    Ok(show_execution(&http, &headers, release_service(&http)?.execute(&caller.actor, &order).await?))
}

pub(super) async fn revoke(
    State(http): State<Http>,
    caller: Caller,
    _: Params,
    headers: HeaderMap,
    order: JsonBody<ReleaseOrder>,
) -> Result<Response, ReleaseError> {
    let order = read(order, ORDER)?;
    Ok(show_execution(&http, &headers, release_service(&http)?.revoke(&caller.actor, &order).await?))
}

pub(super) async fn approve(
    State(http): State<Http>,
    caller: Caller,
    _: Params,
    headers: HeaderMap,
    order: JsonBody<ReleaseOrder>,
) -> Result<Response, ReleaseError> {
    let order = read(order, ORDER)?;
    let plan = release_service(&http)?.approve(&caller.actor, &order).await?;
    Ok(show_plan(&http, &headers, project::shown(plan, &caller.scope)))
}

const ORDER: &str = "{\"plan_id\": ID, \"confirm\": LOCK, \"reason\": TEXT}";

fn release_service(http: &Http) -> Result<&ReleaseService, ErrorResponse> {
    let none = "this server releases nothing: it has no place to keep a record in; give it a --data-dir";
    http.release_service.as_ref().ok_or_else(|| ErrorResponse::unavailable(none))
}

/// The body, or one sentence that shows how it is written.
pub(super) fn read<T: DeserializeOwned>(body: JsonBody<T>, form: &str) -> Result<T, ErrorResponse> {
    let Json(value) = body.map_err(|error| {
        let status =
            if error.status() == StatusCode::BAD_REQUEST { StatusCode::UNPROCESSABLE_ENTITY } else { error.status() };
        ErrorResponse::new(status, format!("the body can't be read ({}); send JSON like {form}", error.body_text()))
    })?;
    Ok(value)
}

pub(super) fn show_plan(http: &Http, headers: &HeaderMap, plan: ReleasePlan) -> Response {
    if wants_compact(headers) { compact(&plan) } else { Json(PlanJson::new(plan, http.hub.now_ms())).into_response() }
}

fn show_execution(http: &Http, headers: &HeaderMap, execution: Execution) -> Response {
    let status = StatusCode::from_u16(execution.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    show_result(http, headers, status, execution.result)
}

pub(super) fn show_result(http: &Http, headers: &HeaderMap, status: StatusCode, result: ReleaseResult) -> Response {
    let body = if wants_compact(headers) {
        compact(&result)
    } else {
        Json(ResultJson::new(result, http.hub.now_ms())).into_response()
    };
    (status, body).into_response()
}

pub(super) enum ReleaseError {
    Unread(ErrorResponse),
    Untaken(lockscope_release::Rejection),
}

impl From<ErrorResponse> for ReleaseError {
    fn from(refused: ErrorResponse) -> Self {
        Self::Unread(refused)
    }
}

impl From<lockscope_release::Rejection> for ReleaseError {
    fn from(refused: lockscope_release::Rejection) -> Self {
        Self::Untaken(refused)
    }
}

impl IntoResponse for ReleaseError {
    fn into_response(self) -> Response {
        let refused = match self {
            Self::Unread(refused) => return refused.into_response(),
            Self::Untaken(refused) => refused,
        };
        let status = StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = ErrorResponse::new(status, refused.sentence).into_response();
        // With how long to wait, where waiting helps.
        if let RejectionReason::TooMany { wait_ms } = refused.kind {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(wait_ms.max(1).unsigned_abs().div_ceil(1_000)));
        }
        response
    }
}
