//! Acts on alerts and lock orders of ensembles that another replica watches: handed on to that one, once. They are on record
//! here before anything is sent, and there as if that replica had been asked itself.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Http;
use super::caller::Caller;
use super::handed_on::{Asked, HandedOnContent, HandedOnMethod};
use super::handed_on_send::{HandedOnAnswer, ReplicaProcess};
use super::problem::ErrorResponse;
use super::recorded_order::{LostOrder, OrderFailure, RecordedOrder};
use feed::Elsewhere;

/// How long one may take: itself, and until it is seen. With its record it has less time than an answer may take.
const ACT_MAX: Duration = Duration::from_secs(6);
/// Characters of another replica's refusal.
const REFUSAL_CHARS_MAX: usize = 1_000;

/// An act that is handed on.
pub(super) struct ActElsewhere {
    /// For the record, like `silence of alerts`.
    pub(super) what: &'static str,
    pub(super) method: HandedOnMethod,
    /// Path and query.
    pub(super) target: String,
    pub(super) content: HandedOnContent,
    /// Why, as it was given.
    pub(super) reason: String,
}

/// A refusal as another replica writes it.
#[derive(serde::Deserialize)]
struct Refusal {
    detail: String,
}

impl ActElsewhere {
    /// A POST of JSON.
    pub(super) fn post(
        what: &'static str,
        target: &str,
        order: &impl Serialize,
        reason: &str,
    ) -> Result<Self, ErrorResponse> {
        let content = serde_json::to_string(order).map_err(|error| ErrorResponse::internal(error.to_string()))?;
        let (method, content) = (HandedOnMethod::Post, HandedOnContent::Json(content));
        Ok(Self { what, method, target: target.to_owned(), content, reason: reason.to_owned() })
    }

    /// A DELETE.
    pub(super) fn delete(what: &'static str, target: String) -> Self {
        Self { what, method: HandedOnMethod::Delete, target, content: HandedOnContent::None, reason: String::new() }
    }
}

impl Http {
    /// Whether somebody's act may be handed on: what another replica handed on never is.
    pub(super) fn may_hand_on(&self, caller: &Caller) -> bool {
        !caller.is_of_replica && caller.actor.through.is_none() && self.requests.is_some()
    }

    /// The first of the owners that is there.
    pub(super) fn owner_that_is_there(&self, there: &Elsewhere) -> Result<ReplicaProcess, ErrorResponse> {
        let found = there.owners.iter().find_map(|(id, _)| self.other_replica(id));
        found.ok_or_else(|| ErrorResponse::owner_unreachable(there.why.clone()))
    }

    /// Has another replica do something, and gives what it answers.
    pub(super) async fn act_elsewhere<T: DeserializeOwned>(
        &self,
        owner: ReplicaProcess,
        act: ActElsewhere,
        caller: &Caller,
    ) -> Result<T, ErrorResponse> {
        let ActElsewhere { what, method, target, content, reason } = act;
        let asked = Asked { method, target, content };
        let order = RecordedOrder { what, plan_id: String::new(), reason, asked, within: ACT_MAX };
        let read = |answer: &HandedOnAnswer, body: Bytes| {
            Some(if answer.status().is_success() { Ok(body) } else { Err(refusal(answer.status(), &body)) })
        };
        let body = match self.send_order(owner, order, caller, read).await {
            Ok(answer) => answer?,
            Err(OrderFailure::Refused(refused)) => return Err(refused),
            Err(OrderFailure::NotOnRecord(error)) => {
                let sentence = format!("nothing was sent: the audit record can't be written ({error})");
                return Err(ErrorResponse::unavailable(sentence));
            }
            Err(OrderFailure::NoAnswer(LostOrder { at, why, record, request_id })) => {
                return Err(ErrorResponse::unavailable(format!(
                    "It is not known whether this was done: the replica {} at {} was asked to and gave no answer ({why}). Its audit log has it, if it came, as request {request_id}; record {record} of this replica's says what was asked. Nothing is sent again by itself.",
                    at.id, at.address
                )));
            }
        };
        serde_json::from_slice(&body).map_err(|_| {
            ErrorResponse::unavailable(
                "it was done, and the answer of the replica that did it can't be read; give all replicas the same version",
            )
        })
    }
}

/// Another replica's refusal, as ours.
pub(super) fn refusal(status: StatusCode, body: &[u8]) -> ErrorResponse {
    match serde_json::from_slice::<Refusal>(body) {
        Ok(Refusal { detail }) => {
            ErrorResponse::new(status, detail.chars().take(REFUSAL_CHARS_MAX).collect::<String>())
        }
        Err(_) => ErrorResponse::unavailable(format!("the replica that watches it refuses (status {status})")),
    }
}
