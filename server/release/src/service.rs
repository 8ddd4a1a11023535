//! The service itself: who may plan, order and approve what, and the checks before an order is carried out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lockscope_wire::{AuditKind, DeleteRight, Outcome, PlanRequest, ReleaseOrder, ReleasePlan};
use tokio::sync::watch;

use super::checks::{check_right, check_words, cut, may, out_of_scope};
use super::counts::{Counts, OutcomeCounts};
use super::ensemble::EnsembleHandle;
use super::execute::{Executed, Operation, Order, execute_order};
use super::limits::Limits;
use super::orders::{Following, Orders, Who};
use super::plans::{Planned, Plans};
use super::refusal::{Refused, RefusedFor};
use access::Access;
use audit::{Entry, Journal, PlanOf, RequestLog};
use identity::{Actor, Right, is_same_person};
use runtime::clock::{self, Clock};
use runtime::tasks::spawn;
use zookeeper::DeletePermission;

/// How long a record may take before it counts as not to be written.
const RECORD_MAX: Duration = Duration::from_secs(10);

/// What is set for all releases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// A second person approves each order.
    pub needs_second: bool,
}

/// Where releases are planned and ordered. Cheap to clone.
#[derive(Clone)]
pub struct ReleaseService(Arc<Inner>);

struct Inner {
    sites: Vec<EnsembleHandle>,
    log: RequestLog,
    access: Access,
    clock: Clock,
    needs_second: AtomicBool,
    counts: Counts,
    state: Mutex<State>,
    under_way: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    plans: Plans,
    orders: Orders,
    limits: Limits,
    is_closing: bool,
}

/// What a refusal is about.
#[derive(Default)]
struct About {
    ensemble: Option<String>,
    lock: Option<String>,
    path: Option<String>,
}

/// An order that was taken. It has its outcome, told and counted once, also when it breaks off.
struct UnderWay {
    service: ReleaseService,
    ensemble: String,
    tell: watch::Sender<Option<Executed>>,
}

/// What is to be done with an order.
enum Taken {
    /// Carried out.
    Now(Box<Order>, UnderWay),
    /// Told what came of it: its plan was used for it before.
    Before(Following),
}

impl UnderWay {
    fn ended(&self, executed: Executed) {
        self.service.0.counts.ended(Some(&self.ensemble), executed.result.outcome);
        self.tell.send_replace(Some(executed));
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.tell.borrow().is_none() {
            self.ended(broken());
        }
        self.service.0.under_way.send_modify(|count| *count -= 1);
    }
}

impl ReleaseService {
    /// A service for some ensembles; `access` knows who may still do what they could.
    pub fn new(sites: Vec<EnsembleHandle>, journal: Arc<dyn Journal>, access: Access, clock: Clock, settings: Settings) -> Self {
        let under_way = watch::Sender::new(0);
        let log = RequestLog::new(journal, clock.clone(), RECORD_MAX);
        let counts = Counts::new(sites.iter().map(|site| site.info.name.clone()));
        let needs_second = AtomicBool::new(settings.needs_second);
        Self(Arc::new(Inner { sites, log, access, clock, needs_second, counts, state: Mutex::default(), under_way }))
    }

    /// Sets anew what holds for all releases, from the next order on.
    pub fn set(&self, settings: Settings) {
        self.0.needs_second.store(settings.needs_second, Ordering::Relaxed);
    }

    /// How orders ended so far.
    pub fn counted(&self) -> OutcomeCounts {
        self.0.counts.told()
    }

