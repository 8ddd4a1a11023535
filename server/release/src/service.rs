//! The service itself: who may plan, request and approve what, and the checks before a request is executed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lockscope_view::{AuditKind, DeleteRight, Outcome, PlanRequest, ReleaseOrder, ReleasePlan};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use super::checks::{check_right, cut, may, out_of_scope};
use super::coordination::Coordination;
use super::counts::{Counts, OutcomeCounts};
use super::ensemble::{EnsembleHandle, Target};
use super::execute::{Execution, Operation, ReleaseRequest, execute_request};
use super::limits::Limits;
use super::plans::{KeptPlan, Plans};
use super::refusal::{Rejection, RejectionReason};
use super::requests::{OutcomeReceiver, RequestHistory};
use lockscope_access::Access;
use lockscope_audit::{Actor, Entry, Journal, RequestLog, Right};
use lockscope_live::project::{ForcedRelease, ForcedReleases};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_list::SharedList;
use lockscope_runtime::tasks::{TaskTracker, TaskTrackerToken, spawn};
use lockscope_zookeeper::DeletePermission;

/// How long a record may take before it counts as not to be written.
const RECORD_MAX: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// A second person approves each release.
    pub needs_second: bool,
}

#[derive(Clone)]
pub struct ReleaseService(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) ensembles: SharedList<EnsembleHandle>,
    pub(super) log: RequestLog,
    pub(super) access: Access,
    clock: Clock,
    needs_second: AtomicBool,
    /// Other servers that release; none where this one is alone.
    pub(super) coordination: OnceLock<Arc<dyn Coordination>>,
    pub(super) counts: Counts,
    pub(super) forced: ForcedReleases,
    state: Mutex<State>,
    running: TaskTracker,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) plans: Plans,
    pub(super) requests: RequestHistory,
    pub(super) limits: Limits,
    pub(super) is_closing: bool,
}

#[derive(Default)]
pub(super) struct RefusalSubject {
    ensemble: Option<String>,
    lock: Option<String>,
    path: Option<String>,
}

/// A request in progress. Its outcome is reported and counted once, also when it fails.
pub(super) struct RunningRequest {
    service: ReleaseService,
    ensemble: String,
    sender: watch::Sender<Option<Execution>>,
    /// Whoever closes the service waits for it.
    _token: TaskTrackerToken,
}

pub(super) enum Accepted {
    Now(Box<ReleaseRequest>, RunningRequest),
    /// With the outcome of an earlier request with the same plan.
    Before(OutcomeReceiver),
}

impl RunningRequest {
    /// Counted from now on: whoever closes the service waits for it.
    pub(super) fn begin(service: &ReleaseService, ensemble: &str, sender: watch::Sender<Option<Execution>>) -> Self {
        let token = service.0.running.token();
        Self { service: service.clone(), ensemble: ensemble.to_owned(), sender, _token: token }
    }

    fn ended(&self, execution: Execution) {
        self.service.0.counts.ended(Some(&self.ensemble), execution.result.outcome);
        self.sender.send_replace(Some(execution));
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        if self.sender.borrow().is_none() {
            self.ended(broken());
        }
    }
}

impl ReleaseService {
    /// A service for some ensembles; `access` knows who may still do what they could.
    pub fn new(
        ensembles: impl Into<SharedList<EnsembleHandle>>,
        journal: Arc<dyn Journal>,
        access: Access,
        clock: Clock,
        settings: Settings,
    ) -> Self {
        let running = TaskTracker::new();
        let log = RequestLog::new(journal, clock.clone(), RECORD_MAX);
        let ensembles = ensembles.into();
        let counts = Counts::new(ensembles.now().iter().map(|ensemble| ensemble.info.name.clone()));
        let needs_second = AtomicBool::new(settings.needs_second);
        let (forced, state) = (ForcedReleases::default(), Mutex::default());
        let coordination = OnceLock::new();
        Self(Arc::new(Inner {
            ensembles,
            log,
            access,
            clock,
            needs_second,
            coordination,
            counts,
            forced,
            state,
            running,
        }))
    }

