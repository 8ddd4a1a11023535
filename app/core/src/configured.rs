//! What the operator says of locks by their paths: it goes before what names say.

use std::collections::BTreeSet;

use super::recipe::Recipe;

/// One entry of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// Which paths: `*` stands for any part of one name, `**` for any number of names.
    pub pattern: String,
    /// The recipe; `Unknown` means that it is no lock and is not shown. None leaves it to the names.
    pub recipe: Option<Recipe>,
    /// How many a semaphore admits, or a double barrier waits for.
    pub max: Option<u32>,
}

/// The first entry that fits a path.
pub fn configured<'a>(entries: &'a [Configured], path: &str) -> Option<&'a Configured> {
    entries.iter().find(|entry| fits(entry.pattern.as_bytes(), path.as_bytes()))
}

/// Which locks have metrics of their own where others are summed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetricSelection {
    /// So many, those with most waiting first.
    pub top: usize,
    /// Those that one of these patterns means, always.
    pub patterns: Vec<String>,
}

impl MetricSelection {
    /// What holds when nothing is said.
    pub fn usual() -> Self {
        Self { top: 20, patterns: Vec::new() }
    }
}

/// Whether a pattern means a path.
pub fn is_meant(pattern: &str, path: &str) -> bool {
    fits(pattern.as_bytes(), path.as_bytes())
}

fn fits(pattern: &[u8], path: &[u8]) -> bool {
    let (literal, rest) = pattern.split_at(pattern.iter().position(|byte| *byte == b'*').unwrap_or(pattern.len()));
    let Some(path) = path.strip_prefix(literal) else { return false };
    match rest {
        [] => path.is_empty(),
        b"**" => true,
        _ => fits_with_stars(&parts_of(rest), path),
    }
}

/// A part of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// Any part of one name.
    Star,
    /// Any names.
    DoubleStar,
}

fn parts_of(mut pattern: &[u8]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    while let Some((first, rest)) = pattern.split_first() {
        let (part, left) = match (first, rest) {
            (b'*', [b'*', left @ ..]) => (Part::DoubleStar, left),
            (b'*', left) => (Part::Star, left),
            (byte, left) => (Part::Byte(*byte), left),
        };
        parts.push(part);
        pattern = left;
    }
    parts
}

/// Follows all ways to read the pattern at once: takes as long as the pattern times the path, whatever is in them.
fn fits_with_stars(parts: &[Part], path: &[u8]) -> bool {
    // How many parts fit what was read, for each way.
    let mut ways = BTreeSet::from([0]);
    for byte in path {
        let mut next = BTreeSet::new();
        for at in past_stars(parts, &ways) {
            match parts.get(at) {
                Some(Part::Byte(wanted)) if wanted == byte => next.insert(at + 1),
                Some(Part::Star) if *byte != b'/' => next.insert(at),
                Some(Part::DoubleStar) => next.insert(at),
                Some(Part::Byte(_) | Part::Star) | None => false,
            };
        }
        if next.is_empty() {
            return false;
        }
        ways = next;
    }
    past_stars(parts, &ways).contains(&parts.len())
}

/// The same ways, and those in which stars stand for nothing.
fn past_stars(parts: &[Part], ways: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut all = ways.clone();
    for mut at in ways.iter().copied() {
        while matches!(parts.get(at), Some(Part::Star | Part::DoubleStar)) {
            at += 1;
            all.insert(at);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expect: bool) {
        assert_eq!(fits(pattern.as_bytes(), path.as_bytes()), expect, "{pattern} {path}");
    }

    #[test]
    fn stars_stand_for_names() {
        check("/x/*", "/x/a", true);
        check("/x/*", "/x/a/b", false);
        check("/x/**", "/x/a/b", true);
        check("/x/lock-*", "/x/lock-7", true);
        check("/x/lock-*", "/x/other", false);
        check("/**/master", "/a/b/master", true);
        check("/x", "/x", true);
        check("/x", "/x/y", false);
        check("**", "", true);
        check("**/a", "/a", true);
        check("/x/*a*/b", "/x/aa/b", true);
        check("/x/*a*/b", "/x/aa/c/b", false);
        check("/**/a*/**/b", "/1/a2/3/4/b", true);
        check("/***/a", "/x/y/a", true);
    }

    #[test]
    fn no_pattern_takes_for_ever() {
        let path = "/a".repeat(2_000);
        check(&"**a".repeat(8), &path, true);
        check(&format!("{}b", "**a*/".repeat(8)), &path, false);
    }
}
