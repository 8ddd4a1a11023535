//! Releases of what another replica watches, or has the plan of: handed on to that one, once. It carries them out as if it
//! had been asked itself. Where its answer is lost nobody says that it failed: the outcome is not known here, and where it
//! is on record is said.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use feed::Elsewhere;
use lockscope_wire::{Outcome, PlanRequest, ReleaseOrder, ReleasePlan, ReleaseResult, decode_frame};
use release::home_of_plan;

use super::Http;
use super::caller::Caller;
use super::handed_on::{Asked, HandedOnContent, HandedOnKind, HandedOnMethod};
use super::handed_on_send::{HandedOnAnswer, NotHandedOn, ReplicaProcess, request_id};
use super::problem::ErrorResponse;
use super::recorded_order::{LostOrder, OrderFailure, RecordedOrder};
use super::release_api::{show_plan, show_result};
use super::sign_in;

/// How long a plan of one owner may take; two of them have less time than an answer may take in all.
const PLAN_MAX: Duration = Duration::from_millis(4_500);
/// How long a release may take: its record, its turn, itself, and the record of its outcome, each at its limit.
const ORDER_MAX: Duration = Duration::from_secs(65);

/// Where people approve.
const APPROVAL_PAGE: &str = "/release/approve";

/// What is done with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderKind {
    Execute,
    Revoke,
    Approve,
    /// The same, typed into the form of a page, which is the answer.
    ApproveTyped,
}

impl OrderKind {
    fn address(self) -> &'static str {
        match self {
            Self::Execute => "/api/v1/release/execute",
            Self::Revoke => "/api/v1/release/revoke",
            Self::Approve => "/api/v1/release/approve",
            Self::ApproveTyped => APPROVAL_PAGE,
        }
    }

    /// For the record.
    fn what(self) -> &'static str {
        match self {
            Self::Execute => "release",
            Self::Revoke => "asking the holder to let go",
            Self::Approve | Self::ApproveTyped => "approval of a release",
        }
    }
}

/// The replica that has a plan.
pub(super) enum PlanHome {
    /// This one, or nobody knows.
    Here,
    /// Another one, which is there.
    Other(ReplicaProcess),
    /// Another one, which is not there.
    Gone(String),
}

impl Http {
    /// Where a plan is. What another replica handed on is never handed on again.
    pub(super) fn home_of(&self, plan_id: &str, caller: &Caller) -> PlanHome {
        let is_first = caller.actor.through.is_none() && self.requests.is_some();
        let here = |home: &&str| self.cluster.as_ref().is_none_or(|cluster| cluster.id() == *home);
        match home_of_plan(plan_id).filter(|home| is_first && !here(home)) {
            None => PlanHome::Here,
            Some(home) => self.other_replica(home).map_or_else(|| PlanHome::Gone(home.to_owned()), PlanHome::Other),
        }
    }

    /// An order whose plan is here, as it came; Err: the answer of the replica that has the plan.
    pub(super) async fn at_home(
        &self,
        kind: OrderKind,
        caller: &Caller,
        headers: &HeaderMap,
        order: ReleaseOrder,
    ) -> Result<Result<ReleaseOrder, Response>, ErrorResponse> {
        match self.home_of(&order.plan_id, caller) {
            PlanHome::Here => Ok(Ok(order)),
            PlanHome::Gone(home) => Err(Self::plan_gone(&home)),
            PlanHome::Other(home) => Ok(Err(self.order_elsewhere(home, kind, caller, headers, order).await?)),
        }
    }

