//! The feed's projection of everything: this replica's own models, and what other replicas send of the ensembles that they
//! watch. Viewers, the hub and the pages know no difference.

use std::sync::Arc;
use std::time::Duration;

use feed::project::{EventsView, HappenedQuery, HappenedView, MetricSelection, Snapshot};
use feed::{
    Elsewhere, ElsewherePart, FeedError, FleetTiles, ForeignCounts, FoundLocks, Known, LineView, NameTest,
    ProjectedView, Projection, Revisions, Views, VisibilityScope, lose,
};
use lockscope_wire::{
    Board, BoardQuery, Body, EventsQuery, LabQuery, LabRun, Lately, LockOrders, LockPage, LockQuery, Query, QueueMap,
    QueueMapQuery, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, StatusQuery, View, WINDOW_ROWS_MAX,
    Waits, WaitsQuery,
};

use crate::composite::Part;
use crate::directory::OwnerAddress;
use crate::gateway::Gateway;
use crate::link::{Glimpse, Link};
use crate::plan::Plan;
use crate::{fleet, merge, placeholder, words};

/// How long the first answer of an owner is waited for.
const FIRST_ANSWER_MAX: Duration = Duration::from_millis(1_000);

/// The revision of parts that can't be asked for.
const NOT_ASKED: u64 = u64::MAX;

/// A part as it is shown now.
struct Shown {
    body: Option<Body>,
    known: Known,
    /// Why nothing is known of it.
    why: String,
}

impl Gateway {
    /// Whether a view has a part that others watch.
    fn is_elsewhere(&self, plan: &Plan, view: &View, scope: &VisibilityScope) -> bool {
        if matches!(view, View::Lab(_)) {
            return false;
        }
        plan.concerns(view.ensemble(), scope)
    }

    /// Whether this replica has a part of it.
    fn has_own(&self, view: &View, scope: &VisibilityScope) -> bool {
        let name = view.ensemble();
        // What is about a server is about this one.
        matches!(view, View::Status {})
            || if name.is_empty() { self.shown.has_any(scope) } else { self.shown.has(name) }
    }

    fn parts(&self, plan: &Plan, view: &View, scope: &VisibilityScope) -> Result<(Arc<[Part]>, bool), FeedError> {
        let has_own = self.has_own(view, scope);
        let parts = self.composites.parts(plan, (view, scope), has_own, || merge::part_of(view))?;
        Ok((parts, has_own))
    }

    fn shown(&self, plan: &Plan, view: &View, part: &Part) -> Shown {
        let now_ms = self.clock.now_ms();
        let Glimpse { body, known_at_ms, is_live, lost, refusal, revision: _ } = part.glimpse(plan, now_ms);
        let lost = match (lost, refusal) {
            (Some(lost), _) => Some(lost),
            (None, Some(why)) => Some((known_at_ms, why)),
            (None, None) => None,
        };
        match (body, lost) {
            (Some(body), None) => {
                let known = Known { at_ms: known_at_ms, is_live, is_past: false };
                Shown { body: Some(Body::clone(&body)), known, why: String::new() }
            }
            (Some(body), Some((since_ms, why))) => {
                let mut body = Body::clone(&body);
                lose(&mut body, since_ms, &why);
                let known = Known { at_ms: since_ms, is_live: false, is_past: false };
                Shown { body: Some(body), known, why }
            }
            (None, lost) => {
                let (since_ms, why) = lost.unwrap_or_else(|| (known_at_ms, part.awaited()));
                let body = placeholder::of(view, plan, &part.names, since_ms, &why);
                let known = Known { at_ms: since_ms, is_live: false, is_past: false };
                Shown { body, known, why }
            }
        }
    }

    /// What is shown of a view: this replica's part, then those of others.
    fn look(&self, view: &View, scope: &VisibilityScope) -> ProjectedView<Body> {
        let plan = self.plan();
        let own = |view: &View| self.local.project(view, scope);
        if !self.is_elsewhere(&plan, view, scope) {
            return own(view);
        }
        let (parts, has_own) = match self.parts(&plan, view, scope) {
            Ok(parts) => parts,
            Err(why) => return self.without_others(&plan, view, scope, &why.to_string()),
        };
        let mine = has_own.then(|| own(&if parts.is_empty() { view.clone() } else { merge::part_of(view) }));
        let parts: Vec<Shown> = parts.iter().map(|part| self.shown(&plan, view, part)).collect();
        let known = mine.iter().map(|mine| mine.known).chain(parts.iter().map(|part| part.known)).reduce(both);
        let mut bodies = mine.map(|mine| mine.body).into_iter().chain(parts.into_iter().filter_map(|part| part.body));
        match (bodies.next(), known) {
            (Some(first), Some(known)) => {
                ProjectedView { body: merge::merged(view, first, bodies.collect(), self.clock.now_ms()), known }
            }
            // Nothing is known of one thing: whoever prepared the view was told.
            _ => own(view),
        }
    }

