//! Moments of the past: every ensemble's model as it was, behind a hub of its own. Some are kept, since whoever looks at
//! one looks at those nearby next: a moment near a kept one is stepped to, and shares all that did not change with it.
//! Blocking; called where answers are made.

use std::fmt;
use std::sync::Arc;

use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::historian::HistoryHandle;
use lockscope_history::replay::{self, ReplayError, Rewound};
use lockscope_history::store::{Gap, Store, StoreError, generated_before};
use parking_lot::Mutex;

use lockscope_live::project::{ApplicationNames, EnsembleInfo, ForcedReleases};
use lockscope_live::{About, Ensemble, Hub, Projector, random_epoch};
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_list::SharedList;
use lockscope_view::Scope;

/// Moments that are kept; beyond it the one that was not looked at for the longest time goes.
const MOMENTS_MAX: usize = 8;
/// Znodes of all kept moments together, as if none were shared; beyond it all but the newest go. A million take about
/// 400 MB.
const ZNODES_MAX: u64 = 1_000_000;
/// What is noticed of a moment comes within 2.5 s of it and is stored within a second of that.
const SETTLED_AFTER_MS: i64 = 4_000;
/// How long a younger moment is kept: more may have been noticed by then.
const UNSETTLED_FOR_MS: i64 = 500;

/// A moment that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// An instant, ms since the epoch.
    At(i64),
    /// When a transaction of an ensemble had just been seen; of the only one where none is named.
    Zxid {
        /// The transaction.
        zxid: i64,
        /// Of which ensemble; empty for the only one.
        ensemble: String,
    },
}

/// Why a moment can't be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MomentError {
    /// Nothing is recorded at all.
    #[error("this server keeps no history; set history = \"on\" and a data directory")]
    NoHistory,
    /// It is yet to come.
    #[error("that moment is not over yet; ask for one of the past")]
    Future,
    /// A transaction belongs to one ensemble.
    #[error("a transaction belongs to one ensemble; name it with ensemble=")]
    NoEnsemble,
    /// There is no model of it.
    #[error("{why}, in the ensemble {ensemble}")]
    Unknown {
        /// Of which ensemble.
        ensemble: String,
        /// Why.
        why: Missing,
    },
}

