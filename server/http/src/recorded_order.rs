//! The one way of what changes something at another replica, from its record to its answer: it is on record here before
//! anything is sent, it is sent once, and where no answer comes that is on record as well. What is said of it is said by
//! `release_elsewhere` and `act_elsewhere`.

use std::time::Duration;

use audit::AuditError;
use axum::body::Bytes;
use release::{HandedOn, ReleaseService};

use super::Http;
use super::caller::Caller;
use super::handed_on::{Asked, HandedOnKind};
use super::handed_on_send::{HandedOnAnswer, NotHandedOn, ReplicaProcess, request_id};
use super::problem::ErrorResponse;
use super::replica_request::ReplicaAddress;

/// What another replica is to do.
pub(super) struct RecordedOrder {
    /// For the record, like `release`.
    pub(super) what: &'static str,
    /// The plan; empty where it is about none.
    pub(super) plan_id: String,
    /// Why, as it was given.
    pub(super) reason: String,
    pub(super) asked: Asked,
    /// How long the answer may take to begin.
    pub(super) within: Duration,
}

/// Why there is no answer.
pub(super) enum OrderFailure {
    /// Nothing was done, and this is why.
    Refused(ErrorResponse),
    /// Nothing was sent, since it could not be put on record.
    NotOnRecord(AuditError),
    /// What came of it is not known.
    NoAnswer(LostOrder),
}

/// An order that was sent, and not answered.
pub(super) struct LostOrder {
    /// The replica that was asked.
    pub(super) at: ReplicaAddress,
    /// One sentence that does not name it.
    pub(super) why: String,
    /// The record of this replica's audit log that says what was asked.
    pub(super) record: u64,
    /// The number by which both logs name it.
    pub(super) request_id: String,
}

impl From<ErrorResponse> for OrderFailure {
    fn from(refused: ErrorResponse) -> Self {
        Self::Refused(refused)
    }
}

impl Http {
    /// Puts an order on record and sends it, once. `read` makes an answer of what came, or None of what can't be read.
    pub(super) async fn send_order<T: Send + 'static>(
        &self,
        to: ReplicaProcess,
        order: RecordedOrder,
        caller: &Caller,
        read: impl FnOnce(&HandedOnAnswer, Bytes) -> Option<T> + Send + 'static,
    ) -> Result<T, OrderFailure> {
        let Some(service) = self.release_service.clone() else {
            return Err(ErrorResponse::unavailable("this server does nothing for people; give it a --data-dir").into());
        };
        self.handed_on.admit_order(caller.principal.owner.group())?;
        let (http, caller) = (self.clone(), caller.clone());
        // Whoever asked may go away; what is on record does not wait for them.
        let carried = tokio::spawn(async move { http.carry_order(&service, to, order, &caller, read).await });
        carried.await.unwrap_or_else(|_| {
            Err(OrderFailure::Refused(ErrorResponse::internal(
                "the request failed inside Lockscope; the audit logs of all replicas show how far it got",
            )))
        })
    }

    async fn carry_order<T>(
        &self,
        service: &ReleaseService,
        to: ReplicaProcess,
        order: RecordedOrder,
        caller: &Caller,
        read: impl FnOnce(&HandedOnAnswer, Bytes) -> Option<T>,
    ) -> Result<T, OrderFailure> {
        let RecordedOrder { what, plan_id, reason, asked, within } = order;
        let request = HandedOn { to: to.at.id.clone(), request_id: request_id(), what, plan_id, reason };
        let record = service.hand_on(&caller.actor, &request).await.map_err(OrderFailure::NotOnRecord)?;
        let answered = self.hand_on(&to, (HandedOnKind::Act, &asked, &request.request_id), caller, within).await;
        let why = match answered {
            Err(NotHandedOn::NotSent(refused)) => {
                service.lost(&caller.actor, &request, record, Ok(refused.sentence())).await;
                return Err(refused.said("Nothing was sent: ").into());
            }
            Err(NotHandedOn::NoAnswer(why)) => why,
            Ok(mut answer) => match answer.whole().await {
                Ok(body) => match read(&answer, body) {
                    Some(answer) => return Ok(answer),
                    None => "its answer can't be read; give all replicas the same version".to_owned(),
                },
                Err(why) => why,
            },
        };
        service.lost(&caller.actor, &request, record, Err(&why)).await;
        Err(OrderFailure::NoAnswer(LostOrder { at: to.at, why, record, request_id: request.request_id }))
    }
}
