//! Execution of a request: intent logged, release, who holds now, outcome logged. Runs in tasks of its own, so that
//! neither a closed connection nor a panic leaves a release without its outcome.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_view::{AuditKind, Outcome, ReleaseResult};

use super::coordination::Coordination;
use super::ensemble::EnsembleHandle;
use super::plans::KeptPlan;
use super::report;
use lockscope_audit::{Actor, Entry, Intent, RequestLog};
use lockscope_live::project::{ForcedRelease, Holding, OutcomeText, told};
use lockscope_zookeeper::RevokeOutcome;

/// How long the model gets to apply a deletion.
const SEEN_MAX: Duration = Duration::from_secs(2);
/// How long a holder gets to let go before the answer is sent.
const ASKED_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    pub result: ReleaseResult,
}

impl Execution {
    /// An outcome of which nothing else is known, as of a request that ends before anything was tried.
    pub(super) fn of(outcome: Outcome, sentence: String) -> Self {
        let (holders, proof) = (Vec::new(), String::new());
        let result = ReleaseResult { outcome, sentence, verified: false, holders, took_ms: 0, audit_id: None, proof };
        Self { result }
    }

    /// The HTTP status that says the same.
    pub fn status(&self) -> u16 {
        match self.result.outcome {
            Outcome::Released | Outcome::ReleasedOther => 200,
            // It was asked for, or what came of it is not known.
            Outcome::Asked | Outcome::Unknown => 202,
            Outcome::Denied => 403,
            Outcome::AlreadyGone | Outcome::ChangedHands | Outcome::VersionMoved | Outcome::PlanExpired => 409,
            Outcome::RefusedAudit | Outcome::NotLive => 503,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Release,
    Revoke,
}

/// One request, checked.
#[derive(Clone)]
pub(super) struct ReleaseRequest {
    pub(super) operation: Operation,
    pub(super) ensemble: EnsembleHandle,
    pub(super) planned: KeptPlan,
    pub(super) actor: Actor,
    pub(super) reason: String,
    pub(super) begun: Instant,
    /// The same on the wall clock.
    pub(super) begun_at_ms: i64,
    /// Other servers that release; None where this one is alone.
    pub(super) coordination: Option<Arc<dyn Coordination>>,
}

impl ReleaseRequest {
    fn entry(&self, kind: AuditKind, outcome: Option<Outcome>, detail: String) -> Entry {
        let entry = self.planned.entry(kind, &self.actor, Some(self.reason.clone()), detail);
        Entry { outcome: outcome.map(Outcome::name), ..entry }
    }

    /// What is on record before anything leaves.
    fn intent(&self) -> Entry {
        let plan = &self.planned.plan;
        let owner = plan.session_id.map_or_else(|| "no session".to_owned(), |session| format!("session {session}"));
        let place = plan.holder.client.as_ref().map_or_else(String::new, |client| format!(" at {}", client.address));
        let approved = self
            .planned
            .approved_by
            .as_ref()
            .map_or_else(String::new, |approver| format!("; approved by {}", approver.name));
        let detail = format!(
            "plan {}: czxid {}, version {}, owned by {owner}{place}, {} ({}), recipe {}{approved}",
            plan.plan_id, plan.czxid, plan.version, plan.holder.role, plan.holder.liveness, plan.recipe_label
        );
        let kind =
            if self.operation == Operation::Release { AuditKind::ReleaseIntent } else { AuditKind::RevokeIntent };
        self.entry(kind, None, detail)
    }

    fn outcome(&self, outcome: Outcome, detail: String) -> Entry {
        let kind =
            if self.operation == Operation::Release { AuditKind::ReleaseOutcome } else { AuditKind::RevokeOutcome };
        self.entry(kind, Some(outcome), detail)
    }

    /// What it ends if it is carried out; None where the holder is only asked to let go.
    pub(super) fn forced(&self) -> Option<ForcedRelease> {
        let plan = &self.planned.plan;
        (self.operation == Operation::Release).then(|| ForcedRelease {
            ensemble: plan.ensemble.clone(),
            path: plan.path.clone(),
            czxid: plan.czxid,
            by: self.actor.name.clone(),
            record: None,
        })
    }

    /// How it ended when its intent was on record too late.
    fn undone(&self) -> Entry {
        self.outcome(
            Outcome::RefusedAudit,
            "Nothing was sent: writing the intent to the audit log took too long.".to_owned(),
        )
    }

    fn took_ms(&self) -> i64 {
        i64::try_from(self.begun.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

pub(super) async fn execute_request(request: ReleaseRequest, log: RequestLog) -> Execution {
    let intent = match log.intent(request.intent(), request.undone()).await {
        Ok(intent) => intent,
        Err(error) => {
            tracing::error!(%error, "a release was rejected because its audit record can't be written");
            return Execution::of(
                Outcome::RefusedAudit,
                format!("Nothing was sent: the audit record can't be written ({error})."),
            );
        }
    };
    let doing = request.clone();
    let done = tokio::spawn(async move {
        match doing.operation {
            Operation::Release => release(&doing).await,
            Operation::Revoke => revoke(&doing).await,
        }
    });
    let (told, holding) = match done.await {
        Ok(done) => done,
        Err(error) => {
            tracing::error!(%error, "a release failed");
            (told(None, &request.planned.target), Holding::default())
        }
    };
    finish(&request, &log, intent, told, holding).await
}

async fn release(request: &ReleaseRequest) -> (OutcomeText, Holding) {
    let (target, plan) = (&request.planned.target, &request.planned.plan);
    // Held until the deletion is settled. Where it is lost meanwhile, the planned czxid is compared all the same.
    let _turn = match &request.coordination {
        None => None,
        Some(coordination) => match coordination.turn(&plan.ensemble, &plan.lock).await {
            Ok(turn) => Some(turn),
            Err(why) => {
                let sentence = format!("Nothing was sent: {why}");
                let proof = "other replicas were asked first";
                let told = OutcomeText { outcome: Outcome::NotLive, sentence, is_verified: false, proof };
                return (told, hold(request, Duration::ZERO).await);
            }
        },
    };
    let end = request.ensemble.release(target.clone()).await;
    let told = told(Some(&end), target);
    let should_go = matches!(
        told.outcome,
        Outcome::Released | Outcome::ReleasedOther | Outcome::AlreadyGone | Outcome::ChangedHands
    );
    let holding = hold(request, if should_go { SEEN_MAX } else { Duration::ZERO }).await;
    (told, holding)
}

async fn revoke(request: &ReleaseRequest) -> (OutcomeText, Holding) {
    let target = &request.planned.target;
    let (outcome, sentence, proof) = match request.ensemble.revoke(target).await {
        RevokeOutcome::Told => {
            let holding = hold(request, ASKED_MAX).await;
            let told = |outcome, sentence, is_verified| OutcomeText {
                outcome,
                sentence,
                is_verified,
                proof: "its holder's znode was written to, and watched",
            };
            let let_go = holding.is_live && holding.is_gone;
            let told = if let_go {
                told(Outcome::Released, format!("{} was let go by its holder", target.czxid), true)
            } else {
                told(
                    Outcome::Asked,
                    format!("The holder of {} was asked to let go and has not yet", target.czxid),
                    false,
                )
            };
            return (told, holding);
        }
        RevokeOutcome::Differs => (
            Outcome::ChangedHands,
            "Nobody was asked: it is another, gone, or was written to since the plan was made",
            "read before asking",
        ),
        RevokeOutcome::Denied => (
            Outcome::Denied,
            "Nobody was asked: ZooKeeper denies us WRITE on the holder's znode",
            "ZooKeeper answered NoAuth",
        ),
        RevokeOutcome::Unknown => {
            (Outcome::Unknown, "No answer came: whether the holder was asked is not known", "no answer")
        }
        RevokeOutcome::NotLive => {
            (Outcome::NotLive, "Nobody was asked: ZooKeeper could not be reached in time", "nothing was sent")
        }
    };
    let told = OutcomeText { outcome, sentence: sentence.to_owned(), is_verified: false, proof };
    (told, hold(request, Duration::ZERO).await)
}

async fn hold(request: &ReleaseRequest, within: Duration) -> Holding {
    request.ensemble.holding(&request.planned.plan.lock, &request.planned.target, within).await
}

/// Reports the end, and puts it in the audit log whatever it is.
async fn finish(
    request: &ReleaseRequest,
    log: &RequestLog,
    intent: Intent,
    told: OutcomeText,
    holding: Holding,
) -> Execution {
    let took_ms = request.took_ms();
    let lock = &request.planned.plan.lock;
    let (znodes, known_by) = (report::of_znodes(lock, &told, &holding, took_ms), report::proof(&told));
    // A release is told as people ask; whatever else it came to, with what to do.
    let is_released = told.outcome == Outcome::Released && request.operation == Operation::Release;
    let (mut sentence, proof) = if is_released {
        let people = report::of_people(&request.planned.plan, &holding, request.begun_at_ms);
        (people, format!("{znodes} {known_by}"))
    } else {
        (znodes, known_by)
    };
    let detail = format!("{sentence} {proof}");
    let id = intent.id();
    let audit_id = match log.outcome(intent, request.outcome(told.outcome, detail)).await {
        Ok(id) => Some(id),
        Err(error) => {
            sentence.push_str(&format!(
                " ATTENTION: this outcome is NOT on record yet ({error}); only the intent, record {id}, is."
            ));
            None
        }
    };
    let Holding { holders, .. } = holding;
    let (outcome, verified) = (told.outcome, told.is_verified);
    Execution { result: ReleaseResult { outcome, sentence, verified, holders, took_ms, audit_id, proof } }
}