/// Why there is no model of a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nothing is kept; the nearest kept moments.
    NothingKept {
        /// Before it.
        before: Option<i64>,
        /// After it.
        after: Option<i64>,
    },
    /// It lies in a gap.
    Gap(Gap),
    /// The store fails, or it would take too long.
    Failed(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingKept { .. } => f.write_str("nothing is kept of that moment"),
            Self::Gap(gap) => write!(f, "nothing is known of that moment: {}", gap.why),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl From<ReplayError> for Missing {
    fn from(error: ReplayError) -> Self {
        let ms = |at: Option<TimeMs>| at.map(|at| at.0);
        match error {
            ReplayError::NothingKept { before, after } => Self::NothingKept { before: ms(before), after: ms(after) },
            ReplayError::InGap(gap) => Self::Gap(gap),
            ReplayError::TooFar | ReplayError::Store(_) => Self::Failed(error.to_string()),
        }
    }
}

/// What is recorded, and what no recording knows.
pub struct Recordings {
    /// The ensembles in the order in which they are shown, and the recording of each that has one.
    pub ensembles: SharedList<(EnsembleInfo, Option<HistoryHandle>)>,
    /// What is known of the server.
    pub about: About,
    /// What an application is.
    pub applications: ApplicationNames,
    /// What was released through Lockscope: a recording has that a znode went, and not why.
    pub forced: ForcedReleases,
    /// The server's clock.
    pub clock: Clock,
}

/// All moments that are kept.
pub(crate) struct Moments {
    recordings: Recordings,
    /// The one looked at last comes last.
    kept: Mutex<Vec<Arc<PastMoment>>>,
    /// One is made at a time: who waits may find it made.
    making: Mutex<()>,
    /// Nothing is recorded any more: what is not over never will be.
    is_over: bool,
}

/// Every ensemble as it was at a moment.
pub(crate) struct PastMoment {
    /// The moment.
    pub(crate) at_ms: i64,
    /// What pages and answers are made from.
    pub(crate) hub: Arc<Hub>,
    /// What was recorded, to step on from.
    models: Vec<(String, Result<Rewound, Missing>)>,
    /// Until when this is the answer; None: for ever.
    expires_at_ms: Option<i64>,
}

/// An ensemble's model as it was, and the same with what was noticed of it soon after, which is shown.
type PastModel = (Rewound, Observatory);

impl Moments {
    /// What was released through Lockscope.
    pub(super) fn forced(&self) -> &ForcedReleases {
        &self.recordings.forced
    }

    pub(crate) fn new(recordings: Recordings) -> Self {
        Self { recordings, kept: Mutex::default(), making: Mutex::default(), is_over: false }
    }

    /// What an application is.
    pub(super) fn applications(&self) -> &ApplicationNames {
        &self.recordings.applications
    }

    /// The same, of what was recorded before: it ends with the clock.
    pub(crate) fn of_what_is_over(recordings: Recordings) -> Self {
        Self { is_over: true, ..Self::new(recordings) }
    }

    /// The ensembles of which something may be seen, and their recordings.
    pub(crate) fn recordings(&self, scope: &Scope) -> impl Iterator<Item = (String, Option<HistoryHandle>)> + use<> {
        let all = self.recordings.ensembles.now();
        let seen = all.iter().filter(|(info, _)| scope.covers_ensemble(&info.name));
        let seen: Vec<_> = seen.map(|(info, handle)| (info.name.clone(), handle.clone())).collect();
        seen.into_iter()
    }

    /// From when to when something is kept of what somebody may see, and what is missing in between.
    pub(super) fn kept(&self, scope: &Scope) -> ((i64, i64), Vec<(i64, i64)>) {
        let stores: Vec<_> = self.recordings(scope).filter_map(|(_, handle)| handle?.store()).collect();
        let coverages: Vec<_> = stores.iter().filter_map(|store| store.coverage().ok()).collect();
        let from = coverages.iter().filter_map(|coverage| coverage.from).max();
        let to = coverages.iter().filter_map(|coverage| coverage.to).min();
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

    /// The server's clock.
    pub(crate) fn now_ms(&self) -> i64 {
        self.recordings.clock.now_ms()
    }

    /// What is shown of a moment to somebody.
    ///
    /// # Errors
    /// Of an ensemble that they may see nothing is known then.
    pub(crate) fn at(&self, moment: &Moment, scope: &Scope) -> Result<Arc<PastMoment>, MomentError> {
        if self.recordings(scope).all(|(_, handle)| handle.is_none()) {
            return Err(MomentError::NoHistory);
        }
        let at_ms = self.instant_of(moment, scope)?;
        if at_ms > self.now_ms() {
            return Err(self.later(scope));
        }
        let past = self.whole(at_ms);
        let seen = past.models.iter().filter(|(name, _)| scope.covers_ensemble(name));
        for (name, model) in seen {
            if let Err(why) = model {
                return Err(MomentError::Unknown { ensemble: name.clone(), why: why.clone() });
            }
        }
        Ok(past)
    }

    /// What is said of a moment that is yet to come, or never will.
    fn later(&self, scope: &Scope) -> MomentError {
        match self.recordings(scope).next().filter(|_| self.is_over) {
            Some((name, _)) => MomentError::Unknown {
                ensemble: name,
                why: Missing::NothingKept { before: Some(self.now_ms()), after: None },
            },
            None => MomentError::Future,
        }
    }

    /// A moment with whatever is known of it.
    pub(super) fn whole(&self, at_ms: i64) -> Arc<PastMoment> {
        self.find(at_ms).unwrap_or_else(|| {
            let _making = self.making.lock();
            self.find(at_ms).unwrap_or_else(|| self.make(at_ms))
        })
    }

    fn instant_of(&self, moment: &Moment, scope: &Scope) -> Result<i64, MomentError> {
        let (zxid, ensemble) = match moment {
            Moment::At(at_ms) => return Ok(*at_ms),
            Moment::Zxid { zxid, ensemble } => (Zxid(*zxid), ensemble),
        };
        let mut fit = self.recordings(scope).filter(|(name, _)| ensemble.is_empty() || name == ensemble);
        let (Some((name, handle)), None) = (fit.next(), fit.next()) else { return Err(MomentError::NoEnsemble) };
        let rewound = rewind(handle.as_ref(), replay::Moment::Zxid(zxid), None);
        let unknown = |why| MomentError::Unknown { ensemble: name, why };
        rewound.map(|rewound| rewound.known_at().0).map_err(unknown)
    }

    fn find(&self, at_ms: i64) -> Option<Arc<PastMoment>> {
        let now_ms = self.now_ms();
        // What is too old by now is shown no more, from memory neither.
        let ensembles = self.recordings.ensembles.now();
        let is_recorded = |handle: &HistoryHandle| handle.status().coverage.from.is_none_or(|from| from.0 <= at_ms);
        let is_recorded = ensembles.iter().all(|(_, handle)| handle.as_ref().is_none_or(is_recorded));
        let mut kept = self.kept.lock();
        let is_good = |moment: &PastMoment| is_recorded && moment.expires_at_ms.is_none_or(|until| now_ms < until);
        let at = kept.iter().position(|moment| moment.at_ms == at_ms && is_good(moment))?;
        let found = kept.remove(at);
        kept.push(Arc::clone(&found));
        Some(found)
    }

    fn make(&self, at_ms: i64) -> Arc<PastMoment> {
        // As of before anything is read.
        let expires_at_ms = if self.is_over { None } else { expires_at(at_ms, self.now_ms()) };
        // The newest of those before it: from there it is the shortest way.
        let near =
            self.kept.lock().iter().filter(|moment| moment.at_ms < at_ms).max_by_key(|moment| moment.at_ms).cloned();
        let ensembles = self.recordings.ensembles.now();
        let models = ensembles.iter().map(|(info, handle)| {
            let near = near.as_ref().and_then(|near| near.model(&info.name));
            (info.name.clone(), past_model(handle.as_ref(), TimeMs(at_ms), near))
        });
        let models = models.collect();
        let made = Arc::new(PastMoment::new(&self.recordings, &ensembles, (at_ms, expires_at_ms), models));
        // What is not known now may be known soon: it may be stored, or a gap may end.
        if made.models.iter().any(|(_, model)| model.is_err()) {
            return made;
        }
        let mut kept = self.kept.lock();
        kept.retain(|moment| moment.at_ms != at_ms);
        kept.push(Arc::clone(&made));
        make_room(&mut kept, |moment| znodes(moment));
        made
    }
}

impl PastMoment {
    fn new(
        recordings: &Recordings,
        ensembles: &[(EnsembleInfo, Option<HistoryHandle>)],
        (at_ms, expires_at_ms): (i64, Option<i64>),
        models: Vec<(String, Result<PastModel, Missing>)>,
    ) -> Self {
        let Recordings { ensembles: _, about, applications, forced, clock: _ } = recordings;
        let mut shown = Vec::new();
        let mut rewound = Vec::new();
        for ((info, _), (name, model)) in ensembles.iter().zip(models) {
            let model = model.map(|(model, observatory)| {
                shown.push(Ensemble::still(info.clone(), observatory));
                model
            });
            rewound.push((name, model));
        }
        let clock = Clock::manual(at_ms);
        let projector = Projector::new(shown, about.clone(), clock.clone())
            .with_applications(applications.clone())
            .with_forced_releases(forced.clone())
            .of_the_past();
        let hub = Hub::new(Arc::new(projector), clock, random_epoch());
        Self { at_ms, hub, models: rewound, expires_at_ms }
    }

    /// Why nothing is known of an ensemble then, where nothing is.
    pub(super) fn missing(&self, ensemble: &str) -> Option<&Missing> {
        self.models.iter().find(|(name, _)| name == ensemble).and_then(|(_, model)| model.as_ref().err())
    }

    /// An ensemble's model as it was.
    pub(super) fn model(&self, ensemble: &str) -> Option<&Rewound> {
        self.models.iter().find(|(name, _)| name == ensemble).and_then(|(_, model)| model.as_ref().ok())
    }
}

/// Until when an answer of now about a moment holds; None: for ever.
fn expires_at(at_ms: i64, now_ms: i64) -> Option<i64> {
    (now_ms.saturating_sub(at_ms) <= SETTLED_AFTER_MS).then(|| now_ms.saturating_add(UNSETTLED_FOR_MS))
}

fn past_model(handle: Option<&HistoryHandle>, at: TimeMs, near: Option<&Rewound>) -> Result<PastModel, Missing> {
    let rewound = rewind(handle, replay::Moment::At(at), near)?;
    let shown = rewound.in_hindsight(&*store_of(handle)?, at).map_err(ReplayError::from)?;
    Ok((rewound, shown))
}

/// What is missing in a stretch of a recording; nothing where that can't be read.
pub(super) fn gaps_in(store: &dyn Store, from_ms: i64, to_ms: i64) -> Vec<Gap> {
    store.gaps(TimeMs(from_ms)..TimeMs(to_ms)).unwrap_or_default()
}

/// One ensemble's model as it was, from a nearby one if there is one.
fn rewind(handle: Option<&HistoryHandle>, moment: replay::Moment, near: Option<&Rewound>) -> Result<Rewound, Missing> {
    let store = store_of(handle)?;
    // Looked at first: what is stored meanwhile is in the model.
    if let Some(missing) = unknown_at(&*store, moment).map_err(|error| Missing::Failed(error.to_string()))? {
        return Err(missing);
    }
    let Some(near) = near else { return Ok(Rewound::new(&*store, moment)?) };
    let mut stepped = near.clone();
    stepped.step_to(&*store, moment)?;
    Ok(stepped)
}

fn store_of(handle: Option<&HistoryHandle>) -> Result<Arc<dyn Store>, Missing> {
    let handle = handle.ok_or(Missing::NothingKept { before: None, after: None })?;
    handle.store().ok_or_else(|| Missing::Failed("the history is not open yet".to_owned()))
}

/// Why what is stored does not say what was at a moment: it lies in a gap, or it is yet to be stored.
fn unknown_at(store: &dyn Store, moment: replay::Moment) -> Result<Option<Missing>, StoreError> {
    let replay::Moment::At(at) = moment else { return Ok(None) };
    let Some(head) = store.head_at(at)? else { return Ok(None) };
    if let Some(gap) = replay::gap_behind(store, at, &head)? {
        return Ok(Some(Missing::Gap(gap)));
    }
    if head.last_at >= at {
        return Ok(None);
    }
    let is_newest = store.head_at(TimeMs(i64::MAX))?.is_none_or(|newest| newest.seq == head.seq);
    Ok(is_newest.then_some(Missing::NothingKept { before: Some(head.last_at.0), after: None }))
}

/// Removes what was not looked at for longest, and never the last one.
fn make_room<T>(kept: &mut Vec<T>, znodes: impl Fn(&T) -> u64) {
    while kept.len() > MOMENTS_MAX || (kept.len() > 1 && kept.iter().map(&znodes).sum::<u64>() > ZNODES_MAX) {
        kept.remove(0);
    }
}

fn znodes(moment: &PastMoment) -> u64 {
    let models = moment.models.iter().filter_map(|(_, model)| model.as_ref().ok());
    models.map(|model| model.observatory().roots().iter().map(|root| root.mirror.nodes()).sum::<u64>()).sum()
}

#[cfg(test)]
mod tests;
