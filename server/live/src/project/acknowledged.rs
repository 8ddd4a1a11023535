//! Locks that somebody looks at. The model does not know it: people say so of alerts, and whoever keeps alerts hands it on
//! here.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_view::Headline;

use super::english;
use crate::Current;

/// Locks that are kept; of more the later ones in the order of their names are left out.
const ACKNOWLEDGED_MAX: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcknowledgedLock {
    pub ensemble: String,
    pub path: String,
    pub by: String,
    /// Since when, ms since the epoch.
    pub since_ms: i64,
}

/// Who looks at a lock, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Looks {
    by: String,
    since_ms: i64,
}

type ByLock = BTreeMap<String, BTreeMap<String, Looks>>;

/// All of them at one time. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged(Arc<ByLock>);

impl Acknowledged {
    /// Of a lock with several the one that has looked longest.
    pub fn of(locks: impl IntoIterator<Item = AcknowledgedLock>) -> Self {
        let mut all = ByLock::new();
        for AcknowledgedLock { ensemble, path, by, since_ms } in locks.into_iter().take(ACKNOWLEDGED_MAX) {
            let of_ensemble = all.entry(ensemble).or_default();
            match of_ensemble.get(&path) {
                Some(known) if known.since_ms <= since_ms => {}
                _ => drop(of_ensemble.insert(path, Looks { by, since_ms })),
            }
        }
        Self(Arc::new(all))
    }

    pub(super) fn since(&self, ensemble: &str, path: &str) -> Option<i64> {
        self.looks(ensemble, path).map(|looks| looks.since_ms)
    }

    pub(super) fn sentence(&self, ensemble: &str, path: &str) -> Option<Headline> {
        let Looks { by, since_ms } = self.looks(ensemble, path)?;
        Some(Headline {
            before: english::looks_at_it(by),
            since_ms: Some(*since_ms),
            is_lower_bound: false,
            after: ".".to_owned(),
        })
    }

    fn looks(&self, ensemble: &str, path: &str) -> Option<&Looks> {
        self.0.get(ensemble)?.get(path)
    }
}

/// What is acknowledged now.
pub type AcknowledgedLocks = Current<Acknowledged>;

#[cfg(test)]
mod tests {
    use super::*;

    fn acknowledged(path: &str, by: &str, since_ms: i64) -> AcknowledgedLock {
        AcknowledgedLock { ensemble: "prod".to_owned(), path: path.to_owned(), by: by.to_owned(), since_ms }
    }

    #[test]
    fn whoever_has_looked_longest_is_named() {
        let all =
            Acknowledged::of([acknowledged("/a", "bob", 9), acknowledged("/a", "ada", 5), acknowledged("/a", "cy", 7)]);
        let said = all.sentence("prod", "/a").unwrap_or_default();
        assert_eq!((said.before.as_str(), said.since_ms), ("ada has looked at it for", Some(5)));
        assert!(all.sentence("prod", "/b").is_none() && all.sentence("test", "/a").is_none());
    }

    #[test]
    fn the_same_wakes_nobody_and_an_end_does() {
        let locks = AcknowledgedLocks::default();
        let changes = locks.changes();
        locks.set(Acknowledged::default());
        assert!(!changes.has_changed().unwrap_or(true));
        locks.set(Acknowledged::of([acknowledged("/a", "ada", 5)]));
        assert_eq!(*changes.borrow(), 1);
        locks.set(Acknowledged::of([acknowledged("/a", "ada", 5)]));
        assert_eq!(*changes.borrow(), 1);
        locks.set(Acknowledged::default());
        assert_eq!((*changes.borrow(), locks.now().since("prod", "/a")), (2, None));
    }

    #[test]
    fn they_are_bounded() {
        let many = (0..ACKNOWLEDGED_MAX + 5).map(|at| acknowledged(&format!("/{at}"), "ada", 1));
        assert_eq!(Acknowledged::of(many).0.values().map(BTreeMap::len).sum::<usize>(), ACKNOWLEDGED_MAX);
    }
}