    /// Sets anew what holds for all releases, from the next request on.
    pub fn set(&self, settings: Settings) {
        self.0.needs_second.store(settings.needs_second, Ordering::Relaxed);
    }

    /// Releases together with other servers from now on; for good.
    pub fn coordinate(&self, with: Arc<dyn Coordination>) {
        let _ = self.0.coordination.set(with);
    }

    pub fn counted(&self) -> OutcomeCounts {
        self.0.counts.told()
    }

    pub fn forced_releases(&self) -> ForcedReleases {
        self.0.forced.clone()
    }

    /// Plans the release of one znode. Reads the ACL of its directory, so it takes a moment.
    ///
    /// # Errors
    /// When the actor may not, or nothing there can be released.
    pub async fn plan(&self, actor: &Actor, request: &PlanRequest) -> Result<ReleasePlan, Rejection> {
        let drafted = self.draft(actor, request);
        let (mut plan, target) = match drafted {
            Err(refused) if refused.kind == RejectionReason::Right => {
                let about =
                    RefusalSubject { ensemble: request.ensemble.clone(), lock: None, path: Some(cut(&request.path)) };
                self.note_refusal(actor, about, &refused).await;
                return Err(refused);
            }
            drafted => drafted?,
        };
        let ensemble = self.ensemble(&Some(plan.ensemble.clone()))?;
        let right = ensemble.right(&plan.path).await;
        plan.right = match right.may {
            DeletePermission::Granted => DeleteRight::Granted,
            DeletePermission::Missing => DeleteRight::Missing,
            DeletePermission::Unread => DeleteRight::Unread,
        };
        plan.right_sentence = right.sentence;
        plan.needs_second = self.needs_second();
        let planned = KeptPlan { plan, target, planner: actor.clone(), approved_by: None };
        let kept = self.state().plans.keep(self.now_ms(), planned);
        kept.ok_or_else(|| {
            Rejection::new(
                RejectionReason::TooMany { wait_ms: super::plans::PLAN_MS },
                "Too many plans are open; wait until some run out.",
            )
        })
    }

    /// Executes a plan. Goes on when the future is dropped; a repeated request with the same plan is not executed again
    /// and has the same outcome.
    ///
    /// # Errors
    /// When the request is rejected; a plan is not used up then.
    pub async fn execute(&self, actor: &Actor, order: &ReleaseOrder) -> Result<Execution, Rejection> {
        self.order(Operation::Release, actor, order).await
    }

    /// Asks the holder that was planned for to let go, where it listens for that. Uses the plan up.
    ///
    /// # Errors
    /// When the request is rejected.
    pub async fn revoke(&self, actor: &Actor, order: &ReleaseOrder) -> Result<Execution, Rejection> {
        self.order(Operation::Revoke, actor, order).await
    }

    /// A plan as it was shown, for somebody who may release there: whom it would hit, and whether it is approved yet.
    pub fn planned(&self, actor: &Actor, plan_id: &str) -> Option<(ReleasePlan, Option<String>)> {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let planned = state.plans.any(now_ms, plan_id)?;
        check_right(actor, &planned.plan.ensemble, &planned.plan.lock).ok()?;
        Some((planned.plan.clone(), planned.approved_by.as_ref().map(|actor| actor.name.clone())))
    }

    /// Accepts no more requests and waits for those in progress, for so long at most; false when some were left.
    pub async fn close(&self, within: Duration) -> bool {
        self.state().is_closing = true;
        self.0.running.close();
        let ended = async {
            self.0.running.wait().await;
            self.0.log.flush().await;
        };
        tokio::time::timeout(within, ended).await.is_ok()
    }

