//! Sessions that LIVE states call dead, by the word `disconnected` or the verdict `expiring` ("frees itself"), against the
//! log. Pure.
//!
//! The log knows when a session asked for something and when it ended, and not when it was connected. So a claim is false
//! where the session asked again and again for as long as an answer of a member counts, before the claim and after it. Where
//! no client loses its connection, it is false as well if the session did not end about then.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_judge::AGE_MAX_MS;
use lockscope_txn_log::{Change, Transaction};

/// An answer of a member about its clients counts for 15 s, and a LIVE state may be older than it by its own age.
const OLD_MAX_MS: i64 = 15_000 + AGE_MAX_MS;
/// Nobody is off every list of connections between two requests that are so near.
const BUSY_MS: i64 = 500;

/// A session that a LIVE state called dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisconnectClaim {
    pub at_ms: i64,
    pub session: i64,
}

/// What the log says of a session.
#[derive(Debug, Default)]
struct Life {
    requests: BTreeSet<i64>,
    ended_at_ms: Option<i64>,
}

impl Life {
    fn is_busy_around(&self, at_ms: i64) -> bool {
        let from_ms = at_ms - OLD_MAX_MS - BUSY_MS;
        let mut last_ms = from_ms;
        for &request_ms in self.requests.range(from_ms..) {
            if request_ms - last_ms > BUSY_MS {
                return false;
            }
            last_ms = request_ms;
            if last_ms > at_ms {
                return true;
            }
        }
        false
    }

    fn ends_about(&self, at_ms: i64) -> bool {
        self.ended_at_ms.is_some_and(|ended_at_ms| (ended_at_ms - at_ms).abs() <= OLD_MAX_MS)
    }
}

/// What is false, once for each session. `do_clients_stay`: no client loses its connection.
pub fn false_claims(claims: &[DisconnectClaim], transactions: &[Transaction], do_clients_stay: bool) -> Vec<String> {
    let mut lives: BTreeMap<i64, Life> = BTreeMap::new();
    for transaction in transactions {
        let life = lives.entry(transaction.session).or_default();
        match transaction.change {
            Change::CloseSession { .. } => life.ended_at_ms = Some(transaction.time_ms),
            _ => _ = life.requests.insert(transaction.time_ms),
        }
    }
    let is_false = |claim: &&DisconnectClaim| {
        let life = lives.get(&claim.session);
        life.is_some_and(|life| life.is_busy_around(claim.at_ms))
            || do_clients_stay && !life.is_some_and(|life| life.ends_about(claim.at_ms))
    };
    let mut firsts = BTreeMap::new();
    for claim in claims.iter().filter(is_false) {
        firsts.entry(claim.session).or_insert(claim.at_ms);
    }
    let words = |(session, at_ms)| format!("session {session:#x} was called dead at {at_ms}, and it was not");
    firsts.into_iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_MS: i64 = 100_000;

    fn log(requests: impl Iterator<Item = i64>, ends_at_ms: Option<i64>) -> Vec<Transaction> {
        let of = |time_ms, change| Transaction { zxid: time_ms, time_ms, session: 7, cxid: 0, change };
        let requests = requests.map(|at_ms| of(at_ms, Change::Error { code: -101 }));
        requests.chain(ends_at_ms.map(|at_ms| of(at_ms, Change::CloseSession { paths: None }))).collect()
    }

    fn count(log: &[Transaction], do_clients_stay: bool) -> usize {
        false_claims(&[DisconnectClaim { at_ms: AT_MS, session: 7 }; 2], log, do_clients_stay).len()
    }

    #[test]
    fn busy_session_is_not_dead() {
        let busy = log((AT_MS - 20_000..AT_MS + 1_000).step_by(400), None);
        assert_eq!(count(&busy, false), 1);
    }

    #[test]
    fn session_may_have_been_away() {
        let away = |at_ms: &i64| !(AT_MS - 9_000..AT_MS - 7_000).contains(at_ms);
        let requests = (AT_MS - 20_000..AT_MS + 1_000).step_by(400).filter(away);
        assert_eq!(count(&log(requests, None), false), 0);
        let stopped = log((AT_MS - 20_000..AT_MS).step_by(400), None);
        assert_eq!(count(&stopped, false), 0);
    }

    #[test]
    fn where_clients_stay_only_the_end_excuses() {
        let once = || std::iter::once(AT_MS - 30_000);
        assert_eq!(count(&log(once(), None), true), 1);
        assert_eq!(count(&log(once(), Some(AT_MS + 60_000)), true), 1);
        assert_eq!(count(&log(once(), Some(AT_MS - 3_000)), true), 0);
        assert_eq!(count(&[], true), 1);
    }
}
