//! How many releases in how much time: one a lock in ten seconds, five an actor in a minute.

use std::collections::{BTreeMap, VecDeque};

use lockscope_audit::person_key;

/// Pause between two releases of one lock.
pub const LOCK_PAUSE_MS: i64 = 10_000;
/// Releases of one actor …
pub const ACTOR_ACTS_MAX: usize = 5;
/// … within this time.
pub const ACTOR_WINDOW_MS: i64 = 60_000;
/// Locks and actors remembered. Both are bounded by those who may release; beyond it everybody waits.
const REMEMBERED_MAX: usize = 10_000;

/// What was done lately.
#[derive(Debug, Default)]
pub(super) struct Limits {
    locks: BTreeMap<(String, String), i64>,
    actors: BTreeMap<String, VecDeque<i64>>,
}

impl Limits {
    /// How long to wait before an actor may release a lock; None when that is now.
    pub(super) fn wait_ms(&mut self, now_ms: i64, actor: &str, ensemble: &str, lock: &str) -> Option<i64> {
        // A clock that was set back must not lock anybody out for longer than the limit itself.
        self.locks.retain(|_, at| (0..LOCK_PAUSE_MS).contains(&(now_ms - *at)));
        for times in self.actors.values_mut() {
            times.retain(|at| (0..ACTOR_WINDOW_MS).contains(&(now_ms - *at)));
        }
        self.actors.retain(|_, times| !times.is_empty());
        let of_lock = self.locks.get(&(ensemble.to_owned(), lock.to_owned())).map(|at| at + LOCK_PAUSE_MS - now_ms);
        let of_actor = self
            .actors
            .get(&person_key(actor))
            .filter(|times| times.len() >= ACTOR_ACTS_MAX)
            .and_then(|times| times.front());
        let of_actor = of_actor.map(|at| at + ACTOR_WINDOW_MS - now_ms);
        let is_full = self.locks.len() >= REMEMBERED_MAX || self.actors.len() >= REMEMBERED_MAX;
        of_lock.max(of_actor).max(is_full.then_some(LOCK_PAUSE_MS))
    }

    /// A release begins.
    pub(super) fn note(&mut self, now_ms: i64, actor: &str, ensemble: &str, lock: &str) {
        self.locks.insert((ensemble.to_owned(), lock.to_owned()), now_ms);
        self.actors.entry(person_key(actor)).or_default().push_back(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_lock_and_five_an_actor() {
        let mut limits = Limits::default();
        for lock in 0..5 {
            let (now, lock) = (lock * 1_000, format!("/{lock}"));
            assert_eq!(limits.wait_ms(now, "anna", "e", &lock), None);
            limits.note(now, "anna", "e", &lock);
        }
        assert_eq!(limits.wait_ms(5_000, "ben", "e", "/4"), Some(9_000), "the lock was released a moment ago");
        assert_eq!(limits.wait_ms(5_000, "ben", "other", "/4"), None, "another ensemble's");
        assert_eq!(limits.wait_ms(14_000, "ben", "e", "/4"), None);
        for name in ["anna", "ANNA", "an\u{200b}na", "аnna"] {
            assert_eq!(limits.wait_ms(20_000, name, "e", "/9"), Some(40_000), "five in a minute: {name:?}");
        }
        assert_eq!(limits.wait_ms(60_000, "anna", "e", "/9"), None);
        assert_eq!(limits.wait_ms(-5_000, "anna", "e", "/4"), None, "a clock that was set back");
    }
}
