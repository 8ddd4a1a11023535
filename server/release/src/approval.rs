//! The second person: somebody else than the planner approves a plan before it is executed.

use lockscope_view::{AuditKind, ReleaseOrder, ReleasePlan};

use super::checks::may;
use super::refusal::{Rejection, RejectionReason};
use super::service::ReleaseService;
use lockscope_audit::{Actor, Entry, PlanRef, Right, is_same_person};

impl ReleaseService {
    /// A second person approves another's plan; the planner can execute it then. Goes on when the future is dropped, so
    /// that an approval that is on record counts.
    ///
    /// # Errors
    /// When it is not theirs to approve, or the audit record can't be written.
    pub async fn approve(&self, actor: &Actor, order: &ReleaseOrder) -> Result<ReleasePlan, Rejection> {
        let (service, actor, order) = (self.clone(), actor.clone(), order.clone());
        let approving = tokio::spawn(async move { service.approve_now(&actor, &order).await });
        let broken = |_| {
            Err(Rejection::new(
                RejectionReason::Audit,
                "The approval failed inside Lockscope; the audit log shows whether it counts.",
            ))
        };
        approving.await.unwrap_or_else(broken)
    }

    async fn approve_now(&self, actor: &Actor, order: &ReleaseOrder) -> Result<ReleasePlan, Rejection> {
        let about = self.about(&order.plan_id);
        let gone = || Rejection::new(RejectionReason::NotFound, "No such plan, or it ran out; have it planned again.");
        let checked = {
            let now_ms = self.now_ms();
            let mut state = self.state();
            let planned = state.plans.any(now_ms, &order.plan_id).ok_or_else(gone);
            planned.and_then(|planned| {
                may(actor)?;
                // Out of scope, neither the plan nor its lock is disclosed.
                if !actor.may_at(Right::Release, &planned.plan.ensemble, &planned.plan.lock) {
                    return Err(gone());
                }
                if is_same_person(&planned.planner.name, &actor.name) {
                    return Err(Rejection::new(
                        RejectionReason::Second,
                        "Whoever planned a release can't approve it; somebody else has to.",
                    ));
                }
                Ok((planned.plan.clone(), planned.planner.name.clone()))
            })
        };
        let (plan, planner) = match checked {
            Ok(checked) => checked,
            Err(refused) => {
                self.note_refusal(actor, about, &refused).await;
                return Err(refused);
            }
        };
        let entry = Entry {
            kind: AuditKind::Approved,
            actor: Some(actor.clone()),
            ensemble: Some(plan.ensemble.clone()),
            lock: Some(plan.lock.clone()),
            path: Some(plan.path.clone()),
            plan: Some(PlanRef { id: plan.plan_id.clone(), czxid: plan.czxid }),
            intent: None,
            outcome: None,
            reason: Some(order.reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
            detail: format!("plan {} of {planner}: czxid {}", plan.plan_id, plan.czxid),
        };
        let undone = Entry {
            kind: AuditKind::Refused,
            detail: "This approval does not count: its record took too long.".to_owned(),
            ..entry.clone()
        };
        let recorded = self.log().intent(entry, undone).await;
        let _on_record = recorded.map_err(|error| {
            Rejection::new(
                RejectionReason::Audit,
                format!("Not approved: the audit record can't be written ({error})."),
            )
        })?;
        let now_ms = self.now_ms();
        let mut state = self.state();
        state.plans.any(now_ms, &order.plan_id).ok_or_else(gone)?.approved_by = Some(actor.clone());
        Ok(plan)
    }
}
