//! Which paths are never read: patterns of paths, with everything below what they mean. Pure.

use std::sync::Arc;

use lockscope_core::configured::is_meant;

use super::connect_string::{Fault, fault, is_path};

/// Patterns of one ensemble: each is tried on every event.
pub const EXCLUSIONS_MAX: usize = 100;
const PATTERN_BYTES_MAX: usize = 1_024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions(Arc<[String]>);

impl Exclusions {
    /// Those patterns; each was checked.
    pub fn new(patterns: Vec<String>) -> Self {
        Self(patterns.into())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path is what a pattern means, or lies below it.
    pub(super) fn covers(&self, path: &str) -> bool {
        !self.is_empty() && with_ancestors(path).any(|path| self.0.iter().any(|pattern| is_meant(pattern, path)))
    }

    /// Whether no child of a directory is read, whatever its name is.
    pub(super) fn covers_children_of(&self, directory: &str) -> bool {
        let directory = directory.trim_end_matches('/');
        self.0.iter().any(|pattern| {
            let all = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*"));
            all.is_some_and(|of| is_meant(of, directory))
        })
    }
}

/// A path and all that it lies in, the outermost first; without the top.
fn with_ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}

/// Whether a pattern can be one, beside these roots.
pub fn check_exclusion(pattern: &str, roots: &[impl AsRef<str>]) -> Result<(), Fault> {
    if !pattern.starts_with('/') {
        return fault("does not start with a slash", format!("write /{pattern}"));
    }
    if pattern.len() > PATTERN_BYTES_MAX {
        return fault("is too long", format!("write at most {PATTERN_BYTES_MAX} bytes, with stars for the rest"));
    }
    if !is_path(pattern) || pattern == "/" {
        return fault("is no path: a part of it is empty, . or ..", "write it like /clickhouse/tables/**");
    }
    let one = Exclusions::new(vec![pattern.to_owned()]);
    match roots.iter().map(AsRef::as_ref).find(|root| one.covers(root)) {
        Some(root) => fault(
            format!("leaves out all of the root {root:?}"),
            "leave that root out of `root`, or write a pattern for a part of it",
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(patterns: &[&str]) -> Exclusions {
        Exclusions::new(patterns.iter().map(|pattern| (*pattern).to_owned()).collect())
    }

    #[test]
    fn what_a_pattern_means_is_left_out_with_all_below() {
        let tables = of(&["/clickhouse/tables/**", "/x/tmp-*"]);
        for (path, expect) in [
            ("/clickhouse/tables", false),
            ("/clickhouse/tables/a", true),
            ("/clickhouse/tables/a/b/c", true),
            ("/clickhouse/tables2/a", false),
            ("/x", false),
            ("/x/tmp", false),
            ("/x/tmp-1", true),
            ("/x/tmp-1/lock/deep", true),
            ("/", false),
        ] {
            assert_eq!(tables.covers(path), expect, "{path}");
        }
        assert!(tables.covers_children_of("/clickhouse/tables") && !tables.covers_children_of("/clickhouse"));
        assert!(!tables.covers_children_of("/x") && !Exclusions::default().covers("/x"));
        assert!(of(&["/s/*/t/*"]).covers_children_of("/s/1/t") && of(&["/**/t/**"]).covers_children_of("/a/b/t"));
    }

    #[test]
    fn each_mistake_has_its_remedy() {
        let why = |pattern: &str, roots: &[&str]| check_exclusion(pattern, roots).unwrap_err().why;
        assert!(why("x", &["/"]).contains("slash") && why("/a//b", &["/"]).contains("empty"));
        assert!(why("/a/../b", &["/"]).contains("no path") && why("/a/", &["/"]).contains("no path"));
        assert!(why(&format!("/{}", "x".repeat(1_024)), &["/"]).contains("long"));
        assert_eq!(why("/locks", &["/x", "/locks"]), "leaves out all of the root \"/locks\"");
        assert!(why("/**", &["/a/b"]).contains("root") && why("/**", &["/"]).contains("leaves out"));
        assert!(why("/*", &["/"]).contains("leaves out"));
        assert!(check_exclusion("/locks/*", &["/locks"]).is_ok() && check_exclusion("/a/**", &["/a", "/b"]).is_ok());
    }
}
