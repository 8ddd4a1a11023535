//! What somebody may see: where, and whether with what znodes carry and with what is in the audit log. Users of equal
//! scope share frames; for a scope of everything no path is compared. Pure.

/// Parts of ensembles. The same parts are always written the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Within {
    /// Sorted; empty: all.
    ensembles: Vec<String>,
    /// Each covers itself and all below it. Sorted, none below another; empty: all.
    paths: Vec<String>,
}

/// What somebody may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    within: Within,
    payloads: bool,
    records: bool,
}

impl Within {
    /// These ensembles, and what is below these paths; an empty list means all.
    pub fn new(ensembles: &[String], paths: &[String]) -> Self {
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
        Self { ensembles, paths }
    }

    /// Whether it is everything.
    pub fn is_everywhere(&self) -> bool {
        self.ensembles.is_empty() && self.paths.is_empty()
    }

    /// The ensembles; empty: all.
    pub fn ensembles(&self) -> &[String] {
        &self.ensembles
    }

    /// The paths, each with all below it; empty: all.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Whether anything of an ensemble is inside.
    pub fn covers_ensemble(&self, ensemble: &str) -> bool {
        self.ensembles.is_empty() || self.ensembles.iter().any(|name| name == ensemble)
    }

    /// Whether a path is inside, in an ensemble of which something is.
    pub fn covers_path(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|top| is_under(path, top))
    }

    /// Whether a path of an ensemble is inside.
    pub fn covers(&self, ensemble: &str, path: &str) -> bool {
        self.covers_ensemble(ensemble) && self.covers_path(path)
    }
}

impl Scope {
    /// Everything.
    pub const ALL: Self =
        Self { within: Within { ensembles: Vec::new(), paths: Vec::new() }, payloads: true, records: true };

    /// What is inside; without what is in the audit log.
    pub fn new(within: Within, payloads: bool) -> Self {
        Self { within, payloads, records: false }
    }

    /// The same, with or without what is in the audit log.
    #[must_use]
    pub fn with_records(self, records: bool) -> Self {
        Self { records, ..self }
    }

    /// Nothing, for a viewer that is not known: no ensemble has an empty name.
    pub fn nothing() -> Self {
        Self::new(Within { ensembles: vec![String::new()], paths: Vec::new() }, false)
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
        !self.within.is_everywhere()
    }

    /// The ensembles of which something may be seen; empty: of all.
    pub fn ensembles(&self) -> &[String] {
        self.within.ensembles()
    }

    /// Whether anything of an ensemble may be seen.
    pub fn covers_ensemble(&self, ensemble: &str) -> bool {
        self.within.covers_ensemble(ensemble)
    }

    /// Whether a path of an ensemble may be seen.
    pub fn covers(&self, ensemble: &str, path: &str) -> bool {
        self.within.covers(ensemble, path)
    }

    /// Whether a path may be seen, in an ensemble of which something may.
    pub fn covers_path(&self, path: &str) -> bool {
        self.within.covers_path(path)
    }

    /// Whether something at or below a path may be seen, in an ensemble of which something may.
    pub fn overlaps(&self, path: &str) -> bool {
        self.covers_path(path) || self.within.paths.iter().any(|top| is_under(top, path))
    }
}

/// Whether a path is another one, or below it.
fn is_under(path: &str, top: &str) -> bool {
    top == "/" || path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(ensembles: &[&str], paths: &[&str]) -> Scope {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Scope::new(Within::new(&owned(ensembles), &owned(paths)), true).with_records(true)
    }

    #[test]
    fn what_means_the_same_is_equal() {
        assert_eq!(scope(&[], &["/"]), Scope::ALL);
        assert_eq!(scope(&["b", "a", "b"], &["/x", "/x/y", "/x"]), scope(&["a", "b"], &["/x"]));
        assert_ne!(scope(&[], &["/x"]), scope(&[], &["/y"]));
        assert_ne!(Scope::new(Within::default(), false), Scope::ALL);
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
        assert!(Scope::ALL.covers("any", "/where") && Within::default().covers("any", "/where"));
        assert!(!Scope::nothing().covers("any", "/where") && !Scope::nothing().covers_ensemble("default"));
    }
}
