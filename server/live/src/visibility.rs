//! Visibility scopes. Users of equal scope share frames; for a scope of everything no path is compared. Pure.

use serde::{Deserialize, Serialize};

use super::project::is_under;

/// What somebody may see: where, and whether with what znodes carry and with what is in the audit log. The same scope is always written the same way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VisibilityScope {
    /// None: everywhere.
    within: Option<Within>,
    payloads: bool,
    records: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
struct Within {
    /// Sorted; empty: all.
    ensembles: Vec<String>,
    /// Each covers itself and all below it. Sorted, none below another; empty: all.
    paths: Vec<String>,
}

impl VisibilityScope {
    /// Everything.
    pub const ALL: Self = Self { within: None, payloads: true, records: true };

    /// What is inside these ensembles and below these paths; an empty list means all. Without what is in the audit log.
    pub fn new(ensembles: &[String], paths: &[String], payloads: bool) -> Self {
        let mut ensembles = ensembles.to_vec();
        ensembles.sort_unstable();
        ensembles.dedup();
        let is_below_another = |path: &String| paths.iter().any(|top| top != path && is_under(path, top));
        let mut paths: Vec<String> = paths.iter().filter(|path| !is_below_another(path)).cloned().collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.iter().any(|path| path == "/") {
            paths.clear();
        }
        let is_everywhere = ensembles.is_empty() && paths.is_empty();
        Self { within: (!is_everywhere).then_some(Within { ensembles, paths }), payloads, records: false }
    }

    /// The same, with or without what is in the audit log.
    #[must_use]
    pub fn with_records(self, records: bool) -> Self {
        Self { records, ..self }
    }

    /// Nothing, for whoever is not known: no ensemble has an empty name.
    pub fn nothing() -> Self {
        Self {
            within: Some(Within { ensembles: vec![String::new()], paths: Vec::new() }),
            payloads: false,
            records: false,
        }
    }

    /// Whether payloads are shown.
    pub fn payloads(&self) -> bool {
        self.payloads
    }

    /// Whether what is in the audit log is shown: who released something, and where that is on record.
    pub fn records(&self) -> bool {
        self.records
    }

    /// Whether anything is hidden because of where it is.
    pub fn is_bounded(&self) -> bool {
        self.within.is_some()
    }

    /// The ensembles of which something may be seen; empty: of all.
    pub fn ensembles(&self) -> &[String] {
        self.within.as_ref().map(|within| within.ensembles.as_slice()).unwrap_or_default()
    }

    /// Whether anything of an ensemble may be seen.
    pub fn covers_ensemble(&self, ensemble: &str) -> bool {
        self.within
            .as_ref()
            .is_none_or(|within| within.ensembles.is_empty() || within.ensembles.iter().any(|name| name == ensemble))
    }

    /// Whether a path of an ensemble may be seen.
    pub fn covers(&self, ensemble: &str, path: &str) -> bool {
        self.covers_ensemble(ensemble) && self.covers_path(path)
    }

    /// Whether a path may be seen, in an ensemble of which something may.
    pub fn covers_path(&self, path: &str) -> bool {
        self.tops().is_none_or(|tops| tops.iter().any(|top| is_under(path, top)))
    }

    /// Whether something at or below a path may be seen, in an ensemble of which something may.
    pub fn overlaps(&self, path: &str) -> bool {
        self.tops().is_none_or(|tops| tops.iter().any(|top| is_under(path, top) || is_under(top, path)))
    }

    /// The paths that are covered with all below; None: all.
    fn tops(&self) -> Option<&[String]> {
        self.within.as_ref().map(|within| within.paths.as_slice()).filter(|paths| !paths.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(ensembles: &[&str], paths: &[&str]) -> VisibilityScope {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        VisibilityScope::new(&owned(ensembles), &owned(paths), true).with_records(true)
    }

    #[test]
    fn what_means_the_same_is_equal() {
        assert_eq!(scope(&[], &["/"]), VisibilityScope::ALL);
        assert_eq!(scope(&["b", "a", "b"], &["/x", "/x/y", "/x"]), scope(&["a", "b"], &["/x"]));
        assert_ne!(scope(&[], &["/x"]), scope(&[], &["/y"]));
        assert_ne!(VisibilityScope::new(&[], &[], false), VisibilityScope::ALL);
    }

    #[test]
    fn whole_names_are_covered_and_what_is_above_overlaps() {
        let shop = scope(&["prod"], &["/shop/a"]);
        for (path, covers, overlaps) in [
            ("/shop/a", true, true),
            ("/shop/a/b", true, true),
            ("/shop/ab", false, false),
            ("/shop", false, true),
            ("/", false, true),
        ] {
            assert_eq!((shop.covers("prod", path), shop.overlaps(path)), (covers, overlaps), "{path}");
            assert!(!shop.covers("test", path));
        }
        assert!(
            VisibilityScope::ALL.covers("any", "/where")
                && !VisibilityScope::nothing().covers("any", "/where")
                && !VisibilityScope::nothing().covers_ensemble("default")
        );
    }
}