    /// Plans the release of one znode. Reads the ACL of its directory, so it takes a moment.
    ///
    /// # Errors
    /// When the actor may not, or nothing there can be released.
    pub async fn plan(&self, actor: &Actor, request: &PlanRequest) -> Result<ReleasePlan, Refused> {
        let planned = self.draft(actor, request);
        let mut draft = match planned {
            Err(refused) if refused.kind == RefusedFor::Right => {
                let about = About { ensemble: request.ensemble.clone(), lock: None, path: Some(cut(&request.path)) };
                self.note_refusal(actor, about, &refused).await;
                return Err(refused);
            }
            planned => planned?,
        };
        let site = self.site(&Some(draft.plan.ensemble.clone()))?;
        let right = site.right(&draft.plan.path).await;
        draft.plan.right = match right.may {
            DeletePermission::Granted => DeleteRight::Granted,
            DeletePermission::Missing => DeleteRight::Missing,
            DeletePermission::Unread => DeleteRight::Unread,
        };
        draft.plan.right_sentence = right.sentence;
        draft.plan.needs_second = self.0.needs_second.load(Ordering::Relaxed);
        let planned = Planned { draft, planner: actor.clone(), approved_by: None };
        let kept = self.state().plans.keep(self.now_ms(), planned);
        kept.ok_or_else(|| Refused::new(RefusedFor::TooMany { wait_ms: super::plans::PLAN_MS }, "Too many plans are open; wait until some run out."))
    }

    /// Orders what was planned. Goes on when the future is dropped; ordered again with the same plan, it is not done again
    /// and has the outcome that it had.
    ///
    /// # Errors
    /// When the order is not taken; a plan is not used up then.
    pub async fn execute(&self, actor: &Actor, order: &ReleaseOrder) -> Result<Executed, Refused> {
        self.order(Operation::Release, actor, order).await
    }

    /// Asks the holder that was planned for to let go, where it listens for that. Uses the plan up.
    ///
    /// # Errors
    /// When the order is not taken.
    pub async fn revoke(&self, actor: &Actor, order: &ReleaseOrder) -> Result<Executed, Refused> {
        self.order(Operation::Revoke, actor, order).await
    }

    /// A second person approves another's plan; who planned can order it then. Goes on when the future is dropped, so that an
    /// approval that is on record counts.
    ///
    /// # Errors
    /// When it is not theirs to approve, or the record of it can't be written.
    pub async fn approve(&self, actor: &Actor, order: &ReleaseOrder) -> Result<ReleasePlan, Refused> {
        let (service, actor, order) = (self.clone(), actor.clone(), order.clone());
        let approving = tokio::spawn(async move { service.approve_now(&actor, &order).await });
        let broken = |_| Err(Refused::new(RefusedFor::Audit, "The approval broke off inside Lockscope; the record tells whether it counts."));
        approving.await.unwrap_or_else(broken)
    }

