//! A release service over a real observer and a real model, with an audit log kept in memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lockscope_access::{Access, ListenScope};
use lockscope_audit::Actor;
use lockscope_audit::{AuditError, Entry, Journal};
use lockscope_core::observation::RootId;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_live::engine::Engine;
use lockscope_live::project::{EnsembleInfo, ProjectionContext};
use lockscope_release::{EnsembleHandle, Execution, Rejection, ReleaseService};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shutdown::{self, DropGuard};
use lockscope_runtime::task_thread::TaskThread;
use lockscope_view::Within;
use lockscope_view::{AuditKind, HoldEnd, LockQuery, PlanRequest, ReleaseOrder, ReleasePlan, Role, Scope, SignedBy};
use lockscope_zookeeper::members::{self, Demand, SharedRounds};
use lockscope_zookeeper::{BATCHES_MAX, ObserverConfig, ReleaseClient, observe};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

use crate::harness::DEADLINE;

/// A record in memory that can be told to fail.
#[derive(Default)]
pub(crate) struct Memory {
    entries: Mutex<Vec<Entry>>,
    pub(crate) fails: AtomicBool,
    /// Only outcomes fail.
    pub(crate) fails_late: AtomicBool,
    /// Outcomes take until this is over.
    pub(crate) stalls: watch::Sender<bool>,
}

impl Journal for Memory {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        async move {
            let is_outcome = matches!(entry.kind, AuditKind::ReleaseOutcome | AuditKind::RevokeOutcome);
            if self.fails.load(Ordering::SeqCst) || (is_outcome && self.fails_late.load(Ordering::SeqCst)) {
                return Err(AuditError("no space left on device".to_owned()));
            }
            if is_outcome {
                self.stalls.subscribe().wait_for(|stalls| !stalls).await.unwrap();
            }
            let mut entries = self.entries.lock().unwrap();
            entries.push(entry);
            Ok(entries.len() as u64)
        }
        .boxed()
    }
}

impl Memory {
    pub(crate) fn kinds(&self) -> Vec<AuditKind> {
        self.entries.lock().unwrap().iter().map(|entry| entry.kind).collect()
    }

    pub(crate) fn last(&self) -> Entry {
        self.entries.lock().unwrap().last().unwrap().clone()
    }
}

/// All that a release service needs, running.
pub(crate) struct Office {
    pub(crate) service: ReleaseService,
    /// Where tokens and users are kept.
    pub(crate) people: TempDir,
    pub(crate) journal: Arc<Memory>,
    pub(crate) clock: Clock,
    engine: Engine<Observatory>,
    _stopper: DropGuard,
    _demand: watch::Sender<Demand>,
}

pub(crate) fn somebody(name: &str, role: Role) -> Actor {
    Actor { name: name.to_owned(), role, scope: Within::default(), by: SignedBy::Token, address: None }
}

pub(crate) fn operator() -> Actor {
    somebody("anna", Role::Operator)
}

pub(crate) fn is_live(model: &Observatory) -> bool {
    model.root_state(RootId(0), TimeMs(Clock::system().now_ms())).0 == RootState::Live
}

impl Office {
    /// Watches through one address and acts through another.
    pub(crate) async fn open_through(
        watch: &str,
        act: &str,
        root: &str,
        settings: lockscope_release::Settings,
    ) -> Self {
        Self::open_with(watch, ReleaseClient::anonymous(act), root, settings).await
    }

