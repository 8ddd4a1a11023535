//! Replayed models, by ensemble and moment. The ones used last are kept, since whoever looks at a moment looks at those
//! nearby next: a moment near a kept one is stepped to, and shares all that did not change with it. Each ensemble is
//! replayed by itself, so that one that is slow or has nothing delays no other. Blocking.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use lockscope_core::time::TimeMs;
use lockscope_history::historian::HistoryHandle;
use lockscope_history::replay::{self, ReplayError, Rewound};
use lockscope_history::store::{Gap, Store, StoreError};
use lockscope_live::StillModel;
use lockscope_view::NearestMoments;
use lockscope_view::past::Unanswered;
use parking_lot::Mutex;

/// Snapshots of one ensemble that are kept; beyond it the one that was not used for the longest time goes.
const SNAPSHOTS_MAX: usize = 8;
/// Znodes of all kept snapshots together, as if none were shared; beyond it all but the newest go. A million take about
/// 400 MB.
const ZNODES_MAX: u64 = 1_000_000;
/// What is noticed of a moment comes within 2.5 s of it and is stored within a second of that.
const SETTLED_AFTER_MS: i64 = 4_000;
/// How long a younger snapshot is kept: more may have been noticed by then.
const UNSETTLED_FOR_MS: i64 = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    NotRecorded,
    /// Nothing is kept; the nearest kept moments.
    NothingKept {
        before: Option<i64>,
        after: Option<i64>,
    },
    Gap(Gap),
    TooLong(String),
    Failed(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecorded | Self::NothingKept { .. } => f.write_str("nothing is kept of that moment"),
            Self::Gap(gap) => write!(f, "nothing is known of that moment: {}", gap.why),
            Self::TooLong(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl From<ReplayError> for Missing {
    fn from(error: ReplayError) -> Self {
        let ms = |at: Option<TimeMs>| at.map(|at| at.0);
        match error {
            ReplayError::NothingKept { before, after } => Self::NothingKept { before: ms(before), after: ms(after) },
            ReplayError::InGap(gap) => Self::Gap(gap),
            ReplayError::TooFar => Self::TooLong(error.to_string()),
            ReplayError::Store(_) => Self::Failed(error.to_string()),
        }
    }
}

impl Missing {
    /// The nearest moments of which something is kept; None where the answer is not about what is kept.
    pub(crate) fn nearest(&self) -> Option<NearestMoments> {
        let (before_at_ms, after_at_ms) = match self {
            Self::NotRecorded => (None, None),
            Self::NothingKept { before, after } => (*before, *after),
            Self::Gap(gap) => (Some(gap.from.0), Some(gap.to.0)),
            Self::TooLong(_) | Self::Failed(_) => return None,
        };
        Some(NearestMoments { before_at_ms, after_at_ms })
    }

    /// The same, as it stands beside the answers of others.
    pub(super) fn of(&self, ensemble: &str) -> Unanswered {
        let reason = match self {
            Self::NotRecorded => "not_recorded",
            Self::NothingKept { .. } => "nothing_kept",
            Self::Gap(_) => "gap",
            Self::TooLong(_) => "too_long",
            Self::Failed(_) => "store_failed",
        };
        Unanswered { ensemble: ensemble.to_owned(), reason, detail: self.to_string(), nearest: self.nearest() }
    }
}

pub(super) struct Snapshot {
    at_ms: i64,
    /// What was recorded, to step on from.
    pub(super) model: Rewound,
    /// The same with what was noticed of it soon after, which is shown.
    pub(super) shown: StillModel,
    znodes: u64,
    /// Until when this is the answer; None: for ever.
    expires_at_ms: Option<i64>,
}

#[derive(Default)]
pub(super) struct SnapshotCache {
    /// By ensemble; the one used last comes last.
    kept: Mutex<Vec<(Arc<str>, Arc<Snapshot>)>>,
    /// One of each ensemble is made at a time: who waits may find it made.
    making: Mutex<HashMap<Arc<str>, Arc<Mutex<()>>>>,
}

#[derive(Clone, Copy)]
pub(super) struct SnapshotRequest<'a> {
    pub(super) ensemble: &'a str,
    pub(super) recording: Option<&'a HistoryHandle>,
    pub(super) at_ms: i64,
    pub(super) now_ms: i64,
    /// Nothing is recorded any more: a snapshot is the answer for ever.
    pub(super) is_over: bool,
    pub(super) give_up_at: Instant,
}

impl SnapshotCache {
    pub(super) fn get(&self, of: SnapshotRequest<'_>) -> Result<Arc<Snapshot>, Missing> {
        let handle = of.recording.ok_or(Missing::NotRecorded)?;
        if let Some(found) = self.find(of, handle) {
            return Ok(found);
        }
        let ensemble: Arc<str> = of.ensemble.into();
        let making = Arc::clone(self.making.lock().entry(Arc::clone(&ensemble)).or_default());
        let late = || Missing::TooLong("its history could not be replayed in time; ask again".to_owned());
        let _making = making.try_lock_until(of.give_up_at).ok_or_else(late)?;
        if let Some(found) = self.find(of, handle) {
            return Ok(found);
        }
        if lockscope_runtime::clock::instant() >= of.give_up_at {
            return Err(late());
        }
        let made = Arc::new(self.make(of, handle)?);
        let mut kept = self.kept.lock();
        kept.retain(|(name, snapshot)| **name != *ensemble || snapshot.at_ms != of.at_ms);
        kept.push((ensemble, Arc::clone(&made)));
        make_room(&mut kept, |snapshot| snapshot.znodes);
        Ok(made)
    }

    fn find(&self, of: SnapshotRequest<'_>, handle: &HistoryHandle) -> Option<Arc<Snapshot>> {
        // What is too old by now is shown no more, from memory neither.
        if handle.status().coverage.from.is_some_and(|from| from.0 > of.at_ms) {
            return None;
        }
        let is_good = |snapshot: &Snapshot| {
            snapshot.at_ms == of.at_ms && snapshot.expires_at_ms.is_none_or(|until| of.now_ms < until)
        };
        let mut kept = self.kept.lock();
        let at = kept.iter().position(|(name, snapshot)| **name == *of.ensemble && is_good(snapshot))?;
        let found = kept.remove(at);
        let snapshot = Arc::clone(&found.1);
        kept.push(found);
        Some(snapshot)
    }

    fn make(&self, of: SnapshotRequest<'_>, handle: &HistoryHandle) -> Result<Snapshot, Missing> {
        // As of before anything is read.
        let expires_at_ms = if of.is_over { None } else { expires_at(of.at_ms, of.now_ms) };
        // The newest of those before it: from there it is the shortest way.
        let before = self.kept.lock();
        let before = before.iter().filter(|(name, snapshot)| **name == *of.ensemble && snapshot.at_ms < of.at_ms);
        let near = before.max_by_key(|(_, snapshot)| snapshot.at_ms).map(|(_, snapshot)| Arc::clone(snapshot));
        let at = TimeMs(of.at_ms);
        let model = rewind(handle, replay::Moment::At(at), near.as_ref().map(|near| &near.model))?;
        let shown = model.in_hindsight(&*store_of(handle)?, at).map_err(ReplayError::from)?;
        let znodes = model.observatory().roots().iter().map(|root| root.mirror.nodes()).sum();
        Ok(Snapshot { at_ms: of.at_ms, model, shown: shown.into(), znodes, expires_at_ms })
    }
}

/// The instant at which a transaction had just been seen.
pub(super) fn instant_of(handle: &HistoryHandle, moment: replay::Moment) -> Result<i64, Missing> {
    rewind(handle, moment, None).map(|model| model.known_at().0)
}

/// Until when an answer of now about a moment holds; None: for ever.
fn expires_at(at_ms: i64, now_ms: i64) -> Option<i64> {
    (now_ms.saturating_sub(at_ms) <= SETTLED_AFTER_MS).then(|| now_ms.saturating_add(UNSETTLED_FOR_MS))
}

/// One ensemble's model as it was, from a nearby one if there is one.
fn rewind(handle: &HistoryHandle, moment: replay::Moment, near: Option<&Rewound>) -> Result<Rewound, Missing> {
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

fn store_of(handle: &HistoryHandle) -> Result<Arc<dyn Store>, Missing> {
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

/// Removes what was not used for longest, and never the last one.
fn make_room<T>(kept: &mut Vec<(Arc<str>, T)>, znodes: impl Fn(&T) -> u64) {
    let Some(newest) = kept.last().map(|(name, _)| Arc::clone(name)) else { return };
    while kept.iter().filter(|(name, _)| *name == newest).count() > SNAPSHOTS_MAX {
        let Some(oldest) = kept.iter().position(|(name, _)| *name == newest) else { return };
        kept.remove(oldest);
    }
    while kept.len() > 1 && kept.iter().map(|(_, one)| znodes(one)).sum::<u64>() > ZNODES_MAX {
        kept.remove(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_is_bounded_by_ensemble_and_by_znodes() {
        let kept = |znodes: &[(&str, u64)]| {
            let mut kept = Vec::new();
            for (number, (name, znodes)) in znodes.iter().enumerate() {
                kept.push((Arc::from(*name), (number, *znodes)));
                make_room(&mut kept, |(_, znodes)| *znodes);
            }
            kept.into_iter().map(|(_, (number, _))| number).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[("a", 1); SNAPSHOTS_MAX + 2]), (2..SNAPSHOTS_MAX + 2).collect::<Vec<_>>());
        let mut two = vec![("b", 1)];
        two.extend([("a", 1); SNAPSHOTS_MAX + 1]);
        assert_eq!(kept(&two).first(), Some(&0), "another ensemble keeps its own");
        assert_eq!(kept(&[("a", ZNODES_MAX / 2), ("b", ZNODES_MAX / 2), ("c", 1)]), [1, 2]);
        assert_eq!(kept(&[("a", 1), ("a", ZNODES_MAX + 1)]), [1], "the newest stays, however large");
    }

    #[test]
    fn young_snapshot_expires_until_it_is_settled() {
        assert_eq!(expires_at(10_000, 10_100), Some(10_600));
        assert_eq!(expires_at(10_000, 14_000), Some(14_500));
        assert_eq!(expires_at(10_000, 14_001), None);
    }
}