    /// A view whose other parts can't be asked for: they are there, and nothing is known of them.
    fn without_others(&self, plan: &Plan, view: &View, scope: &VisibilityScope, why: &str) -> ProjectedView<Body> {
        let now_ms = self.clock.now_ms();
        let mine = self.has_own(view, scope).then(|| self.local.project(&merge::part_of(view), scope));
        let mut names: Vec<String> = plan.asked_of(view.ensemble()).into_iter().flat_map(|(_, names)| names).collect();
        names.retain(|name| scope.covers_ensemble(name));
        let theirs = placeholder::of(view, plan, &names, now_ms, why);
        let nothing = Known { at_ms: now_ms, is_live: false, is_past: false };
        let known = mine.as_ref().map_or(nothing, |mine| mine.known);
        let mut bodies = mine.map(|mine| mine.body).into_iter().chain(theirs);
        match bodies.next() {
            Some(first) => ProjectedView { body: merge::merged(view, first, bodies.collect(), now_ms), known },
            None => ProjectedView { known, ..self.local.project(view, scope) },
        }
    }

    fn answer<Q: Query>(
        &self,
        query: &Q,
        scope: &VisibilityScope,
        own: impl FnOnce() -> ProjectedView<Q::Answer>,
    ) -> ProjectedView<Q::Answer> {
        let view = query.clone().view();
        if !self.is_elsewhere(&self.plan(), &view, scope) {
            return own();
        }
        let ProjectedView { body, known } = self.look(&view, scope);
        match Q::answer(body) {
            Some(body) => ProjectedView { body, known },
            None => own(),
        }
    }
}

/// The older one speaks for two; what calls itself live speaks for what does not.
fn both(one: Known, other: Known) -> Known {
    match (one.is_live, other.is_live) {
        (true, false) => one,
        (false, true) => other,
        (true, true) | (false, false) => Known { at_ms: one.at_ms.min(other.at_ms), ..one },
    }
}

/// Whether a view is about one thing, which is there or not.
fn is_of_one(view: &View) -> bool {
    matches!(view, View::Lock(_) | View::Session(_) | View::QueueMap(_))
}

/// The ensemble of the one thing that a view is about.
fn found_in(body: &Body) -> Option<&str> {
    match body {
        Body::Lock(page) => page.as_ref().map(|page| &*page.head.row.ensemble),
        Body::Session(page) => page.as_ref().map(|page| &*page.row.ensemble),
        _ => None,
    }
}

fn is_found(body: &Body) -> bool {
    !matches!(body, Body::Lock(None) | Body::Session(None) | Body::QueueMap(None))
}

impl Views for Gateway {
    fn board(&self, query: &BoardQuery, scope: &VisibilityScope) -> ProjectedView<Board> {
        self.answer(query, scope, || self.local.board(query, scope))
    }

    fn lock(&self, query: &LockQuery, scope: &VisibilityScope) -> ProjectedView<Option<Box<LockPage>>> {
        self.answer(query, scope, || self.local.lock(query, scope))
    }

    fn status(&self, scope: &VisibilityScope) -> ProjectedView<Status> {
        self.answer(&StatusQuery, scope, || self.local.status(scope))
    }

    fn waits(&self, query: &WaitsQuery, scope: &VisibilityScope) -> ProjectedView<Box<Waits>> {
        self.answer(query, scope, || self.local.waits(query, scope))
    }

    fn sessions(&self, query: &SessionsQuery, scope: &VisibilityScope) -> ProjectedView<Sessions> {
        self.answer(query, scope, || self.local.sessions(query, scope))
    }

    fn session(&self, query: &SessionQuery, scope: &VisibilityScope) -> ProjectedView<Option<Box<SessionPage>>> {
        self.answer(query, scope, || self.local.session(query, scope))
    }