    /// Has a release planned by an owner, and by the next one where that one does not answer: a plan does nothing.
    pub(super) async fn plan_elsewhere(
        &self,
        there: Elsewhere,
        caller: &Caller,
        headers: &HeaderMap,
        request: PlanRequest,
    ) -> Response {
        let mut refused = ErrorResponse::elsewhere(there.why);
        if caller.actor.through.is_some() {
            return refused.into_response();
        }
        let request = PlanRequest { ensemble: Some(there.ensemble), ..request };
        let asked = match asked("/api/v1/release/plan", &request) {
            Ok(asked) => asked,
            Err(refused) => return refused.into_response(),
        };
        for (id, _) in &there.owners {
            let Some(owner) = self.other_replica(id) else { continue };
            match self.hand_on(&owner, (HandedOnKind::Act, &asked, &request_id()), caller, PLAN_MAX).await {
                // Two that look at each other for it are of different minds for a moment.
                Ok(answer) if answer.status() == StatusCode::MISDIRECTED_REQUEST => {}
                Ok(mut answer) => match answer.whole().await {
                    Ok(body) => return self.shown_plan(headers, &answer, body),
                    Err(why) => refused = NotHandedOn::NoAnswer(why).unreachable(&owner.at),
                },
                Err(NotHandedOn::NotSent(why)) if why.status() == StatusCode::TOO_MANY_REQUESTS => {
                    return why.into_response();
                }
                Err(why) => refused = why.unreachable(&owner.at),
            }
        }
        refused.into_response()
    }

    /// Has a plan executed, its holder asked, or the plan approved by the replica that made it, and by no other.
    pub(super) async fn order_elsewhere(
        &self,
        home: ReplicaProcess,
        kind: OrderKind,
        caller: &Caller,
        headers: &HeaderMap,
        order: ReleaseOrder,
    ) -> Result<Response, ErrorResponse> {
        let (status, untold) = match self.order(home, kind, caller, headers, order).await {
            Ok(answer) => return Ok(answer),
            Err(OrderFailure::Refused(refused)) => return Err(refused),
            Err(OrderFailure::NotOnRecord(error)) => {
                let sentence = format!("Nothing was sent: the audit record can't be written ({error}).");
                (StatusCode::SERVICE_UNAVAILABLE, (Outcome::RefusedAudit, sentence, None))
            }
            Err(OrderFailure::NoAnswer(lost)) => {
                let LostOrder { at, why, record, request_id } = lost;
                let sentence = format!(
                    "It is not known whether this was done: the replica {} at {} was asked to and gave no answer ({why}). Its audit log has it, if it came, with this plan; record {record} of this replica's says what was asked, as request {request_id}. \
                     Nothing is sent again by itself. The same plan may be sent again: what was carried out is not carried out twice.",
                    at.id, at.address
                );
                (StatusCode::ACCEPTED, (Outcome::Unknown, sentence, Some(record)))
            }
        };
        Ok(told(self, kind, headers, status, untold))
    }

    async fn order(
        &self,
        home: ReplicaProcess,
        kind: OrderKind,
        caller: &Caller,
        headers: &HeaderMap,
        order: ReleaseOrder,
    ) -> Result<Response, OrderFailure> {
        if self.release_service.is_none() {
            let sentence = "this server releases nothing; give it a --data-dir";
            return Err(ErrorResponse::unavailable(sentence).into());
        }
        let asked = match kind {
            OrderKind::ApproveTyped => typed(&order),
            OrderKind::Execute | OrderKind::Revoke | OrderKind::Approve => asked(kind.address(), &order)?,
        };
        let order = RecordedOrder {
            what: kind.what(),
            plan_id: super::problem::echo(&order.plan_id),
            reason: order.reason,
            asked,
            within: ORDER_MAX,
        };
        let (http, headers, id) = (self.clone(), headers.clone(), home.at.id.clone());
        self.send_order(home, order, caller, move |answer, body| http.shown_order(kind, &headers, answer, body, &id))
            .await
    }

    /// A plan that another replica made, with its instants by this one's clock.
    fn shown_plan(&self, headers: &HeaderMap, answer: &HandedOnAnswer, body: Bytes) -> Response {
        if answer.status() != StatusCode::OK {
            return answer.with_body(body);
        }
        let Some(mut plan) = decode_frame::<ReleasePlan>(&body) else {
            let sentence = "what the replica that watches it planned can't be read; give all replicas the same version";
            return ErrorResponse::unavailable(sentence).into_response();
        };
        let ahead_ms = self.hub.now_ms().saturating_sub(answer.head.now_ms);
        plan.expires_at_ms = plan.expires_at_ms.saturating_add(ahead_ms);
        plan.frees_itself_at_ms = plan.frees_itself_at_ms.map(|at_ms| at_ms.saturating_add(ahead_ms));
        show_plan(self, headers, plan)
    }

