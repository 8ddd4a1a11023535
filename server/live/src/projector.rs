//! The feed's access to the model: the reader, what the model does not know about itself, and the clock. Every
//! projection is done by `project`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lockscope_core::finding::Code;
use lockscope_core::observation::RootId;
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_view::{
    Board, BoardQuery, ConfigStatus, EnsembleStatus, EventsQuery, FleetTile, LabQuery, LabRun, Lately, LockOrders,
    LockPage, LockQuery, PROTOCOL, Query, QueueMap, QueueMapQuery, Scope, SessionPage, SessionQuery, SessionTimeout,
    Sessions, SessionsQuery, Status, StatusQuery, View, Waits, WaitsQuery,
};

use super::project::{
    self, AcknowledgedLocks, ApplicationNames, EventsView, ForcedReleases, FoundLocks, HappenedQuery, HappenedView,
    LineView, MetricSelection, NameTest, ProjectionContext, Snapshot,
};
use super::{
    About, ConfigState, Ensembles, HistorySource, Known, LabSource, ProjectedView, Projection, Revisions, Views,
};
use lockscope_runtime::clock::Clock;

pub struct Projector {
    ensembles: Ensembles,
    /// Changes of all models together, and those of the lab and of what else is shown.
    wakes: Revisions,
    about: About,
    clock: Clock,
    lab: Option<Arc<dyn LabSource>>,
    config: Option<Arc<dyn ConfigState>>,
    history: Option<Arc<dyn HistorySource>>,
    applications: ApplicationNames,
    forced: ForcedReleases,
    acknowledged: AcknowledgedLocks,
    is_past: bool,
    /// Every root left its first sync since the server was started, when that was last asked.
    was_ready: AtomicBool,
}

impl Projector {
    /// Over some ensembles, in the order they are shown.
    pub fn new(ensembles: impl Into<Ensembles>, about: About, clock: Clock) -> Self {
        let ensembles = ensembles.into();
        let wakes = Revisions::of([ensembles.revisions()]);
        let (applications, forced) = (ApplicationNames::default(), ForcedReleases::default());
        Self {
            ensembles,
            wakes,
            about,
            clock,
            lab: None,
            config: None,
            history: None,
            applications,
            forced,
            acknowledged: AcknowledgedLocks::default(),
            is_past: false,
            was_ready: AtomicBool::new(false),
        }
    }

    #[must_use]
    pub fn with_lab(self, lab: Arc<dyn LabSource>) -> Self {
        let wakes = self.wakes.and(lab.changes());
        Self { wakes, lab: Some(lab), ..self }
    }

    #[must_use]
    pub fn with_config(self, config: Arc<dyn ConfigState>) -> Self {
        let wakes = self.wakes.and(config.changes());
        Self { wakes, config: Some(config), ..self }
    }

    #[must_use]
    pub fn with_history(self, history: Arc<dyn HistorySource>) -> Self {
        let wakes = self.wakes.and(history.changes());
        Self { wakes, history: Some(history), ..self }
    }

    #[must_use]
    pub fn with_applications(self, applications: ApplicationNames) -> Self {
        let wakes = self.wakes.and(applications.changes());
        Self { wakes, applications, ..self }
    }

    #[must_use]
    pub fn with_forced_releases(self, forced: ForcedReleases) -> Self {
        let wakes = self.wakes.and(forced.changes());
        Self { wakes, forced, ..self }
    }

    #[must_use]
    pub fn with_acknowledged(self, acknowledged: AcknowledgedLocks) -> Self {
        let wakes = self.wakes.and(acknowledged.changes());
        Self { wakes, acknowledged, ..self }
    }

    /// Over models as they were at the instant that the clock shows.
    #[must_use]
    pub fn of_the_past(self) -> Self {
        Self { is_past: true, ..self }
    }

    /// A run, for whom it is.
    fn lab_run(&self, id: &str, scope: &Scope) -> Option<Arc<LabRun>> {
        self.lab.as_ref()?.run(id).filter(|run| scope.covers(&run.ensemble, &run.root))
    }

