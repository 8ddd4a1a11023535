//! How often somebody may ask: so many times a second for long, and a burst at once. Pure: the time is an argument.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Callers that are remembered; beyond it a new one is let pass uncounted until others have been quiet for a while.
const REMEMBERED_MAX: usize = 10_000;

#[derive(Debug)]
pub struct RateLimit<K> {
    /// Time that one question uses up.
    each: Duration,
    /// Time that may be used ahead.
    ahead: Duration,
    used_until: HashMap<K, Instant>,
}

impl<K: Eq + Hash + Clone> RateLimit<K> {
    pub fn new(per_second: u32, burst: u32) -> Self {
        let each = Duration::from_secs(1) / per_second.max(1);
        Self { each, ahead: each * burst.max(1), used_until: HashMap::new() }
    }

    /// Counts one, of a caller who has so many shares.
    ///
    /// # Errors
    /// How long the caller has to wait, when it asked too often. That it asked again is not held against it.
    pub fn take(&mut self, caller: &K, shares: u32, now: Instant) -> Result<(), Duration> {
        let used_until = self.used_until.get(caller).copied().unwrap_or(now).max(now) + self.each / shares.max(1);
        let used = used_until.saturating_duration_since(now);
        if used > self.ahead {
            return Err(used - self.ahead);
        }
        if self.used_until.len() >= REMEMBERED_MAX && !self.used_until.contains_key(caller) {
            self.used_until.retain(|_, until| *until > now);
            if self.used_until.len() >= REMEMBERED_MAX {
                return Ok(());
            }
        }
        self.used_until.insert(caller.clone(), used_until);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate_holds_for_that_caller_only() {
        let began = crate::clock::instant();
        let mut limit = RateLimit::new(10, 20);
        let at = |ms| began + Duration::from_millis(ms);
        assert_eq!((0..100).filter(|_| limit.take(&"a", 1, began).is_ok()).count(), 20);
        assert_eq!(limit.take(&"a", 1, began), Err(Duration::from_millis(100)));
        assert!(limit.take(&"b", 1, began).is_ok());
        assert_eq!((0..100).filter(|_| limit.take(&"a", 1, at(1_000)).is_ok()).count(), 10);
        assert_eq!((0..100).filter(|_| limit.take(&"house", 4, began).is_ok()).count(), 80, "four shares");
        let in_a_minute = (0..6_000).filter(|step| limit.take(&"a", 1, at(1_000 + step * 10)).is_ok()).count();
        assert!((590..=610).contains(&in_a_minute), "{in_a_minute}");
        assert_eq!(
            (0..100).filter(|_| limit.take(&"a", 1, at(100_000)).is_ok()).count(),
            20,
            "who was quiet has a burst again"
        );
    }

    #[test]
    fn what_is_remembered_has_a_maximum() {
        let began = crate::clock::instant();
        let mut limit = RateLimit::new(1, 1);
        (0..2 * REMEMBERED_MAX).for_each(|caller| assert!(limit.take(&caller, 1, began).is_ok()));
        assert_eq!(limit.used_until.len(), REMEMBERED_MAX);
        assert!(limit.take(&(3 * REMEMBERED_MAX), 1, began + Duration::from_secs(2)).is_ok());
        assert_eq!(limit.used_until.len(), 1, "those who were quiet are forgotten");
    }
}
