//! Where things are below the cluster's root. Pure.

/// Characters of a lock's path that are kept readable in the name of its mutex.
const READABLE_MAX: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    root: String,
}

impl Paths {
    /// Below a root, which is a path without a slash at its end.
    pub(crate) fn new(root: &str) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn members(&self) -> String {
        format!("{}/members", self.root)
    }

    pub(crate) fn member(&self, id: &str) -> String {
        format!("{}/members/{id}", self.root)
    }

    pub(crate) fn latch(&self) -> String {
        format!("{}/leader", self.root)
    }

    /// The directory of the mutex of a lock.
    pub(crate) fn act(&self, ensemble: &str, lock: &str) -> String {
        format!("{}/acts/{}", self.root, escaped(ensemble, lock))
    }

    /// Whether what is in a directory stands in a line, or is a member, and comes back by itself.
    pub(crate) fn is_contended(&self, directory: &str) -> bool {
        let name = directory.strip_prefix(&self.root).and_then(|below| below.split('/').nth(1));
        matches!(name, Some("members" | "leader" | "acts"))
    }

    /// What was released lately, by all replicas.
    pub(crate) fn limits(&self) -> String {
        format!("{}/limits", self.root)
    }

    /// What a receiver was told by whoever led.
    pub(crate) fn told(&self, route: &str) -> String {
        // A route may be called `.`, which no znode is.
        format!("{}/told/_{route}", self.root)
    }
}

/// A name that no two locks share: readable at its beginning, exact by the hash at its end.
fn escaped(ensemble: &str, lock: &str) -> String {
    let readable = format!("{ensemble}{lock}").replace('/', ".");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let readable: String = readable.chars().map(|c| if is_plain(c) { c } else { '_' }).take(READABLE_MAX).collect();
    format!("{readable}.{:016x}", hash(&[ensemble, lock]))
}

/// A hash of some texts that is the same in every version.
pub(crate) fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain(std::iter::once(0)));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mutexes_are_readable_and_differ() {
        let paths = Paths::new("/lockscope");
        let name = paths.act("default", "/locks/order");
        assert!(name.starts_with("/lockscope/acts/default.locks.order."), "{name}");
        let long = |end: &str| paths.act("default", &format!("/{}{end}", "ä/".repeat(5_000)));
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() < 140 && !long("a").contains('ä'));
        assert_ne!(paths.act("a", "/b/c"), paths.act("a", "/b.c"));
        assert_ne!(paths.act("a", "/b"), paths.act("a/", "b"));
    }
}
