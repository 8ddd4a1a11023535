//! The parts of one view, each at the owner that is asked for it. When another owner is to be asked, what was shown stays
//! until the other has answered: it says that it is not live meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use feed::{FeedError, VisibilityScope};
use lockscope_wire::View;
use runtime::clock;

use crate::link::{Glimpse, Link};
use crate::plan::Plan;
use crate::view::Key;
use crate::words;

/// Views whose parts are remembered that nobody looked at for so long are forgotten.
const IDLE: Duration = Duration::from_secs(60);
/// How many are remembered before any is looked through for that.
const SWEPT_FROM: usize = 256;
/// How many are remembered. Overflow policy: the quarter that nobody looked at for longest is forgotten.
const COMPOSITES_MAX: usize = 4_096;

/// What one owner is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// None: nobody watches these ensembles.
    link: Option<Arc<Link>>,
    key: Key,
    /// The ensembles.
    pub(crate) names: Vec<String>,
}

/// The parts of one view.
#[derive(Debug)]
struct Composite {
    /// The plan, and whether this replica had a part, that the wanted parts were made of.
    made_of: (u64, bool),
    shown: Arc<[Part]>,
    /// What is to be shown in their place, once all of it is there.
    wanted: Option<Arc<[Part]>>,
    touched: Instant,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Composites(Mutex<HashMap<Key, Composite>>);

impl Part {
    /// What it shows now.
    pub(crate) fn glimpse(&self, plan: &Plan, now_ms: i64) -> Glimpse {
        match &self.link {
            Some(link) => link.glimpse(&self.key),
            None => Glimpse {
                body: None,
                known_at_ms: now_ms,
                is_live: false,
                lost: Some((now_ms, plan.why_nobody(&self.names))),
                refusal: None,
                revision: 0,
            },
        }
    }

    /// The first word on a view that did not come yet.
    pub(crate) fn awaited(&self) -> String {
        self.link.as_ref().map(|link| words::awaited(&link.owner)).unwrap_or_default()
    }

    fn want(&self) -> Result<(), FeedError> {
        match &self.link {
            Some(link) => link.want(&self.key).map_err(|_| FeedError::TooManyElsewhere(words::too_many(&link.owner))),
            None => Ok(()),
        }
    }

    /// Whether another view of the same has the same parts.
    fn is_same(&self, other: &Self) -> bool {
        self.key == other.key
            && self.link.as_ref().map(|link| &link.owner) == other.link.as_ref().map(|link| &link.owner)
    }
}

impl Composites {
    /// The parts to show of a view now; `part_view` is what each owner is asked for where there are several.
    ///
    /// # Errors
    /// There is no room for one more view.
    pub(crate) fn parts(
        &self,
        plan: &Plan,
        (view, scope): (&View, &VisibilityScope),
        has_own: bool,
        part_view: impl FnOnce() -> View,
    ) -> Result<Arc<[Part]>, FeedError> {
        let now = clock::instant();
        let key = (view.clone(), scope.clone());
        let mut all = self.all();
        let made_of = (plan.revision, has_own);
        let composite = match all.get_mut(&key) {
            Some(composite) if composite.made_of == made_of => composite,
            _ => {
                let wanted = parts_of(plan, (view, scope), has_own, part_view);
                wanted.iter().try_for_each(Part::want)?;
                make_room(&mut all, now);
                let composite = all.entry(key).or_insert_with(|| Composite {
                    made_of,
                    shown: wanted.clone(),
                    wanted: None,
                    touched: now,
                });
                composite.made_of = made_of;
                let is_same = composite.shown.len() == wanted.len()
                    && composite.shown.iter().zip(wanted.iter()).all(|(one, other)| one.is_same(other));
                composite.wanted = (!is_same).then_some(wanted);
                composite
            }
        };
        composite.touched = now;
        // Whoever looks keeps them.
        composite
            .shown
            .iter()
            .chain(composite.wanted.iter().flat_map(|wanted| wanted.iter()))
            .try_for_each(Part::want)?;
        let is_there = |part: &Part| part.link.as_ref().is_none_or(|link| link.glimpse(&part.key).is_settled());
        if let Some(wanted) = composite.wanted.take_if(|wanted| wanted.iter().all(is_there)) {
            composite.shown = wanted;
        }
        Ok(composite.shown.clone())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Key, Composite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make_room(all: &mut HashMap<Key, Composite>, now: Instant) {
    if all.len() >= SWEPT_FROM && all.len().is_multiple_of(SWEPT_FROM) {
        all.retain(|_, composite| now.saturating_duration_since(composite.touched) < IDLE);
    }
    if all.len() >= COMPOSITES_MAX {
        let mut touched: Vec<Instant> = all.values().map(|composite| composite.touched).collect();
        let (_, oldest, _) = touched.select_nth_unstable(COMPOSITES_MAX / 4);
        let oldest = *oldest;
        all.retain(|_, composite| composite.touched > oldest);
    }
}

fn parts_of(
    plan: &Plan,
    (view, scope): (&View, &VisibilityScope),
    has_own: bool,
    part_view: impl FnOnce() -> View,
) -> Arc<[Part]> {
    let asked = plan.asked_of(view.ensemble()).into_iter();
    let asked: Vec<_> =
        asked.filter_map(|(link, names)| scope.among(&names).map(|scope| (link, names, scope))).collect();
    let one = if asked.len() > 1 || has_own { part_view() } else { view.clone() };
    // No name of an ensemble that may not be seen goes on.
    let part = |(link, names, scope): (Option<Arc<Link>>, Vec<String>, VisibilityScope)| {
        let names = names.into_iter().filter(|name| scope.covers_ensemble(name)).collect();
        Part { link, key: (one.clone(), scope), names }
    };
    asked.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests;