    fn lab(&self, query: &LabQuery, scope: &VisibilityScope) -> ProjectedView<Option<Box<LabRun>>> {
        self.local.lab(query, scope)
    }

    fn events(&self, query: &EventsQuery, scope: &VisibilityScope) -> ProjectedView<Lately> {
        self.answer(query, scope, || self.local.events(query, scope))
    }

    fn queue_map(&self, query: &QueueMapQuery, scope: &VisibilityScope) -> ProjectedView<Option<Box<QueueMap>>> {
        self.answer(query, scope, || self.local.queue_map(query, scope))
    }
}

impl Projection for Gateway {
    fn revisions(&self) -> Revisions {
        self.local.revisions().and(self.bell.revisions())
    }

    fn revision(&self) -> u64 {
        self.local.revision().wrapping_add(self.bell.revision())
    }

    fn view_revision(&self, view: &View, scope: &VisibilityScope) -> Vec<u64> {
        let plan = self.plan();
        let own = || self.local.view_revision(view, scope);
        if !self.is_elsewhere(&plan, view, scope) {
            return own();
        }
        let Ok((parts, has_own)) = self.parts(&plan, view, scope) else {
            return [own(), vec![plan.revision, NOT_ASKED]].concat();
        };
        let mut revision = if has_own { own() } else { Vec::new() };
        let now_ms = self.clock.now_ms();
        revision.push(plan.revision);
        for part in parts.iter() {
            let glimpse = part.glimpse(&plan, now_ms);
            let is_cut_off = u64::from(glimpse.lost.is_some() || glimpse.refusal.is_some());
            revision.extend([glimpse.revision, is_cut_off]);
        }
        revision
    }

    fn known(&self, view: &View, scope: &VisibilityScope) -> Known {
        let plan = self.plan();
        let own = || self.local.known(view, scope);
        if !self.is_elsewhere(&plan, view, scope) {
            return own();
        }
        let now_ms = self.clock.now_ms();
        let Ok((parts, has_own)) = self.parts(&plan, view, scope) else {
            let nothing = Known { at_ms: now_ms, is_live: false, is_past: false };
            return if self.has_own(view, scope) { own() } else { nothing };
        };
        let of = |part: &Part| {
            let glimpse = part.glimpse(&plan, now_ms);
            let is_live = glimpse.is_live && glimpse.refusal.is_none();
            let at_ms = glimpse.lost.map_or(glimpse.known_at_ms, |(since_ms, _)| since_ms);
            Known { at_ms, is_live, is_past: false }
        };
        let mine = has_own.then(own);
        mine.into_iter().chain(parts.iter().map(of)).reduce(both).unwrap_or_else(own)
    }

    fn project(&self, view: &View, scope: &VisibilityScope) -> ProjectedView<Body> {
        self.look(view, scope)
    }

    fn prepare(&self, view: &View, scope: &VisibilityScope) -> Result<(), FeedError> {
        let plan = self.plan();
        if !self.is_elsewhere(&plan, view, scope) {
            return Ok(());
        }
        let (parts, has_own) = self.parts(&plan, view, scope)?;
        if (parts.len() > 1 || has_own) && merge::is_too_deep(view) {
            return Err(FeedError::BadView(words::too_deep(WINDOW_ROWS_MAX)));
        }
        let now_ms = || self.clock.now_ms();
        self.bell.wait(FIRST_ANSWER_MAX, || parts.iter().all(|part| part.glimpse(&plan, now_ms()).is_settled()));
        if !is_of_one(view) || (has_own && is_found(&self.local.project(view, scope).body)) {
            return Ok(());
        }
        // "There is none" is said only where all that may have it answered.
        let shown: Vec<Shown> = parts.iter().map(|part| self.shown(&plan, view, part)).collect();
        let is_known = shown.iter().any(|part| part.body.as_ref().is_some_and(is_found));
        match shown.into_iter().find(|part| part.body.is_none()) {
            Some(Shown { why, .. }) if !is_known => Err(FeedError::OwnerUnreachable(why)),
            _ => Ok(()),
        }
    }

    fn ensembles_with(&self, view: &View, scope: &VisibilityScope) -> Vec<String> {
        let plan = self.plan();
        let own = self.local.ensembles_with(view, scope);
        if own.len() > 1 || !view.ensemble().is_empty() || !is_of_one(view) || !self.is_elsewhere(&plan, view, scope) {
            return own;
        }
        let Ok((parts, has_own)) = self.parts(&plan, view, scope) else { return own };
        let mine = has_own.then(|| self.local.project(view, scope).body);
        let bodies = mine.into_iter().chain(parts.iter().filter_map(|part| self.shown(&plan, view, part).body));
        bodies.filter_map(|body| found_in(&body).map(str::to_owned)).collect()
    }

