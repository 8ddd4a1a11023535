//! Moments of the past: every ensemble's model as it was, behind a hub of its own. An ensemble of which nothing is known at
//! a moment is said to be missing and hides no other. Blocking; called where answers are made.

use std::sync::Arc;
use std::time::Instant;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::historian::HistoryHandle;
use lockscope_history::replay;
use lockscope_history::store::{Gap, Store, generated_before};
use lockscope_live::project::{ApplicationNames, EnsembleInfo, ForcedReleases};
use lockscope_live::{About, Ensemble, Hub, Projector, random_epoch};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_list::SharedList;
use lockscope_view::Scope;
use lockscope_view::past::Unanswered;

use super::ask::give_up_at;
use super::snapshots::{Missing, Snapshot, SnapshotCache, SnapshotRequest, instant_of};

/// A recording that ends so much before the newest one has stopped: the others go on without it.
const STOPPED_AFTER_MS: i64 = 60_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) when: When,
    /// The ensemble that the question names, of which something has to be known; empty for none.
    pub(crate) ensemble: String,
    /// Nothing of another ensemble is shown.
    is_alone: bool,
}

impl Moment {
    /// A moment, for a question that names this ensemble or none.
    pub(crate) fn new(when: When, ensemble: &str) -> Self {
        Self { when, ensemble: ensemble.to_owned(), is_alone: false }
    }

    pub(crate) fn at(&self, at_ms: i64) -> Self {
        Self { when: When::At(at_ms), ..self.clone() }
    }

