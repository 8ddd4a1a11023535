//! What the operator says of locks by their paths: it goes before what names say.

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
    match pattern {
        [] => path.is_empty(),
        [b'*', b'*', rest @ ..] => (0..=path.len()).any(|at| path.get(at..).is_some_and(|path| fits(rest, path))),
        [b'*', rest @ ..] => {
            let name = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
            (0..=name).any(|at| path.get(at..).is_some_and(|path| fits(rest, path)))
        }
        [byte, rest @ ..] => path.split_first().is_some_and(|(first, path)| first == byte && fits(rest, path)),
    }
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
    }
}