    fn watches(&self, ensemble: &str) -> bool {
        self.local.watches(ensemble)
    }

    fn elsewhere(&self, ensemble: &str) -> Option<Elsewhere> {
        let plan = self.plan();
        // The only one that is meant where none is named; where this replica watches some, it answers of those.
        let is_meant = ensemble.is_empty() && !self.shown.has_any(&VisibilityScope::ALL);
        let only = || plan.directory.foreign.first().filter(|_| is_meant);
        let foreign = plan.foreign(ensemble).or_else(only).filter(|foreign| !self.shown.has(&foreign.name))?;
        let mut owners: Vec<OwnerAddress> = foreign.owners.clone();
        // Who answers is asked first.
        owners.sort_by_key(|owner| !self.is_up(owner));
        let owners = owners.into_iter().map(|owner| (owner.id, owner.address)).collect();
        Some(Elsewhere { ensemble: foreign.name.clone(), why: words::elsewhere(foreign), owners })
    }

    fn all_elsewhere(&self) -> Vec<ElsewherePart> {
        let (plan, shown) = (self.plan(), self.shown.names());
        let part = |(link, mut ensembles): (Option<Arc<Link>>, Vec<String>)| {
            // What moves here is watched here as soon as it is shown.
            ensembles.retain(|name| !shown.contains(name));
            let why = if link.is_some() { String::new() } else { plan.why_nobody(&ensembles) };
            let lost = link.as_ref().and_then(|link| link.why_lost()).unwrap_or_default();
            let owner = link.map(|link| (link.owner.id.clone(), link.owner.address.clone()));
            ElsewherePart { owner, ensembles, why, lost }
        };
        plan.asked_of("").into_iter().map(part).filter(|part| !part.ensembles.is_empty()).collect()
    }

    fn foreign_counts(&self) -> Option<ForeignCounts> {
        Some(self.counts())
    }

    fn is_ready(&self) -> bool {
        self.local.is_ready() && self.plan().directory.why.is_empty()
    }

    fn figures(&self, scope: &VisibilityScope, apart: &MetricSelection) -> Vec<Snapshot> {
        self.local.figures(scope, apart)
    }

    fn events_after(&self, scope: &VisibilityScope, query: &EventsQuery, after: Option<u64>) -> Vec<EventsView> {
        self.local.events_after(scope, query, after)
    }

    fn happened(&self, scope: &VisibilityScope, query: &HappenedQuery) -> Vec<HappenedView> {
        self.local.happened(scope, query)
    }

    fn orders(&self, scope: &VisibilityScope, ensemble: &str) -> Option<LockOrders> {
        self.local.orders(scope, ensemble)
    }

    fn line(&self, scope: &VisibilityScope, query: &LockQuery) -> Option<LineView> {
        self.local.line(scope, query)
    }

    fn locks_named(&self, fits: &mut NameTest<'_>, rows_max: usize, scope: &VisibilityScope) -> FoundLocks {
        let found = self.local.locks_named(fits, rows_max, scope);
        let is_all = !self.plan().concerns("", scope);
        FoundLocks { is_complete: found.is_complete && is_all, ..found }
    }

    fn fleet_tiles(&self, scope: &VisibilityScope) -> FleetTiles {
        let (plan, own) = (self.plan(), self.local.fleet_tiles(scope).own);
        let foreign = plan.directory.foreign.iter().filter(|foreign| scope.covers_ensemble(&foreign.name));
        fleet::with_foreign(own, foreign, self.clock.now_ms())
    }

    fn has_fleet(&self, scope: &VisibilityScope) -> bool {
        let plan = self.plan();
        let foreign = plan.directory.foreign.iter().filter(|foreign| scope.covers_ensemble(&foreign.name)).count();
        foreign + usize::from(self.shown.has_any(scope)) > 1 || self.local.has_fleet(scope)
    }

    fn suspects_herd(&self) -> bool {
        self.local.suspects_herd()
    }

    fn needs_tables(&self) -> bool {
        self.local.needs_tables()
    }

    fn is_linked(&self) -> bool {
        self.local.is_linked()
    }
}
