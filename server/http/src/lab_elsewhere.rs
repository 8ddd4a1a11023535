//! Runs of the lab that another replica carries out: a run is where it was ordered, whichever replica is asked for it. It is
//! read there, and what is done to it is handed on to there. Nobody is asked for a run that is here.

use std::time::Duration;

use axum::http::{StatusCode, Uri};
use axum::response::Response;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use lab::LabRefusal;
use lockscope_wire::{FaultOrder, LabRun, ThrownFault};

use super::Http;
use super::act_elsewhere::ActElsewhere;
use super::caller::Caller;
use super::elsewhere::response_of;
use super::handed_on::is_run_id;
use super::problem::ErrorResponse;
use super::replica_request::{ReplicaAddress, ReplicaAnswer, ReplicaRequest};
use feed::VisibilityScope;

/// Where runs are.
pub(super) const RUNS: &str = "/api/v1/lab/runs";
/// How long each replica may take.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Replicas that are asked. Overflow policy: further ones are named as not asked.
const ASKED_MAX: usize = 16;
/// A run that is elsewhere.
pub(super) struct FoundRun {
    pub(super) at: ReplicaAddress,
    answer: ReplicaAnswer,
}

impl Http {
    /// Whether the lab here has no such run, and others may be asked.
    fn may_be_elsewhere(&self, caller: &Caller, scope: &VisibilityScope, id: &str) -> bool {
        self.may_hand_on(caller) && is_run_id(id) && matches!(self.lab.run(scope, id), Err(LabRefusal::Unknown(_)))
    }

    /// What another replica says of a run at an address of the API; None where this replica has it or nobody does.
    ///
    /// # Errors
    /// Nobody who answers has it, and somebody does not answer.
    pub(super) async fn lab_run_elsewhere(
        &self,
        caller: &Caller,
        id: &str,
        target: &str,
    ) -> Result<Option<FoundRun>, ErrorResponse> {
        if !self.may_be_elsewhere(caller, &caller.scope, id) {
            return Ok(None);
        }
        let mut others = self.other_replicas();
        let further = others.split_off(others.len().min(ASKED_MAX));
        let request = ReplicaRequest::new(target, caller);
        let ask = |at: ReplicaAddress| async {
            let answered = self.ask_replica(&at, &request, ANSWER_MAX).await;
            (at, answered)
        };
        let mut asked: FuturesUnordered<_> = others.into_iter().map(ask).collect();
        let mut missing: Vec<String> = further.into_iter().map(|at| format!("{} is not asked", at.id)).collect();
        while let Some((at, answered)) = asked.next().await {
            match answered {
                Ok(answer) if answer.status == StatusCode::OK.as_u16() => return Ok(Some(FoundRun { at, answer })),
                Ok(answer) if answer.status == StatusCode::NOT_FOUND.as_u16() => {}
                Ok(answer) => missing.push(format!("the replica {} answers {}", at.id, answer.status)),
                Err(refused) => missing.push(refused.sentence().to_owned()),
            }
        }
        if missing.is_empty() {
            return Ok(None);
        }
        Err(ErrorResponse::owner_unreachable(format!(
            "There is no run {id} at this replica, and it may be at another one: {}. Try again when that is back.",
            missing.join("; ")
        )))
    }

    /// The same as an answer of ours.
    pub(super) async fn lab_answer_elsewhere(
        &self,
        caller: &Caller,
        id: &str,
        uri: &Uri,
    ) -> Result<Option<Response>, ErrorResponse> {
        let target = uri.path_and_query().map_or(RUNS, |target| target.as_str());
        let found = self.lab_run_elsewhere(caller, id, target).await?;
        Ok(found.and_then(|found| response_of(found.answer)))
    }

    /// Stops a run that another replica carries out; None where there is none elsewhere.
    pub(super) async fn lab_stop_elsewhere(&self, caller: &Caller, id: &str) -> Result<Option<LabRun>, ErrorResponse> {
        let act = || Ok(ActElsewhere::delete("stop of a run of the lab", format!("{RUNS}/{id}")));
        self.lab_act_elsewhere(caller, id, act).await
    }

    /// Throws a fault into one.
    pub(super) async fn lab_fault_elsewhere(
        &self,
        caller: &Caller,
        id: &str,
        order: FaultOrder,
    ) -> Result<Option<ThrownFault>, ErrorResponse> {
        let act = || ActElsewhere::post("fault in a run of the lab", &format!("{RUNS}/{id}/faults"), &order, "");
        self.lab_act_elsewhere(caller, id, act).await
    }

    async fn lab_act_elsewhere<T: serde::de::DeserializeOwned>(
        &self,
        caller: &Caller,
        id: &str,
        act: impl FnOnce() -> Result<ActElsewhere, ErrorResponse>,
    ) -> Result<Option<T>, ErrorResponse> {
        let Some(found) = self.lab_run_elsewhere(caller, id, &format!("{RUNS}/{id}")).await? else { return Ok(None) };
        let owner = self.other_replica(&found.at.id).ok_or_else(|| {
            ErrorResponse::owner_unreachable(format!("nothing was sent: the replica {} is gone", found.at.id))
        })?;
        self.act_elsewhere(owner, act()?, caller).await.map(Some)
    }
}