    async fn approve_now(&self, actor: &Actor, order: &ReleaseOrder) -> Result<ReleasePlan, Refused> {
        let about = self.about(&order.plan_id);
        let gone = || Refused::new(RefusedFor::NotFound, "No such plan, or it ran out; have it planned again.");
        let checked = {
            let now_ms = self.now_ms();
            let mut state = self.state();
            let planned = state.plans.any(now_ms, &order.plan_id).ok_or_else(gone);
            planned.and_then(|planned| {
                may(actor)?;
                // Out of scope, not even that there is such a plan is told, nor for which lock.
                if !actor.may_at(Right::Release, &planned.shown().ensemble, &planned.shown().lock) {
                    return Err(gone());
                }
                if is_same_person(&planned.planner.name, &actor.name) {
                    return Err(Refused::new(RefusedFor::Second, "Who planned it can't approve it; somebody else has to."));
                }
                Ok((planned.shown().clone(), planned.planner.name.clone()))
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
            plan: Some(PlanOf { id: plan.plan_id.clone(), czxid: plan.czxid }),
            intent: None,
            outcome: None,
            reason: Some(order.reason.trim().to_owned()).filter(|reason| !reason.is_empty()),
            detail: format!("plan {} of {planner}: czxid {}", plan.plan_id, plan.czxid),
        };
        let undone =
            Entry { kind: AuditKind::Refused, detail: "This approval does not count: its record took too long.".to_owned(), ..entry.clone() };
        let recorded = self.0.log.intent(entry, undone).await;
        let _on_record =
            recorded.map_err(|error| Refused::new(RefusedFor::Audit, format!("Not approved: the record of it can't be written ({error}).")))?;
        let now_ms = self.now_ms();
        let mut state = self.state();
        state.plans.any(now_ms, &order.plan_id).ok_or_else(gone)?.approved_by = Some(actor.clone());
        Ok(plan)
    }

    /// A plan as it was shown, for somebody who may release there: whom it would hit, and whether it is approved yet.
    pub fn planned(&self, actor: &Actor, plan_id: &str) -> Option<(ReleasePlan, Option<String>)> {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let planned = state.plans.any(now_ms, plan_id)?;
        check_right(actor, &planned.shown().ensemble, &planned.shown().lock).ok()?;
        Some((planned.shown().clone(), planned.approved_by.as_ref().map(|actor| actor.name.clone())))
    }

    /// Takes no more orders and waits for those under way, for so long at most; false when some were left.
    pub async fn close(&self, within: Duration) -> bool {
        self.state().is_closing = true;
        let mut under_way = self.0.under_way.subscribe();
        let ended = async {
            // It fails only without a sender, which is ours.
            let _ = under_way.wait_for(|count| *count == 0).await;
            self.0.log.flush().await;
        };
        tokio::time::timeout(within, ended).await.is_ok()
    }

    async fn order(&self, operation: Operation, actor: &Actor, order: &ReleaseOrder) -> Result<Executed, Refused> {
        let about = self.about(&order.plan_id);
        if self.0.needs_second.load(Ordering::Relaxed) {
            // Who approved may have been taken out a moment ago.
            self.0.access.look().await;
        }
        let mut following = match self.take(operation, actor, order) {
            Ok(Some(Taken::Now(order, under_way))) => {
                let following = under_way.tell.subscribe();
                spawn("release", self.clone().run(order, about, under_way));
                following
            }
            Ok(Some(Taken::Before(following))) => following,
            Ok(None) => {
                let sentence = "Nothing was sent by this request: there is no such plan of yours, or it ran out; plan again.";
                self.0.counts.ended(about.ensemble.as_deref(), Outcome::PlanExpired);
                self.note_refusal(actor, about, &Refused::new(RefusedFor::NotFound, sentence)).await;
                return Ok(Executed::untried(Outcome::PlanExpired, sentence.to_owned()));
            }
            Err(refused) => {
                self.0.counts.refused();
                if !matches!(refused.kind, RefusedFor::Confirm | RefusedFor::Reason) {
                    self.note_refusal(actor, about, &refused).await;
                }
                return Err(refused);
            }
        };
        let ended = following.wait_for(Option::is_some).await.ok().and_then(|executed| executed.clone());
        Ok(ended.unwrap_or_else(broken))
    }

    /// Carries an order out, whoever still waits for it.
    async fn run(self, order: Box<Order>, about: About, under_way: UnderWay) {
        let executed = if order.site.is_live(&order.planned.shown().path, &order.planned.draft.target) {
            execute_order(*order, self.0.log.clone()).await
        } else {
            let sentence = "Nothing was sent: the view of the lock is not live; plan again once it is.";
            self.note_refusal(&order.actor, about, &Refused::new(RefusedFor::NotLive, sentence)).await;
            Executed::untried(Outcome::NotLive, sentence.to_owned())
        };
        under_way.ended(executed);
    }

    /// Checks an order and uses its plan up; None when there is no such plan of this actor's.
    fn take(&self, operation: Operation, actor: &Actor, order: &ReleaseOrder) -> Result<Option<Taken>, Refused> {
        let begun = clock::instant();
        let now_ms = self.now_ms();
        let mut state = self.state();
        may(actor)?;
        if let Some(following) = state.orders.of(now_ms, &order.plan_id, actor) {
            return Ok(Some(Taken::Before(following)));
        }
        if state.is_closing {
            return Err(Refused::new(RefusedFor::Closing, "Lockscope is shutting down and takes no more orders."));
        }
        let Some(planned) = state.plans.of(now_ms, &order.plan_id, actor) else { return Ok(None) };
        let plan = planned.shown().clone();
        check_right(actor, &plan.ensemble, &plan.lock)?;
        check_words(&plan, order)?;
        if self.0.needs_second.load(Ordering::Relaxed) {
            let Some(approver) = &planned.approved_by else {
                return Err(Refused::new(RefusedFor::Second, "Somebody else has to approve this plan first."));
            };
            if !self.0.access.still_may(approver, Right::Release, &plan.ensemble, &plan.lock) {
                let sentence = format!("{}, who approved this plan, may not release it any more; have somebody else approve it.", approver.name);
                return Err(Refused::new(RefusedFor::Second, sentence));
            }
        }
        if operation == Operation::Revoke && !plan.can_revoke {
            return Err(Refused::new(RefusedFor::NotReleasable, "Its holder is not known to listen for being asked to let go."));
        }
        if let Some(wait_ms) = state.limits.wait_ms(now_ms, &actor.name, &plan.ensemble, &plan.lock) {
            let sentence = format!("Too many releases in too short a time; wait {} s.", (wait_ms + 999) / 1_000);
            return Err(Refused::new(RefusedFor::TooMany { wait_ms }, sentence));
        }
        let site = self.site(&Some(plan.ensemble.clone()))?.clone();
        let Some(planned) = state.plans.take(&plan.plan_id) else { return Ok(None) };
        state.limits.note(now_ms, &actor.name, &plan.ensemble, &plan.lock);
        let tell = state.orders.begin(now_ms, &plan.plan_id, (actor.name.clone(), actor.by));
        // Counted before the state is let go of, so that whoever closes the service waits for it.
        self.0.under_way.send_modify(|count| *count += 1);
        let under_way = UnderWay { service: self.clone(), ensemble: plan.ensemble, tell };
        let reason = order.reason.trim().to_owned();
        let order = Order { operation, site, planned, actor: actor.clone(), reason, begun };
        Ok(Some(Taken::Now(Box::new(order), under_way)))
    }

    fn draft(&self, actor: &Actor, request: &PlanRequest) -> Result<feed::project::Draft, Refused> {
        may(actor)?;
        // Out of scope, not even that there is such an ensemble is told.
        if let Some(name) = request.ensemble.as_deref().filter(|name| !name.is_empty() && !actor.scope.covers_ensemble(name)) {
            check_right(actor, name, &request.path)?;
        }
        let site = self.site(&request.ensemble)?;
        let drafted = site.draft(&request.path);
        // Out of scope, not even that there is nothing is told.
        let lock = drafted.as_ref().map_or(&request.path, |draft| &draft.plan.lock);
        // Nor the name of the lock that a path belongs to.
        if !actor.may_at(Right::Release, &site.info.name, lock) {
            return Err(out_of_scope(actor, &site.info.name, &request.path));
        }
        drafted
    }

    /// Remembers an order of a server before.
    pub(super) fn begin(&self, at_ms: i64, plan_id: &str, who: Who) -> watch::Sender<Option<Executed>> {
        self.state().orders.begin(at_ms, plan_id, who)
    }

    pub(super) fn log(&self) -> &RequestLog {
        &self.0.log
    }

    pub(super) fn site(&self, ensemble: &Option<String>) -> Result<&EnsembleHandle, Refused> {
        let sites = &self.0.sites;
        match ensemble.as_deref().filter(|name| !name.is_empty()) {
            None if sites.len() == 1 => sites.first().ok_or(()),
            None => return Err(Refused::new(RefusedFor::NotFound, "There are several ensembles; name one.")),
            Some(name) => sites.iter().find(|site| site.info.name == name).ok_or(()),
        }
        .map_err(|()| Refused::new(RefusedFor::NotFound, format!("There is no ensemble {:?}.", ensemble.as_deref().unwrap_or_default())))
    }

    /// What a plan is about, whosever it is.
    fn about(&self, plan_id: &str) -> About {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let plan = state.plans.any(now_ms, plan_id).map(|planned| planned.shown());
        plan.map_or_else(About::default, |plan| About {
            ensemble: Some(plan.ensemble.clone()),
            lock: Some(plan.lock.clone()),
            path: Some(plan.path.clone()),
        })
    }

    /// A refusal goes on record where that can be written; nothing was sent either way.
    async fn note_refusal(&self, actor: &Actor, about: About, refused: &Refused) {
        let About { ensemble, lock, path } = about;
        let entry = Entry { actor: Some(actor.clone()), ensemble, lock, path, ..Entry::of_server(AuditKind::Refused, refused.sentence.clone()) };
        self.0.log.refusal(actor, entry).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }
}

/// What is told of an order that broke off.
fn broken() -> Executed {
    Executed::untried(Outcome::Unknown, "The order broke off inside Lockscope; the record tells how far it came.".to_owned())
}
