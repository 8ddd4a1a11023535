//! Locks by their names alone, however many there are. The names are taken in one look at the model, compared while nobody
//! waits for it, and what fits becomes rows in a second look.

use std::sync::Arc;

use lockscope_view as view;

use super::ProjectionContext;

/// Names that are compared; more are not, and that is said.
pub const NAMES_MAX: usize = 100_000;
/// Names that fit among which the worst are chosen; more are left out, and that is said.
const FITTING_MAX: usize = 1_000;

/// Whether a name fits; None once comparing has taken as long as it may.
pub type NameTest<'a> = dyn FnMut(&str) -> Option<bool> + 'a;

#[derive(Debug, Default)]
pub struct FoundLocks {
    /// The worst of them.
    pub rows: Vec<view::LockRow>,
    /// Every name was compared.
    pub is_complete: bool,
}

/// A lock, by the place of its ensemble and its path.
pub(crate) type LockName = (usize, Arc<str>);

/// The names of all locks that may be seen, ensemble by ensemble in path order; of too many the first.
pub(crate) fn names(looks: &[ProjectionContext<'_>]) -> (Vec<LockName>, bool) {
    let all = looks.iter().enumerate().flat_map(|(at, look)| look.locks().map(move |lock| (at, &lock.path)));
    let mut names: Vec<LockName> = all.take(NAMES_MAX + 1).map(|(at, path)| (at, Arc::clone(path))).collect();
    let is_complete = names.len() <= NAMES_MAX;
    names.truncate(NAMES_MAX);
    (names, is_complete)
}

/// Those of the names that fit, and whether all were compared.
pub(crate) fn fitting(names: Vec<LockName>, fits: &mut NameTest<'_>) -> (Vec<LockName>, bool) {
    let mut found = Vec::new();
    for name in names {
        match fits(&name.1) {
            Some(true) if found.len() == FITTING_MAX => return (found, false),
            Some(true) => found.push(name),
            Some(false) => {}
            None => return (found, false),
        }
    }
    (found, true)
}

/// Rows of the worst of these locks, as many as are still there.
pub(crate) fn rows_of(looks: &[ProjectionContext<'_>], names: &[LockName], rows_max: usize) -> Vec<view::LockRow> {
    let lock = |(at, path): &LockName| {
        let look = looks.get(*at)?;
        let lock = look.observatory.lock(path).filter(|lock| lock.path == *path && look.sees(path))?;
        Some((std::cmp::Reverse(look.sort_key(view::Sort::Worst, lock, look.counted_waits(lock))), look, lock))
    };
    let mut locks: Vec<_> = names.iter().filter_map(lock).collect();
    locks.sort_by_key(|(key, ..)| *key);
    locks.into_iter().take(rows_max).map(|(_, look, lock)| look.row(lock)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::EnsembleInfo;
    use crate::project::problems::tests::{LATER, model};
    use lockscope_view::Scope;

    #[test]
    fn the_worst_of_all_that_may_be_seen_come_first() {
        let paths: Vec<String> = (0..700).map(|at| format!("/a/{at:04}/lock-0000000000")).collect();
        let mut contenders: Vec<(&str, i64)> = paths.iter().map(|path| (path.as_str(), 5)).collect();
        contenders.extend([("/a/0650/lock-0000000001", 6), ("/hidden/x/lock-0000000000", 7)]);
        let observatory = model(&contenders);
        let ensemble = EnsembleInfo {
            name: "default".into(),
            connect: "zk:2181".into(),
            color: None,
            has_others: false,
            labels: Default::default(),
            excluded: None,
            proof: Default::default(),
        };
        let scope = Scope::new(lockscope_view::Within::new(&[], &["/a".to_owned()]), true);
        let look = ProjectionContext { observatory: &observatory, ensemble: &ensemble, scope: &scope, now: LATER };
        let (all, is_complete) = names(&[look]);
        assert_eq!((all.len(), is_complete), (700, true));
        let (found, is_complete) = fitting(all.clone(), &mut |name| Some(name.contains("06")));
        assert!(is_complete);
        let rows = rows_of(&[look], &found, 2);
        let rows: Vec<_> = rows.iter().map(|row| (row.path.as_str(), row.verdict)).collect();
        assert_eq!(rows, [("/a/0650", view::Verdict::Stuck), ("/a/0006", view::Verdict::Healthy)]);
        let mut left = 3;
        let (found, is_complete) = fitting(all, &mut |_| {
            left -= 1;
            (left > 0).then_some(true)
        });
        assert_eq!((found.len(), is_complete), (2, false), "it says that it stopped");
    }
}
