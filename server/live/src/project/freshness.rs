//! Up to when the model is known to be true, of a view and of an ensemble: its roots' instants, put together.

use lockscope_core::observation::Link;
use lockscope_core::observatory::LIVE_AGE_MAX_MS;
use lockscope_core::root::RootState;
use lockscope_core::time::TimeMs;
use lockscope_view::{self as view, View};

use super::ProjectionContext;
use super::words::view_root_state;
use crate::Known;

// One rule for the model and for its readers.
const _: () = assert!(LIVE_AGE_MAX_MS == view::LIVE_AGE_MAX_MS);

/// Up to when a view is known to be true: the earliest instant of all roots that it shows as they are now; where there
/// are none, of all that it shows.
pub fn known(looks: &[ProjectionContext<'_>], view: &View) -> Known {
    let of = match view {
        View::Lock(query) => Some((&*query.ensemble, &*query.path)),
        View::QueueMap(query) => Some((&*query.ensemble, &*query.path)),
        _ => None,
    };
    let one = of.and_then(|(ensemble, path)| looks.iter().find_map(|look| look.known_of(ensemble, path)));
    let all = || looks.iter().flat_map(ProjectionContext::knowns).reduce(both);
    // Without a root nothing is shown that could be wrong.
    one.or_else(all).unwrap_or_else(|| Known {
        at_ms: looks.iter().map(|look| look.now.0).min().unwrap_or_default(),
        is_live: false,
        is_past: false,
    })
}

/// How many roots are too old to be called live: a view may differ when that does.
pub fn old_roots(looks: &[ProjectionContext<'_>]) -> u64 {
    let states = looks.iter().flat_map(|look| look.roots().map(|(at, _)| look.observatory.root_state(at, look.now).0));
    states.filter(|state| *state == RootState::Stale).count() as u64
}

/// The older one speaks for two; what calls itself live speaks for what does not.
fn both(one: Known, other: Known) -> Known {
    match (one.is_live, other.is_live) {
        (true, false) => one,
        (false, true) => other,
        (true, true) | (false, false) => Known { at_ms: one.at_ms.min(other.at_ms), ..one },
    }
}

impl ProjectionContext<'_> {
    fn knowns(&self) -> impl Iterator<Item = Known> {
        self.roots().map(|(at, view)| {
            let state = view_root_state(self.observatory.root_state(at, self.now).0);
            Known { at_ms: view.known_at().0, is_live: state.is_current(), is_past: false }
        })
    }

    /// Of the root that a lock lies under.
    fn known_of(&self, ensemble: &str, path: &str) -> Option<Known> {
        let root = self.observatory.root_of(path).filter(|_| self.is_meant(ensemble) && self.sees(path))?;
        self.roots().zip(self.knowns()).find(|((at, _), _)| *at == root).map(|(_, known)| known)
    }

    /// The earliest instant of any root: up to then all that is shown of the ensemble is known to be true.
    pub(super) fn known_at(&self) -> Option<TimeMs> {
        self.roots().map(|(_, view)| view.known_at()).min()
    }

    /// Our link to the ensemble, as far as its roots show it: since when, and why it is not live.
    pub(super) fn link(&self) -> (view::Link, TimeMs, &str) {
        let (link, link_since, link_why) = self.observatory.link();
        let has = |wanted| {
            self.roots().map(|(at, _)| self.observatory.root_state(at, self.now)).find(|(state, ..)| *state == wanted)
        };
        let (shown, why) = match link {
            Link::Lost => (view::Link::Lost, link_why),
            Link::Stale => (view::Link::Stale, link_why),
            Link::Live => match (has(RootState::Stale), has(RootState::Syncing)) {
                (Some((_, _, why)), _) => (view::Link::Stale, why),
                (None, Some(_)) => (view::Link::Syncing, link_why),
                (None, None) => (view::Link::Live, link_why),
            },
        };
        let since = if shown == view::Link::Live { link_since } else { self.known_at().unwrap_or(link_since) };
        (shown, since, why)
    }
}