    async fn order(&self, operation: Operation, actor: &Actor, order: &ReleaseOrder) -> Result<Execution, Rejection> {
        let about = self.about(&order.plan_id);
        if self.needs_second() {
            // Who approved may have been taken out a moment ago.
            self.0.access.look().await;
        }
        let taken = match self.wait_for_all(operation, actor, order).await {
            Ok(()) => self.take(operation, actor, order),
            Err(refused) => Err(refused),
        };
        let mut outcome = match taken {
            Ok(Some(Accepted::Now(order, running))) => {
                let outcome = running.sender.subscribe();
                spawn("release", self.clone().run(order, about, running));
                outcome
            }
            Ok(Some(Accepted::Before(outcome))) => outcome,
            Ok(None) => {
                let sentence =
                    "Nothing was sent by this request: there is no such plan of yours, or it ran out; plan again.";
                self.0.counts.ended(about.ensemble.as_deref(), Outcome::PlanExpired);
                self.note_refusal(actor, about, &Rejection::new(RejectionReason::NotFound, sentence)).await;
                return Ok(Execution::of(Outcome::PlanExpired, sentence.to_owned()));
            }
            Err(refused) => {
                self.0.counts.refused();
                if !matches!(refused.kind, RejectionReason::Confirm | RejectionReason::Reason) {
                    self.note_refusal(actor, about, &refused).await;
                }
                return Err(refused);
            }
        };
        let ended = outcome.wait_for(Option::is_some).await.ok().and_then(|execution| execution.clone());
        Ok(ended.unwrap_or_else(broken))
    }

    /// Executes a request, whoever still waits for it.
    async fn run(self, order: Box<ReleaseRequest>, about: RefusalSubject, running: RunningRequest) {
        let execution = if order.ensemble.is_live(&order.planned.plan.path, &order.planned.target) {
            let forced = order.forced();
            let execution = execute_request(*order, self.0.log.clone()).await;
            if execution.result.outcome == Outcome::Released {
                let record = execution.result.audit_id;
                forced.into_iter().for_each(|forced| self.0.forced.note(ForcedRelease { record, ..forced }));
            }
            execution
        } else {
            let sentence = "Nothing was sent: the view of the lock is not live; plan again once it is.";
            self.note_refusal(&order.actor, about, &Rejection::new(RejectionReason::NotLive, sentence)).await;
            Execution::of(Outcome::NotLive, sentence.to_owned())
        };
        running.ended(execution);
    }

    fn draft(&self, actor: &Actor, request: &PlanRequest) -> Result<(ReleasePlan, Target), Rejection> {
        may(actor)?;
        // Out of scope, the ensemble's existence is not disclosed.
        if let Some(name) =
            request.ensemble.as_deref().filter(|name| !name.is_empty() && !actor.scope.covers_ensemble(name))
        {
            check_right(actor, name, &request.path)?;
        }
        let ensemble = self.ensemble(&request.ensemble)?;
        let drafted = ensemble.plan(&request.path);
        // Out of scope, not even a missing znode is disclosed.
        let lock = drafted.as_ref().map_or(&request.path, |(plan, _)| &plan.lock);
        // Nor the name of the lock that a path belongs to.
        if !actor.may_at(Right::Release, &ensemble.info.name, lock) {
            return Err(out_of_scope(actor, &ensemble.info.name, &request.path));
        }
        drafted
    }

    pub(super) fn needs_second(&self) -> bool {
        self.0.needs_second.load(Ordering::Relaxed)
    }

    /// What a plan is about, whosever it is.
    pub(super) fn about(&self, plan_id: &str) -> RefusalSubject {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let plan = state.plans.any(now_ms, plan_id).map(|planned| &planned.plan);
        plan.map_or_else(RefusalSubject::default, |plan| RefusalSubject {
            ensemble: Some(plan.ensemble.clone()),
            lock: Some(plan.lock.clone()),
            path: Some(plan.path.clone()),
        })
    }

    /// A refusal goes on record where that can be written; nothing was sent either way.
    pub(super) async fn note_refusal(&self, actor: &Actor, about: RefusalSubject, refused: &Rejection) {
        let RefusalSubject { ensemble, lock, path } = about;
        let entry = Entry {
            actor: Some(actor.clone()),
            ensemble,
            lock,
            path,
            ..Entry::of_server(AuditKind::Refused, refused.sentence.clone())
        };
        self.0.log.refusal(actor, entry).await;
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }
}

/// The outcome of a request that failed inside Lockscope.
fn broken() -> Execution {
    Execution::of(
        Outcome::Unknown,
        "The request failed inside Lockscope; the audit log shows how far it got.".to_owned(),
    )
}