    /// What came of an order at another replica; None where that can't be read.
    fn shown_order(
        &self,
        kind: OrderKind,
        headers: &HeaderMap,
        answer: &HandedOnAnswer,
        body: Bytes,
        home: &str,
    ) -> Option<Response> {
        let is_compact = answer.is_compact();
        match kind {
            OrderKind::ApproveTyped => Some(answer.with_body(body)),
            OrderKind::Approve if is_compact => Some(self.shown_plan(headers, answer, body)),
            OrderKind::Execute | OrderKind::Revoke if is_compact => {
                let mut result: ReleaseResult = decode_frame(&body)?;
                if let Some(record) = result.audit_id {
                    // Numbers are those of one log.
                    let whose = format!(" It is record {record} of the audit log of the replica {home}.");
                    result.sentence.push_str(&whose);
                }
                Some(show_result(self, headers, answer.status(), result))
            }
            // A refusal, with its sentence.
            OrderKind::Approve | OrderKind::Execute | OrderKind::Revoke if answer.status().is_success() => None,
            OrderKind::Approve | OrderKind::Execute | OrderKind::Revoke => Some(answer.with_body(body)),
        }
    }

    /// The page on which a plan of another replica is approved.
    pub(super) async fn approval_page_elsewhere(
        &self,
        home: &ReplicaProcess,
        caller: &Caller,
        plan_id: &str,
    ) -> Result<Response, ErrorResponse> {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("plan", plan_id).finish();
        let (method, target) = (HandedOnMethod::Get, format!("{APPROVAL_PAGE}?{query}"));
        let asked = Asked { method, target, content: HandedOnContent::None };
        let answered = self.hand_on(home, (HandedOnKind::Act, &asked, &request_id()), caller, PLAN_MAX).await;
        let mut answer = answered.map_err(|why| why.unreachable(&home.at))?;
        let body = answer.whole().await.map_err(|why| NotHandedOn::NoAnswer(why).unreachable(&home.at))?;
        Ok(answer.with_body(body))
    }

    /// The plan of a request whose replica is not there any more.
    pub(super) fn plan_gone(home: &str) -> ErrorResponse {
        ErrorResponse::owner_unreachable(format!(
            "this request sent nothing: the replica {}, which has the plan, is not there; look what its audit log says of it, or plan again",
            super::problem::echo(home)
        ))
    }
}

/// What did not come to an outcome there.
fn told(
    http: &Http,
    kind: OrderKind,
    headers: &HeaderMap,
    status: StatusCode,
    (outcome, sentence, audit_id): (Outcome, String, Option<u64>),
) -> Response {
    if kind == OrderKind::ApproveTyped {
        return sign_in::unavailable_page(status.max(StatusCode::SERVICE_UNAVAILABLE), &sentence);
    }
    if kind == OrderKind::Approve {
        return ErrorResponse::unavailable(sentence).into_response();
    }
    let (holders, proof) = (Vec::new(), String::new());
    let result = ReleaseResult { outcome, sentence, verified: false, holders, took_ms: 0, audit_id, proof };
    show_result(http, headers, status, result)
}

/// What the page of a plan's approval sends.
fn typed(order: &ReleaseOrder) -> Asked {
    let pairs = [("plan_id", &order.plan_id), ("confirm", &order.confirm), ("reason", &order.reason)];
    let content = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let (method, target) = (HandedOnMethod::Post, APPROVAL_PAGE.to_owned());
    Asked { method, target, content: HandedOnContent::Form(content) }
}

fn asked(target: &str, content: &impl serde::Serialize) -> Result<Asked, ErrorResponse> {
    let content = serde_json::to_string(content).map_err(|error| ErrorResponse::internal(error.to_string()))?;
    let (method, target) = (HandedOnMethod::Post, target.to_owned());
    Ok(Asked { method, target, content: HandedOnContent::Json(content) })
}