    pub(crate) async fn open_with(
        watch: &str,
        acting: ReleaseClient,
        root: &str,
        settings: lockscope_release::Settings,
    ) -> Self {
        let (stopper, stop) = shutdown::token();
        let (sink, inbox) = mpsc::channel(BATCHES_MAX);
        let roots = vec![root.to_owned()];
        let clock = Clock::manual(Clock::system().now_ms());
        let model = Observatory::new(Settings { roots: roots.clone(), ..Settings::default() }, TimeMs(clock.now_ms()));
        let engine = Engine::start(model, inbox, Clock::system(), stop.clone(), &TaskThread::start("engine").unwrap());
        let config = ObserverConfig::new(watch, roots, Duration::from_secs(30)).unwrap();
        let asked = members::Config {
            connect: watch.to_owned(),
            admin_urls: Vec::new(),
            session_timeout: Duration::from_secs(30),
            credentials: lockscope_zookeeper::Credentials::default(),
        };
        let (demand, wanted) = watch::channel(Demand { watches: true, waiters: false });
        let told = (sink.clone(), Arc::default());
        tokio::spawn(SharedRounds::default().collect(asked, Clock::system(), wanted, told, stop.clone()));
        tokio::spawn(observe(config, Clock::system(), Arc::default(), sink, stop.clone()));
        let info = EnsembleInfo {
            name: "default".to_owned(),
            connect: watch.to_owned(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let journal = Arc::new(Memory::default());
        let site = EnsembleHandle { info, reader: engine.reader.clone(), acting, clock: Clock::system() };
        let people = tempfile::tempdir().unwrap();
        let access = Access::new(
            Some(people.path().to_owned()),
            lockscope_access::Settings::default(),
            ListenScope::LOOPBACK,
            clock.clone(),
        );
        let service = ReleaseService::new(vec![site], journal.clone(), access, clock.clone(), settings);
        let office = Self { service, people, journal, clock, engine, _stopper: stopper, _demand: demand };
        office.until("the view is live", is_live).await;
        office
    }

    pub(crate) async fn open(connect: &str, root: &str) -> Self {
        Self::open_through(connect, connect, root, lockscope_release::Settings::default()).await
    }

    /// Waits until the model satisfies a condition.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn(&Observatory) -> bool) {
        let mut revisions = self.engine.reader.revisions();
        let waiting = async {
            loop {
                revisions.borrow_and_update();
                if self.engine.reader.read(&condition) {
                    return;
                }
                revisions.changed().await.unwrap();
            }
        };
        tokio::time::timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
    }

    /// Looks at the model now.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Observatory) -> T) -> T {
        self.engine.reader.read(look)
    }

    /// Znode, end, and by whom and which record of the holds of a lock that ended, as an auditor is shown them, the newest
    /// first.
    pub(crate) fn ends(&self, lock: &str) -> Vec<(String, HoldEnd, Option<String>, Option<u64>)> {
        let ensemble = EnsembleInfo {
            name: "default".to_owned(),
            connect: String::new(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let query = LockQuery { path: lock.to_owned(), ..LockQuery::default() };
        let page = self.look(|observatory| {
            let now = TimeMs(Clock::system().now_ms());
            let scope = &Scope::ALL;
            ProjectionContext { observatory, ensemble: &ensemble, scope, now }
                .lock(&query, &self.service.forced_releases())
        });
        let past = page.map(|page| page.head.past).unwrap_or_default();
        past.into_iter().map(|past| (past.node, past.how, past.released_by, past.record)).collect()
    }

    /// Whether the model satisfies a condition now; false after its next change.
    pub(crate) async fn comes(&self, condition: impl Fn(&Observatory) -> bool) -> bool {
        let mut revisions = self.engine.reader.revisions();
        revisions.borrow_and_update();
        let is_so = self.look(condition);
        if !is_so {
            revisions.changed().await.unwrap();
        }
        is_so
    }

    /// Waits until a znode is known with its owner, in a view that is live.
    pub(crate) async fn knows(&self, path: &str) {
        let is_read =
            |model: &Observatory| model.roots()[0].mirror.node(path).is_some_and(|child| child.read.is_some());
        self.until(path, |model| is_live(model) && is_read(model)).await;
    }

    /// A minute goes by, so that no limit is in the way.
    pub(crate) fn rest(&self) {
        self.clock.set_ms(self.clock.now_ms() + 61_000);
    }

    pub(crate) async fn plan(&self, path: &str) -> Result<ReleasePlan, Rejection> {
        self.service.plan(&operator(), &PlanRequest { ensemble: None, path: path.to_owned() }).await
    }

    pub(crate) async fn order(&self, plan: &ReleasePlan) -> Result<Execution, Rejection> {
        self.service.execute(&operator(), &order_of(plan)).await
    }

    /// Plans and orders; both must be taken.
    pub(crate) async fn release(&self, path: &str) -> Execution {
        self.rest();
        self.knows(path).await;
        let plan = self.plan(path).await.unwrap();
        self.order(&plan).await.unwrap()
    }
}

pub(crate) fn order_of(plan: &ReleasePlan) -> ReleaseOrder {
    ReleaseOrder { plan_id: plan.plan_id.clone(), confirm: plan.lock.clone(), reason: "stuck since noon".to_owned() }
}
