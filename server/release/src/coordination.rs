//! Other servers that release: whose turn an act is, and limits that hold for all of them together. Whoever coordinates is
//! handed in; the ledger of the limits is pure.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::limits::{ACTOR_WINDOW_MS, LOCK_PAUSE_MS, Limits};

/// Releases that are remembered for all servers. Overflow policy: nobody releases until the oldest is out of the window.
const ENTRIES_MAX: usize = 1_000;

/// The turn to act on a lock: whatever ends it when it is dropped.
pub type Turn = Box<dyn Any + Send>;

/// A release that is about to begin, for limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitedRelease {
    /// Its plan: the same plan is counted once.
    pub plan_id: String,
    pub actor: String,
    pub ensemble: String,
    pub lock: String,
}

/// Servers that release together.
pub trait Coordination: fmt::Debug + Send + Sync + 'static {
    fn turn<'a>(&'a self, ensemble: &'a str, lock: &'a str) -> BoxFuture<'a, Result<Turn, String>>;

    /// Counts a release; or how many milliseconds to wait before it may begin, and then nothing is counted.
    fn count(&self, release: LimitedRelease) -> BoxFuture<'_, Result<Option<i64>, String>>;
}

/// What was released lately, by all servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedLedger {
    entries: VecDeque<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    at_ms: i64,
    #[serde(flatten)]
    release: LimitedRelease,
}

impl SharedLedger {
    /// As it is stored; what is none is empty.
    pub fn parse(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Counts a release; or how long to wait, ms. The clocks of servers differ a little: what another did a moment from now
    /// counts as done now, and what lies further ahead is of a clock that is wrong, and does not count.
    pub fn count(&mut self, now_ms: i64, release: LimitedRelease) -> Option<i64> {
        self.entries.retain(|entry| {
            let age_ms = now_ms.saturating_sub(entry.at_ms);
            (-LOCK_PAUSE_MS..ACTOR_WINDOW_MS).contains(&age_ms)
        });
        if self.entries.iter().any(|entry| entry.release.plan_id == release.plan_id) {
            return None;
        }
        let mut limits = Limits::default();
        for Entry { at_ms, release } in &self.entries {
            limits.note((*at_ms).min(now_ms), &release.actor, &release.ensemble, &release.lock);
        }
        let is_full = self.entries.len() >= ENTRIES_MAX;
        let wait_ms = limits.wait_ms(now_ms, &release.actor, &release.ensemble, &release.lock);
        let wait_ms = wait_ms.max(is_full.then_some(LOCK_PAUSE_MS));
        if wait_ms.is_none() {
            self.entries.push_back(Entry { at_ms: now_ms, release });
        }
        wait_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(plan: &str, actor: &str, lock: &str) -> LimitedRelease {
        LimitedRelease {
            plan_id: plan.to_owned(),
            actor: actor.to_owned(),
            ensemble: "e".to_owned(),
            lock: lock.to_owned(),
        }
    }

    #[test]
    fn limits_hold_for_all_servers_together() {
        let mut ledger = SharedLedger::default();
        for at in 0..5 {
            // As another server reads it each time.
            ledger = SharedLedger::parse(&ledger.to_bytes());
            assert_eq!(ledger.count(at * 1_000, release(&format!("p{at}"), "anna", &format!("/{at}"))), None);
        }
        assert_eq!(ledger.count(5_000, release("q", "ben", "/4")), Some(9_000), "the lock was released a moment ago");
        assert_eq!(ledger.count(20_000, release("r", "ANNA", "/9")), Some(40_000), "five in a minute");
        assert_eq!(ledger.count(5_000, release("p4", "anna", "/4")), None, "the same plan is counted once");
        assert_eq!(ledger.count(60_000, release("r", "anna", "/9")), None);
    }

    #[test]
    fn a_clock_that_is_wrong_keeps_nobody_out() {
        let mut ledger = SharedLedger::default();
        assert_eq!(ledger.count(3_600_000, release("p", "anna", "/a")), None);
        assert_eq!(ledger.count(0, release("q", "anna", "/a")), None, "an hour ahead");
        let mut ledger = SharedLedger::default();
        assert_eq!(ledger.count(2_000, release("p", "anna", "/a")), None);
        assert_eq!(ledger.count(0, release("q", "ben", "/a")), Some(10_000), "two seconds ahead count as now");
        assert_eq!(SharedLedger::parse(b"nonsense"), SharedLedger::default());
    }

    #[test]
    fn it_has_an_end() {
        let mut ledger = SharedLedger::default();
        for at in 0..2_000 {
            ledger.count(0, release(&at.to_string(), &format!("actor-{at}"), &format!("/{at}")));
        }
        assert_eq!(ledger.entries.len(), ENTRIES_MAX);
    }
}
