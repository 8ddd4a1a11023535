//! Who tells a receiver, where several servers watch the same and each finds the same alerts. Receivers for which twice is
//! once are told by all; others by one, which notes what it told where the others read it. Pure but for the trait.
//!
//! Each server has its own alerts, found by its own clock: rule, ensemble and lock say that two are the same.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::notification::Notification;

const KEY_BYTES: usize = 12;
/// What is kept of one receiver. Overflow policy: what is over goes first, then the oldest; it may be told again.
pub const MARKS_MAX: usize = 1_000;
/// For how long what is over is kept: servers find it within seconds of each other.
const OVER_MS_MAX: i64 = 3_600_000;
/// For so long a server may find later than another that something is over.
const LAG_MS_MAX: i64 = 60_000;

pub type DutyAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Other servers that find the same alerts.
pub trait Duty: fmt::Debug + Send + Sync {
    /// Whether this server is the one that tells, now. `overdue_ms`: for so long nobody told.
    fn is_ours(&self, overdue_ms: i64) -> bool;
    /// Whether no other server was heard of for so long that nobody may be waited for: then each server tells by itself, and
    /// what is told once too often is better than not at all.
    fn is_cut_off(&self) -> bool;
    /// What a receiver was told, by whichever server.
    fn told<'a>(&'a self, route: &'a str) -> DutyAnswer<'a, Ledger>;
    fn note<'a>(&'a self, route: &'a str, told: Ledger) -> DutyAnswer<'a, ()>;
}

/// What a receiver was told last of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    /// When the alert fired, ms since the epoch.
    fired_at_ms: i64,
    /// When it was over; None while it fired.
    resolved_at_ms: Option<i64>,
    /// When the receiver was told.
    at_ms: i64,
}

/// What one receiver was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    marks: BTreeMap<String, Mark>,
}

impl Ledger {
    /// As it is stored; what is none is empty: then things are told again.
    pub fn parse(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn of(told: &[Notification], now_ms: i64) -> Self {
        let mark = |one: &Notification| {
            let mark = Mark { fired_at_ms: one.fired_at_ms, resolved_at_ms: one.resolved_at_ms, at_ms: now_ms };
            (shared_key(one), mark)
        };
        Self { marks: told.iter().map(mark).collect() }
    }

    /// With what was told since, and without what nobody asks for any more.
    #[must_use]
    pub fn with(mut self, newer: &Self) -> Self {
        let now_ms = newer.marks.values().map(|mark| mark.at_ms).max().unwrap_or(i64::MIN);
        self.marks.extend(newer.marks.clone());
        self.marks.retain(|_, mark| mark.resolved_at_ms.is_none() || now_ms.saturating_sub(mark.at_ms) <= OVER_MS_MAX);
        while self.marks.len() > MARKS_MAX {
            let oldest = self.marks.iter().min_by_key(|(_, mark)| (mark.resolved_at_ms.is_none(), mark.at_ms));
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { break };
            self.marks.remove(&key);
        }
        self
    }

    /// Whether a receiver was told of this already. `repeat_ms`: after so long it is told again of what still fires.
    /// `looks_since_ms`: this server looks at the ensemble since then, and does not know how long before that it fired; None
    /// where it knows that it fires anew.
    pub fn has_told(
        &self,
        one: &Notification,
        repeat_ms: Option<i64>,
        now_ms: i64,
        looks_since_ms: Option<i64>,
    ) -> bool {
        let Some(mark) = self.marks.get(&shared_key(one)) else { return false };
        match (one.resolved_at_ms, mark.resolved_at_ms) {
            (None, None) => {
                let is_due = repeat_ms.is_some_and(|repeat_ms| now_ms.saturating_sub(mark.at_ms) >= repeat_ms);
                // Told before this server looked, or by one that finds things sooner, and of no end: it is the same.
                let latest_ms = match looks_since_ms {
                    Some(since_ms) if mark.at_ms < since_ms => i64::MAX,
                    Some(_) => mark.at_ms.saturating_add(LAG_MS_MAX),
                    None => mark.at_ms,
                };
                one.fired_at_ms <= latest_ms && !is_due
            }
            // It is over by what another server found; ours finds it too, or it fires anew.
            (None, Some(ended_ms)) => one.fired_at_ms <= ended_ms && now_ms.saturating_sub(mark.at_ms) < LAG_MS_MAX,
            (Some(_), None) => false,
            (Some(_), Some(ended_ms)) => one.fired_at_ms <= ended_ms,
        }
    }
}

impl Ledger {
    /// For how long a receiver is to be told of this and is not.
    pub fn overdue_ms(&self, one: &Notification, repeat_ms: Option<i64>, now_ms: i64) -> i64 {
        let mark = self.marks.get(&shared_key(one)).filter(|mark| mark.resolved_at_ms.is_none());
        let due_ms = match (one.resolved_at_ms, mark) {
            (Some(ended_ms), _) => ended_ms,
            (None, Some(mark)) => mark.at_ms.saturating_add(repeat_ms.unwrap_or(0)).max(one.fired_at_ms),
            (None, None) => one.fired_at_ms,
        };
        now_ms.saturating_sub(due_ms).max(0)
    }
}

/// So many bytes of the hash of some texts and what comes behind them, in hexadecimal.
pub(crate) fn hash_of(texts: [&str; 3], rest: &[u8], bytes: usize) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.update(rest);
    let mut key = hex::encode(hash.finalize());
    key.truncate(2 * bytes);
    key
}

