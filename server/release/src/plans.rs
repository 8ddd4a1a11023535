//! Plans that can still be executed: numbered by 128 random bits, good for a minute (for ten where a second person has
//! to approve), one request and one actor.

use std::collections::BTreeMap;

use lockscope_view::{AuditKind, ReleasePlan};

use super::ensemble::Target;
use lockscope_audit::{Actor, Entry, PlanRef};

/// How long a plan can be executed.
pub const PLAN_MS: i64 = 60_000;
/// The same where a second person has to approve it.
pub(super) const SECOND_PLAN_MS: i64 = 600_000;
/// Plans kept in all; more are refused until some run out.
pub const PLANS_MAX: usize = 1_000;
/// Plans kept of one actor; the oldest goes first.
pub const ACTOR_PLANS_MAX: usize = 20;

#[derive(Clone, Debug)]
pub(super) struct KeptPlan {
    pub(super) plan: ReleasePlan,
    /// The incarnation that the plan is bound to.
    pub(super) target: Target,
    pub(super) planner: Actor,
    pub(super) approved_by: Option<Actor>,
}

/// Plans that can still be executed.
#[derive(Debug, Default)]
pub(super) struct Plans {
    kept: BTreeMap<String, KeptPlan>,
}

impl KeptPlan {
    /// Names alone may be shared by a token and a user.
    fn is_of(&self, actor: &Actor) -> bool {
        (&self.planner.name, self.planner.by) == (&actor.name, actor.by)
    }

    /// What goes on record of something that somebody does with it.
    pub(super) fn entry(&self, kind: AuditKind, actor: &Actor, reason: Option<String>, detail: String) -> Entry {
        let plan = &self.plan;
        Entry {
            actor: Some(actor.clone()),
            ensemble: Some(plan.ensemble.clone()),
            lock: Some(plan.lock.clone()),
            path: Some(plan.path.clone()),
            plan: Some(PlanRef { id: plan.plan_id.clone(), czxid: plan.czxid }),
            reason,
            ..Entry::of_server(kind, detail)
        }
    }
}

impl Plans {
    /// Keeps a plan and numbers it; None when there are too many.
    pub(super) fn keep(&mut self, now_ms: i64, mut planned: KeptPlan) -> Option<ReleasePlan> {
        self.forget_old(now_ms);
        let actor = planned.planner.clone();
        let oldest = |plans: &Self| {
            let own = plans.kept.iter().filter(|(_, other)| other.is_of(&actor));
            let first = own.clone().min_by_key(|(_, other)| other.plan.expires_at_ms).map(|(id, _)| id.clone());
            (own.count() >= ACTOR_PLANS_MAX).then_some(first).flatten()
        };
        if let Some(oldest) = oldest(self) {
            self.kept.remove(&oldest);
        }
        if self.kept.len() >= PLANS_MAX {
            return None;
        }
        planned.plan.plan_id = format!("{:032x}", rand::random::<u128>());
        let lasts_ms = if planned.plan.needs_second { SECOND_PLAN_MS } else { PLAN_MS };
        planned.plan.expires_at_ms = now_ms + lasts_ms;
        let plan = planned.plan.clone();
        self.kept.insert(plan.plan_id.clone(), planned);
        Some(plan)
    }

    /// A plan that its actor can still execute.
    pub(super) fn of(&mut self, now_ms: i64, id: &str, actor: &Actor) -> Option<&KeptPlan> {
        self.forget_old(now_ms);
        self.kept.get(id).filter(|planned| planned.is_of(actor))
    }

    /// A plan of whomever.
    pub(super) fn any(&mut self, now_ms: i64, id: &str) -> Option<&mut KeptPlan> {
        self.forget_old(now_ms);
        self.kept.get_mut(id)
    }

    pub(super) fn take(&mut self, id: &str) -> Option<KeptPlan> {
        self.kept.remove(id)
    }

    fn forget_old(&mut self, now_ms: i64) {
        // What ends further ahead than a plan lasts was made before the clock was set back.
        self.kept.retain(|_, planned| (1..=SECOND_PLAN_MS).contains(&(planned.plan.expires_at_ms - now_ms)));
    }
}
