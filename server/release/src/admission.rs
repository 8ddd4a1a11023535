//! Whether an ordered request may begin: everything that is checked before its plan is used up.

use lockscope_view::ReleaseOrder;

use super::checks::{check_right, check_words, may};
use super::coordination::LimitedRelease;
use super::execute::{Operation, ReleaseRequest};
use super::plans::KeptPlan;
use super::refusal::{Rejection, RejectionReason};
use super::requests::OutcomeReceiver;
use super::service::{Accepted, ReleaseService, RunningRequest, State};
use lockscope_audit::{Actor, Right};
use lockscope_runtime::clock;

/// A request that may begin, as far as this server knows.
enum Examined {
    Plan(Box<KeptPlan>),
    /// It began before.
    Before(OutcomeReceiver),
}

impl ReleaseService {
    /// Where other servers release as well: counts the request for all of them, unless it would be refused here anyway.
    pub(super) async fn wait_for_all(
        &self,
        operation: Operation,
        actor: &Actor,
        order: &ReleaseOrder,
    ) -> Result<(), Rejection> {
        let Some(coordination) = self.0.coordination.get() else { return Ok(()) };
        let examined = self.examine(&mut self.state(), operation, actor, order);
        // What is refused here, or began before, is answered by whoever looks next.
        let Ok(Some(Examined::Plan(planned))) = examined else { return Ok(()) };
        let release = LimitedRelease {
            plan_id: order.plan_id.clone(),
            actor: actor.name.clone(),
            ensemble: planned.plan.ensemble.clone(),
            lock: planned.plan.lock.clone(),
        };
        match coordination.count(release).await {
            Ok(None) => Ok(()),
            Ok(Some(wait_ms)) => Err(too_many(wait_ms)),
            Err(why) => {
                let sentence = format!(
                    "Nothing was sent: releases of all replicas can't be counted ({why}); try again once the cluster can be reached."
                );
                Err(Rejection::new(RejectionReason::NotLive, sentence))
            }
        }
    }

    /// Checks a request and uses its plan up; None when the actor has no such plan.
    pub(super) fn take(
        &self,
        operation: Operation,
        actor: &Actor,
        order: &ReleaseOrder,
    ) -> Result<Option<Accepted>, Rejection> {
        let begun = clock::instant();
        let now_ms = self.now_ms();
        let mut state = self.state();
        let plan = match self.examine(&mut state, operation, actor, order)? {
            Some(Examined::Plan(planned)) => planned.plan,
            Some(Examined::Before(outcome)) => return Ok(Some(Accepted::Before(outcome))),
            None => return Ok(None),
        };
        let ensemble = self.ensemble(&Some(plan.ensemble.clone()))?;
        let Some(planned) = state.plans.take(&plan.plan_id) else { return Ok(None) };
        state.limits.note(now_ms, &actor.name, &plan.ensemble, &plan.lock);
        let sender = state.requests.begin(now_ms, &plan.plan_id, (actor.name.clone(), actor.by));
        // Counted before the state is let go of, so that whoever closes the service waits for it.
        let running = RunningRequest::begin(self, &plan.ensemble, sender);
        let reason = order.reason.trim().to_owned();
        let coordination = self.0.coordination.get().cloned();
        let order = ReleaseRequest {
            operation,
            ensemble,
            planned,
            actor: actor.clone(),
            reason,
            begun,
            begun_at_ms: now_ms,
            coordination,
        };
        Ok(Some(Accepted::Now(Box::new(order), running)))
    }

    fn examine(
        &self,
        state: &mut State,
        operation: Operation,
        actor: &Actor,
        order: &ReleaseOrder,
    ) -> Result<Option<Examined>, Rejection> {
        let now_ms = self.now_ms();
        may(actor)?;
        if let Some(outcome) = state.requests.of(now_ms, &order.plan_id, actor) {
            return Ok(Some(Examined::Before(outcome)));
        }
        if state.is_closing {
            return Err(Rejection::new(
                RejectionReason::Closing,
                "Lockscope is shutting down and accepts no more requests.",
            ));
        }
        let Some(planned) = state.plans.of(now_ms, &order.plan_id, actor) else { return Ok(None) };
        let plan = &planned.plan;
        check_right(actor, &plan.ensemble, &plan.lock)?;
        check_words(plan, order)?;
        if self.needs_second() {
            let Some(approver) = &planned.approved_by else {
                return Err(Rejection::new(RejectionReason::Second, "Somebody else has to approve this plan first."));
            };
            if !self.0.access.is_still_allowed(approver, Right::Release, &plan.ensemble, &plan.lock) {
                let sentence = format!(
                    "{}, who approved this plan, may not release it any more; have somebody else approve it.",
                    approver.name
                );
                return Err(Rejection::new(RejectionReason::Second, sentence));
            }
        }
        if operation == Operation::Revoke && !plan.can_revoke {
            return Err(Rejection::new(
                RejectionReason::NotReleasable,
                "Its holder is not known to listen for being asked to let go.",
            ));
        }
        let planned = planned.clone();
        if let Some(wait_ms) = state.limits.wait_ms(now_ms, &actor.name, &planned.plan.ensemble, &planned.plan.lock) {
            return Err(too_many(wait_ms));
        }
        Ok(Some(Examined::Plan(Box::new(planned))))
    }
}

fn too_many(wait_ms: i64) -> Rejection {
    let sentence = format!("Too many releases in too short a time; wait {} s.", (wait_ms + 999) / 1_000);
    Rejection::new(RejectionReason::TooMany { wait_ms }, sentence)
}