    /// One look at all of which something may be seen. A writer of any waits meanwhile.
    fn look<T>(&self, scope: &Scope, look: impl FnOnce(&[ProjectionContext<'_>]) -> T) -> T {
        let ensembles = self.ensembles.now();
        let guards: Vec<_> = {
            let seen = ensembles.iter().filter(|ensemble| scope.covers_ensemble(&ensemble.info.name));
            seen.map(|ensemble| (ensemble.reader.guard(), &ensemble.info)).collect()
        };
        // Only now: a writer may have kept us waiting, and what is too old by now is not live.
        let now = TimeMs(self.clock.now_ms());
        let looks: Vec<ProjectionContext<'_>> = guards
            .iter()
            .map(|(observatory, ensemble)| ProjectionContext { observatory, ensemble, scope, now })
            .collect();
        look(&looks)
    }

    /// How the settings stand. Whoever may not see everything gets no name, no path and no line of the file.
    fn config(&self, scope: &Scope) -> ConfigStatus {
        let config = self.config.as_ref().map(|config| config.status()).unwrap_or_default();
        if !scope.is_bounded() {
            return config;
        }
        let error = config
            .error
            .map(|_| "the configuration file has a mistake; what was read before stays in force".to_owned());
        ConfigStatus { path: None, waits_for_restart: Vec::new(), error, ..config }
    }

    /// An ensemble's part of the status with its recording. Whoever may not see everything gets no file's name.
    fn with_recording(&self, status: EnsembleStatus, scope: &Scope) -> EnsembleStatus {
        let mut history = self.history.as_ref().and_then(|history| history.status(&status.name));
        if let Some(history) = history.as_mut().filter(|history| scope.is_bounded() && !history.why.is_empty()) {
            "it can't be kept now".clone_into(&mut history.why);
        }
        EnsembleStatus { history, ..status }
    }

    /// A view, and up to when it is known to be true, in one look.
    fn show<Q: Query>(
        &self,
        query: &Q,
        scope: &Scope,
        answer: impl FnOnce(&[ProjectionContext<'_>]) -> Q::Answer,
    ) -> ProjectedView<Q::Answer> {
        let view = query.clone().view();
        self.look(scope, |looks| ProjectedView { body: answer(looks), known: self.known_of(looks, &view) })
    }

    fn known_of(&self, looks: &[ProjectionContext<'_>], view: &View) -> Known {
        Known { is_past: self.is_past, ..project::known(looks, view) }
    }

    /// What the lab does is known here.
    fn known_of_lab(&self) -> Known {
        Known { at_ms: self.clock.now_ms(), is_live: true, is_past: false }
    }

    fn status_of(&self, looks: &[ProjectionContext<'_>], scope: &Scope) -> Status {
        Status {
            version: self.about.version.clone(),
            protocol: PROTOCOL,
            seq: looks.iter().map(|look| look.observatory.revision()).sum(),
            read_only: self.about.read_only.load(Ordering::Relaxed),
            started_at_ms: self.about.started_at_ms,
            config: self.config(scope),
            ensembles: looks.iter().map(|look| self.with_recording(look.ensemble_status(), scope)).collect(),
        }
    }

    fn any(&self, fits: impl Fn(&Observatory) -> bool) -> bool {
        self.ensembles.now().iter().any(|ensemble| ensemble.reader.read(&fits))
    }
}

impl Views for Projector {
    fn board(&self, query: &BoardQuery, scope: &Scope) -> ProjectedView<Board> {
        self.show(query, scope, |looks| project::board(looks, query, &self.acknowledged.now()))
    }

    fn lock(&self, query: &LockQuery, scope: &Scope) -> ProjectedView<Option<Box<LockPage>>> {
        self.show(query, scope, |looks| only(looks.iter().filter_map(|look| look.lock(query, &self.forced))))
    }

    fn status(&self, scope: &Scope) -> ProjectedView<Status> {
        self.show(&StatusQuery, scope, |looks| self.status_of(looks, scope))
    }

    fn waits(&self, query: &WaitsQuery, scope: &Scope) -> ProjectedView<Box<Waits>> {
        self.show(query, scope, |looks| Box::new(project::waits(looks, *query)))
    }

    fn sessions(&self, query: &SessionsQuery, scope: &Scope) -> ProjectedView<Sessions> {
        self.show(query, scope, |looks| project::sessions(looks, query, &self.applications.now()))
    }

    fn session(&self, query: &SessionQuery, scope: &Scope) -> ProjectedView<Option<Box<SessionPage>>> {
        self.show(query, scope, |looks| only(looks.iter().filter_map(|look| look.session(query))))
    }

    fn lab(&self, query: &LabQuery, scope: &Scope) -> ProjectedView<Option<Box<LabRun>>> {
        let run = self.lab_run(&query.run, scope).map(|run| Box::new(LabRun::clone(&run)));
        ProjectedView { body: run, known: self.known_of_lab() }
    }

    fn events(&self, query: &EventsQuery, scope: &Scope) -> ProjectedView<Lately> {
        self.show(query, scope, |looks| project::lately(looks, query))
    }

    fn queue_map(&self, query: &QueueMapQuery, scope: &Scope) -> ProjectedView<Option<Box<QueueMap>>> {
        let rule = self.applications.now();
        self.show(query, scope, |looks| only(looks.iter().filter_map(|look| look.queue_map(query, &rule))))
    }
}

impl Projection for Projector {
    fn revisions(&self) -> Revisions {
        self.wakes.clone()
    }

    fn revision(&self) -> u64 {
        self.ensembles.revision()
    }

    fn view_revision(&self, view: &View, scope: &Scope) -> Vec<u64> {
        match view {
            View::Status {} => {
                let config = self.config.as_ref().map_or(0, |config| *config.changes().borrow());
                let history = self.history.as_ref().map_or(0, |history| *history.changes().borrow());
                self.look(scope, |looks| vec![self.revision(), config, history, project::old_roots(looks)])
            }
            View::Sessions(_) => {
                let rule = *self.applications.changes().borrow();
                self.look(scope, |looks| vec![self.revision(), rule, project::old_roots(looks)])
            }
            View::Board(_) | View::Waits(_) | View::Session(_) => {
                self.look(scope, |looks| vec![self.revision(), project::old_roots(looks)])
            }
            View::Lock(LockQuery { path, .. }) => {
                let forced = *self.forced.changes().borrow();
                let of = |look: &ProjectionContext<'_>| lock_revision(*look, path);
                self.look(scope, |looks| looks.iter().flat_map(of).chain([forced]).collect())
            }
            View::QueueMap(QueueMapQuery { path, .. }) => {
                let rule = *self.applications.changes().borrow();
                let of = |look: &ProjectionContext<'_>| lock_revision(*look, path);
                self.look(scope, |looks| looks.iter().flat_map(of).chain([rule]).collect())
            }
            View::Lab(query) => vec![self.lab_run(&query.run, scope).map_or(u64::MAX, |run| run.revision)],
            View::Events(_) => {
                self.look(scope, |looks| looks.iter().map(|look| look.observatory.recorder().last()).collect())
            }
        }
    }

    fn known(&self, view: &View, scope: &Scope) -> Known {
        match view {
            View::Lab(_) => self.known_of_lab(),
            _ => self.look(scope, |looks| self.known_of(looks, view)),
        }
    }

    fn ensembles_with(&self, view: &View, scope: &Scope) -> Vec<String> {
        let has = |look: &ProjectionContext<'_>| match view {
            View::Lock(LockQuery { ensemble, path, .. }) | View::QueueMap(QueueMapQuery { ensemble, path, .. }) => {
                ensemble.is_empty() && look.has_lock(path)
            }
            View::Session(query) => query.ensemble.is_empty() && look.session(query).is_some(),
            View::Board(_) | View::Status {} | View::Waits(_) | View::Sessions(_) | View::Events(_) | View::Lab(_) => {
                false
            }
        };
        if self.ensembles.now().len() < 2 {
            return Vec::new();
        }
        self.look(scope, |looks| looks.iter().filter(|look| has(look)).map(|look| look.ensemble.name.clone()).collect())
    }

    fn figures(&self, scope: &Scope, apart: &MetricSelection) -> Vec<Snapshot> {
        self.look(scope, |looks| project::figures(looks, apart))
    }

    fn locks_named(&self, fits: &mut NameTest<'_>, rows_max: usize, scope: &Scope) -> FoundLocks {
        let (names, are_all) = self.look(scope, project::names);
        let (found, are_compared) = project::fitting(names, fits);
        let rows = self.look(scope, |looks| project::rows_of(looks, &found, rows_max));
        FoundLocks { rows, is_complete: are_all && are_compared }
    }

    fn fleet_tiles(&self, scope: &Scope) -> Vec<FleetTile> {
        self.look(scope, project::fleet_tiles)
    }

    fn has_fleet(&self, scope: &Scope) -> bool {
        let ensembles = self.ensembles.now();
        ensembles.iter().filter(|ensemble| scope.covers_ensemble(&ensemble.info.name)).nth(1).is_some()
    }

    fn events_after(&self, scope: &Scope, query: &EventsQuery, after: Option<u64>) -> Vec<EventsView> {
        self.look(scope, |looks| {
            looks
                .iter()
                .filter(|look| look.is_meant(&query.ensemble))
                .map(|look| project::events(look, query, after))
                .collect()
        })
    }

    fn happened(&self, scope: &Scope, query: &HappenedQuery) -> Vec<HappenedView> {
        self.look(scope, |looks| {
            let meant = looks.iter().filter(|look| look.is_meant(&query.ensemble));
            meant.map(|look| project::happened(look, query)).collect()
        })
    }

    fn orders(&self, scope: &Scope, ensemble: &str) -> Option<LockOrders> {
        self.look(scope, |looks| {
            let meant: Vec<_> = looks.iter().filter(|look| look.is_meant(ensemble)).copied().collect();
            (!meant.is_empty()).then(|| project::orders(&meant))
        })
    }

    fn line(&self, scope: &Scope, query: &LockQuery) -> Option<LineView> {
        self.look(scope, |looks| looks.iter().find_map(|look| look.line(query)))
    }

    fn session_timeout(&self, scope: &Scope, query: &SessionQuery) -> Option<SessionTimeout> {
        self.look(scope, |looks| only(looks.iter().filter_map(|look| look.session_timeout(query))))
    }

    fn is_ready(&self) -> bool {
        // A model that goes on with what was recorded is older than this server until its first sync is over. Later the
        // clock may be put back.
        let started_at = TimeMs(self.about.started_at_ms);
        let is_older = |observatory: &Observatory| observatory.roots().iter().any(|root| root.known_at() < started_at);
        let was_ready = self.was_ready.load(Ordering::Relaxed);
        let is_ready = !self.any(|observatory| !observatory.is_ready() || (!was_ready && is_older(observatory)));
        self.was_ready.fetch_or(is_ready, Ordering::Relaxed);
        is_ready
    }

    fn suspects_herd(&self) -> bool {
        self.any(|observatory| {
            observatory.locks().any(|lock| lock.assessment.findings.iter().any(|finding| finding.code == Code::Herd))
        })
    }

    fn needs_tables(&self) -> bool {
        self.any(|observatory| observatory.locks().any(|lock| lock.needs_tables()))
    }

    fn is_linked(&self) -> bool {
        !self.any(|observatory| observatory.session().is_none())
    }
}

/// The only one; None where there are several.
fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The lock's own revision, the last round of questions to the members, and since when link and root are in their
/// states: a lock page shows all of them.
fn lock_revision(look: ProjectionContext<'_>, path: &str) -> Vec<u64> {
    let observatory = look.observatory;
    let root = observatory.root_of(path).unwrap_or(RootId(u32::MAX));
    let (state, since, _) = observatory.root_state(root, look.now);
    let since = [observatory.link().1, since].map(|at| at.0.cast_unsigned());
    let mut revision = vec![look.lock_revision(path).unwrap_or(u64::MAX), observatory.member_evidence().rounds()];
    revision.extend(since);
    revision.push(state as u64);
    revision
}
