//! The second person: somebody else than the planner approves a plan before it is executed.

use lockscope_view::{AuditKind, ReleaseOrder, ReleasePlan};

use super::checks::may;
use super::refusal::{Rejection, RejectionReason};
use super::service::ReleaseService;
use lockscope_audit::{Actor, Entry, Right, is_same_person};

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
                Ok(planned.clone())
            })
        };
        let planned = match checked {
            Ok(checked) => checked,
            Err(refused) => {
                self.note_refusal(actor, about, &refused).await;
                return Err(refused);
            }
        };
        let plan = &planned.plan;
        let reason = Some(order.reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        let detail = format!("plan {} of {}: czxid {}", plan.plan_id, planned.planner.name, plan.czxid);
        let entry = planned.entry(AuditKind::Approved, actor, reason, detail);
        let undone = Entry {
            kind: AuditKind::Refused,
            detail: "This approval does not count: its record took too long.".to_owned(),
            ..entry.clone()
        };
        let recorded = self.0.log.intent(entry, undone).await;
        let _on_record = recorded.map_err(|error| {
            Rejection::new(
                RejectionReason::Audit,
                format!("Not approved: the audit record can't be written ({error})."),
            )
        })?;
        let now_ms = self.now_ms();
        let mut state = self.state();
        state.plans.any(now_ms, &order.plan_id).ok_or_else(gone)?.approved_by = Some(actor.clone());
        Ok(planned.plan)
    }
}