/// The same for the same alert of any server.
pub fn shared_key(one: &Notification) -> String {
    hash_of([&one.rule, &one.ensemble, &one.lock], &[], KEY_BYTES)
}

#[cfg(test)]
mod tests {
    use lockscope_view::Severity;

    use super::*;

    fn one(lock: &str, fired_at_ms: i64, resolved_at_ms: Option<i64>) -> Notification {
        Notification {
            key: format!("{lock}-{fired_at_ms}"),
            rule: "blocked".to_owned(),
            ensemble: "prod".to_owned(),
            lock: lock.to_owned(),
            severity: Severity::Critical,
            since_ms: fired_at_ms,
            fired_at_ms,
            resolved_at_ms,
            sentence: String::new(),
            link: None,
        }
    }

    #[test]
    fn what_one_server_told_no_other_tells() {
        let ledger = Ledger::of(&[one("/a", 1_000, None)], 1_100);
        assert!(ledger.has_told(&one("/a", 1_003, None), None, 2_000, None), "the other found it three ms later");
        assert!(!ledger.has_told(&one("/b", 1_003, None), None, 2_000, None));
        assert!(!ledger.has_told(&one("/a", 1_003, Some(1_500)), None, 2_000, None), "that it is over, nobody told");
        assert!(!ledger.has_told(&one("/a", 9_000, None), None, 9_500, None), "it fires anew");
        let again = one("/a", 1_003, None);
        assert_eq!(ledger.overdue_ms(&again, Some(60_000), 61_150), 50, "since it was to be told again");
        assert_eq!(ledger.overdue_ms(&one("/b", 1_003, None), Some(60_000), 61_003), 60_000);
        let is_told = |fired_at_ms, looks_since_ms| {
            ledger.has_told(&one("/a", fired_at_ms, None), None, fired_at_ms, Some(looks_since_ms))
        };
        assert!(is_told(90_000, 80_000), "this server looks at it only since then, and it fires still");
        assert!(is_told(1_200, 1_000), "the other found and told it 100 ms sooner");
        assert!(!is_told(90_000, 1_000), "this server saw all of it");
        assert!(
            !ledger.has_told(&one("/a", 1_003, None), Some(60_000), 61_100, None),
            "it is told again of what still fires"
        );
        let over = ledger.with(&Ledger::of(&[one("/a", 1_000, Some(5_000))], 5_100));
        assert!(over.has_told(&one("/a", 1_003, Some(5_004)), None, 6_000, None));
        assert!(over.has_told(&one("/a", 1_003, None), None, 6_000, None), "ours finds the end in a moment");
        assert!(!over.has_told(&one("/a", 1_003, None), None, 65_100, None), "and if it does not, it still fires");
        assert!(!over.has_told(&one("/a", 7_000, None), None, 7_100, None), "fired after that");
    }

    #[test]
    fn it_stays_small_and_survives_anything() {
        let mut ledger = Ledger::default();
        for at in 0..3_000 {
            let over = (at % 2 == 0).then_some(at);
            ledger = ledger.with(&Ledger::of(&[one(&format!("/{at}"), at, over)], at));
        }
        assert!(ledger.marks.len() == MARKS_MAX && ledger.to_bytes().len() < 128 * 1024);
        assert!(ledger.has_told(&one("/2999", 2_999, None), None, 3_000, None), "what fires is kept longest");
        assert_eq!(Ledger::parse(&ledger.to_bytes()), ledger);
        assert_eq!(Ledger::parse(b"{"), Ledger::default());
    }

    #[test]
    fn keys_are_of_rule_ensemble_and_lock_alone() {
        assert_eq!(shared_key(&one("/a", 1, None)), shared_key(&one("/a", 2, Some(3))));
        assert_ne!(shared_key(&one("/a", 1, None)), shared_key(&one("/b", 1, None)));
    }
}
