//! One-time links: whoever opens one first is signed in. Only hashes are kept, in memory.

use super::grant::Grant;
use super::secret::{Digest, Secret};

/// Links that are open; the oldest makes room.
pub(super) const LINKS_MAX: usize = 16;
/// A link that nobody opened in this time is none any more.
pub const LINK_MS_MAX: i64 = 15 * 60 * 1_000;

#[derive(Debug)]
struct OneTimeLink {
    key: Digest,
    name: String,
    grant: Grant,
    until_ms: i64,
}

/// Every link that was not opened yet.
#[derive(Debug, Default)]
pub(super) struct OneTimeLinks(Vec<OneTimeLink>);

impl OneTimeLinks {
    pub(super) fn add(&mut self, name: &str, grant: Grant, now_ms: i64) -> Secret {
        if self.0.len() >= LINKS_MAX {
            self.0.remove(0);
        }
        let key = Secret::random();
        self.0.push(OneTimeLink {
            key: key.digest(),
            name: name.to_owned(),
            grant,
            until_ms: now_ms.saturating_add(LINK_MS_MAX),
        });
        key
    }

    /// Whom one would sign in; uses nothing up.
    pub(super) fn look(&self, key: &Secret, now_ms: i64) -> Option<(String, Grant)> {
        let digest = key.digest();
        let link = self.0.iter().find(|link| link.key.is(&digest) && now_ms < link.until_ms)?;
        Some((link.name.clone(), link.grant.clone()))
    }

    /// Uses one up.
    pub(super) fn open(&mut self, key: &Secret, now_ms: i64) -> Option<(String, Grant)> {
        let digest = key.digest();
        let at = self.0.iter().position(|link| link.key.is(&digest))?;
        let link = self.0.remove(at);
        (now_ms < link.until_ms).then_some((link.name, link.grant))
    }

    pub(super) fn any(&self, now_ms: i64, fits: impl Fn(&Grant) -> bool) -> bool {
        self.0.iter().any(|link| now_ms < link.until_ms && fits(&link.grant))
    }

    /// Forgets what was not opened in time.
    pub(super) fn sweep(&mut self, now_ms: i64) {
        self.0.retain(|link| now_ms < link.until_ms);
    }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Role;

    use super::*;

    #[test]
    fn a_link_opens_once_and_in_time() {
        let mut links = OneTimeLinks::default();
        let grant = Grant::everywhere(Role::Operator);
        let key = links.add("demo", grant.clone(), 0);
        assert!(links.open(&Secret::random(), 1).is_none() && links.look(&Secret::random(), 1).is_none());
        assert_eq!(links.look(&key, LINK_MS_MAX - 1), Some(("demo".to_owned(), grant.clone())));
        assert!(links.look(&key, LINK_MS_MAX).is_none());
        assert_eq!(links.open(&key, LINK_MS_MAX - 1), Some(("demo".to_owned(), grant.clone())));
        assert!(links.open(&key, LINK_MS_MAX - 1).is_none());
        let late = links.add("demo", grant.clone(), 0);
        assert!(!links.any(LINK_MS_MAX, |_| true));
        assert!(links.open(&late, LINK_MS_MAX).is_none());
        (0..100).for_each(|_| drop(links.add("demo", grant.clone(), 0)));
        assert_eq!(links.0.len(), LINKS_MAX);
    }
}