    /// The same of a lock or a session: where its ensemble is named, no other has to be replayed.
    pub(crate) fn of_one(self) -> Self {
        Self { is_alone: !self.ensemble.is_empty(), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// An instant, ms since the epoch.
    At(i64),
    /// When a transaction had just been seen: of the named ensemble, or of the only one.
    Zxid(i64),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MomentError {
    #[error("this server keeps no history; set history = \"on\" and a data directory")]
    NoHistory,
    #[error("that moment is not over yet; ask for one of the past")]
    Future,
    /// A transaction belongs to one ensemble.
    #[error("a transaction belongs to one ensemble; name it with ensemble=")]
    NoEnsemble,
    /// There is no model of the ensemble that was named, or of any.
    #[error("{why}, in the ensemble {ensemble}")]
    Unknown { ensemble: String, why: Missing },
}

/// What is recorded, and what no recording knows.
pub struct Recordings {
    /// The ensembles in the order in which they are shown, and the recording of each that has one.
    pub ensembles: SharedList<(EnsembleInfo, Option<HistoryHandle>)>,
    pub about: About,
    pub applications: ApplicationNames,
    /// What was released through Lockscope: a recording has that a znode went, and not why.
    pub forced: ForcedReleases,
    pub clock: Clock,
}

pub(crate) struct Moments {
    recordings: Recordings,
    snapshots: SnapshotCache,
    /// Nothing is recorded any more: what is not over never will be.
    is_over: bool,
}

/// What reads are answered from: the present, or the ensembles as they were at a moment.
pub(crate) struct Models {
    pub(crate) hub: Arc<Hub>,
    /// Ensembles of which nothing is known at that moment; none in the present.
    pub(crate) unanswered: Vec<Unanswered>,
}

impl Moments {
    pub(crate) fn new(recordings: Recordings) -> Self {
        Self { recordings, snapshots: SnapshotCache::default(), is_over: false }
    }

    /// The same, of what was recorded before: it ends with the clock.
    pub(crate) fn of_what_is_over(recordings: Recordings) -> Self {
        Self { is_over: true, ..Self::new(recordings) }
    }

    pub(super) fn forced(&self) -> &ForcedReleases {
        &self.recordings.forced
    }

    pub(super) fn applications(&self) -> &ApplicationNames {
        &self.recordings.applications
    }

    fn seen(&self, scope: &Scope) -> Vec<(EnsembleInfo, Option<HistoryHandle>)> {
        let all = self.recordings.ensembles.now();
        all.iter().filter(|(info, _)| scope.covers_ensemble(&info.name)).cloned().collect()
    }

    /// The ensembles of which something may be seen, and their recordings.
    pub(crate) fn recordings(&self, scope: &Scope) -> impl Iterator<Item = (String, Option<HistoryHandle>)> + use<> {
        self.seen(scope).into_iter().map(|(info, handle)| (info.name, handle))
    }

    /// From when to when something is kept of what somebody may see, or of the ensemble that is named, and what is missing
    /// in between.
    pub(super) fn kept(&self, scope: &Scope, named: &str) -> ((i64, i64), Vec<(i64, i64)>) {
        let meant = self.recordings(scope).filter(|(name, _)| named.is_empty() || name == named);
        let stores: Vec<_> = meant.filter_map(|(_, handle)| handle?.store()).collect();
        let coverages: Vec<_> = stores.iter().filter_map(|store| store.coverage().ok()).collect();
        let from = coverages.iter().filter_map(|coverage| coverage.from).min();
        let ends = || coverages.iter().filter_map(|coverage| coverage.to);
        // Those that go on end within a second of each other: at the earliest of these ends, all are known.
        let going_on = ends().max().map_or(0, |newest| newest.0 - STOPPED_AFTER_MS);
        let to = ends().filter(|to| to.0 >= going_on).min();
        let all = TimeMs(0)..TimeMs(i64::MAX);
        let gaps = stores.iter().filter_map(|store| store.gaps(all.clone()).ok()).flatten();
        let gaps = gaps.map(|gap| (gap.from.0, gap.to.0)).collect();
        ((from.map_or(0, |at| at.0), to.map_or(0, |at| at.0)), gaps)
    }

    /// Whether what is shown of a moment was generated for the demo and not observed.
    pub(crate) fn is_generated(&self, at_ms: i64, scope: &Scope) -> bool {
        let mut stores = self.recordings(scope).filter_map(|(_, handle)| handle?.store());
        stores.any(|store| matches!(generated_before(&*store), Ok(Some(gap)) if at_ms <= gap.from.0))
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.recordings.clock.now_ms()
    }

    /// What is shown of a moment to somebody: the hub is at that instant. What is not replayed by then is unanswered.
    ///
    /// # Errors
    /// Of the ensemble that was named nothing is known then; or of none that they may see.
    pub(crate) fn at(&self, moment: &Moment, scope: &Scope, give_up_at: Instant) -> Result<Models, MomentError> {
        let seen = self.seen(scope);
        if seen.iter().all(|(_, handle)| handle.is_none()) {
            return Err(MomentError::NoHistory);
        }
        let at_ms = self.instant_of(moment, &seen)?;
        if at_ms > self.now_ms() {
            return Err(self.later(&seen));
        }
        let is_wanted = |(info, _): &(EnsembleInfo, _)| !moment.is_alone || info.name == moment.ensemble;
        let (mut shown, mut unanswered, mut first) = (Vec::new(), Vec::new(), None);
        for (info, handle) in seen.into_iter().filter(is_wanted) {
            match self.snapshot(&info.name, handle.as_ref(), at_ms, give_up_at) {
                Ok(snapshot) => shown.push(Ensemble::still(info, &snapshot.shown)),
                Err(why) => {
                    unanswered.push(why.of(&info.name));
                    let is_named = info.name == moment.ensemble;
                    let unknown = MomentError::Unknown { ensemble: info.name, why };
                    if is_named {
                        return Err(unknown);
                    }
                    first.get_or_insert(unknown);
                }
            }
        }
        match first {
            Some(unknown) if shown.is_empty() => Err(unknown),
            _ => Ok(Models { hub: self.hub(at_ms, shown), unanswered }),
        }
    }

    /// What is said of a moment that is yet to come, or never will.
    fn later(&self, seen: &[(EnsembleInfo, Option<HistoryHandle>)]) -> MomentError {
        match seen.first().filter(|_| self.is_over) {
            Some((info, _)) => MomentError::Unknown {
                ensemble: info.name.clone(),
                why: Missing::NothingKept { before: Some(self.now_ms()), after: None },
            },
            None => MomentError::Future,
        }
    }

    fn instant_of(&self, moment: &Moment, seen: &[(EnsembleInfo, Option<HistoryHandle>)]) -> Result<i64, MomentError> {
        let zxid = match moment.when {
            When::At(at_ms) => return Ok(at_ms),
            When::Zxid(zxid) => Zxid(zxid),
        };
        let mut fit = seen.iter().filter(|(info, _)| moment.ensemble.is_empty() || info.name == moment.ensemble);
        let (Some((info, handle)), None) = (fit.next(), fit.next()) else { return Err(MomentError::NoEnsemble) };
        let found = handle.as_ref().ok_or(Missing::NotRecorded);
        found
            .and_then(|handle| instant_of(handle, replay::Moment::Zxid(zxid)))
            .map_err(|why| MomentError::Unknown { ensemble: info.name.clone(), why })
    }

    fn snapshot(
        &self,
        ensemble: &str,
        recording: Option<&HistoryHandle>,
        at_ms: i64,
        give_up_at: Instant,
    ) -> Result<Arc<Snapshot>, Missing> {
        let (now_ms, is_over) = (self.now_ms(), self.is_over);
        self.snapshots.get(SnapshotRequest { ensemble, recording, at_ms, now_ms, is_over, give_up_at })
    }

    fn recording(&self, ensemble: &str) -> Option<(EnsembleInfo, Option<HistoryHandle>)> {
        self.recordings.ensembles.now().iter().find(|(info, _)| info.name == ensemble).cloned()
    }

    pub(super) fn of_ensemble(&self, ensemble: &str, at_ms: i64, give_up_at: Instant) -> Result<Arc<Hub>, Missing> {
        let (info, handle) = self.recording(ensemble).ok_or(Missing::NotRecorded)?;
        let snapshot = self.snapshot(ensemble, handle.as_ref(), at_ms, give_up_at)?;
        Ok(self.hub(at_ms, vec![Ensemble::still(info, &snapshot.shown)]))
    }

    pub(super) fn model(&self, ensemble: &str, at_ms: i64) -> Result<Arc<Snapshot>, MomentError> {
        if at_ms > self.now_ms() {
            return Err(MomentError::Future);
        }
        let handle = self.recording(ensemble).and_then(|(_, handle)| handle);
        let unknown = |why| MomentError::Unknown { ensemble: ensemble.to_owned(), why };
        self.snapshot(ensemble, handle.as_ref(), at_ms, give_up_at()).map_err(unknown)
    }

    fn hub(&self, at_ms: i64, shown: Vec<Ensemble>) -> Arc<Hub> {
        let Recordings { ensembles: _, about, applications, forced, clock: _ } = &self.recordings;
        let clock = Clock::manual(at_ms);
        let projector = Projector::new(shown, about.clone(), clock.clone())
            .with_applications(applications.clone())
            .with_forced_releases(forced.clone())
            .of_the_past();
        Hub::new(Arc::new(projector), clock, random_epoch())
    }
}

/// What is missing in a stretch of a recording; nothing where that can't be read.
pub(super) fn gaps_in(store: &dyn Store, from_ms: i64, to_ms: i64) -> Vec<Gap> {
    store.gaps(TimeMs(from_ms)..TimeMs(to_ms)).unwrap_or_default()
}
