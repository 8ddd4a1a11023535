//! Live or not: one rule for the server, the page and the command line. The page alone tells late from stale.

use serde::{Deserialize, Serialize};

use super::ProofPart;

/// What proves that a view is as ZooKeeper has it now, as of a moment ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Proof {
    /// The member that Lockscope is connected to answers in time.
    pub answer: ProofPart,
    /// No member reports a newer epoch than that member is in.
    pub epoch: ProofPart,
    /// The leader that it follows has a quorum.
    pub quorum: ProofPart,
}

impl Default for Proof {
    fn default() -> Self {
        Self { answer: ProofPart::Missing, epoch: ProofPart::Missing, quorum: ProofPart::Missing }
    }
}

/// What is shown may be called live while it is known to be true up to an instant no longer ago than this.
pub const LIVE_AGE_MAX_MS: i64 = 2_000;
/// A server that gets answers confirms what it sent before that is older than this, by its own clock. What it confirmed in
/// time, and came too late, is late up to an age, then stale.
const CONFIRMED_AGE_MAX_MS: i64 = 1_500;
const LATE_AGE_MAX_MS: i64 = 4_000;

/// How fresh what a page shows is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// It may be called live.
    #[default]
    Fresh,
    /// The server knew it in time; its confirmation is late.
    Late,
    /// Too old.
    Stale,
}

impl Freshness {
    /// Of what is known to be true up to an instant, when the last frame came that the server sent at `told_ms`.
    pub fn of(known_at_ms: i64, told_ms: i64, now_ms: i64) -> Self {
        // A server that lost the truth goes on sending: then only 2 s count, as on the server.
        let is_confirmed = age_ms(known_at_ms, told_ms) <= CONFIRMED_AGE_MAX_MS;
        match age_ms(known_at_ms, now_ms) {
            ..=LIVE_AGE_MAX_MS => Self::Fresh,
            ..=LATE_AGE_MAX_MS if is_confirmed => Self::Late,
            _ => Self::Stale,
        }
    }
}

/// How old something is that is known to be true up to an instant. A clock that was set back makes nothing younger.
pub fn age_ms(known_at_ms: i64, now_ms: i64) -> i64 {
    now_ms.saturating_sub(known_at_ms).saturating_abs()
}

/// Whether it may be called live.
pub fn is_fresh(known_at_ms: i64, now_ms: i64) -> bool {
    age_ms(known_at_ms, now_ms) <= LIVE_AGE_MAX_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_live_for_longer_than_two_seconds_whatever_the_clock_does() {
        assert!(is_fresh(10_000, 12_000) && is_fresh(10_000, 9_000));
        assert!(!is_fresh(10_000, 12_001) && !is_fresh(10_000, 7_999) && !is_fresh(i64::MIN, i64::MAX));
    }

    #[test]
    fn late_delivery_is_not_stale() {
        let of = |told_ms, now_ms| Freshness::of(10_000, told_ms, now_ms);
        assert_eq!([of(11_000, 12_000), of(11_000, 12_001)], [Freshness::Fresh, Freshness::Late]);
        assert_eq!([of(11_500, 14_000), of(11_500, 14_001)], [Freshness::Late, Freshness::Stale]);
        assert_eq!(of(9_000, 7_000), Freshness::Late, "a clock that was set back makes nothing younger");
    }

    #[test]
    fn stale_in_2_s_where_the_server_lost_it() {
        // Frames come all the while, and none confirms it.
        let judged: Vec<Freshness> =
            (10_000..14_000).step_by(50).map(|now_ms| Freshness::of(10_000, now_ms - now_ms % 250, now_ms)).collect();
        let live = judged.iter().take_while(|one| **one == Freshness::Fresh).count();
        assert_eq!(live, 41, "2 s, and no longer");
        assert!(judged[live..].iter().all(|one| *one == Freshness::Stale), "{judged:?}");
        assert_eq!(Freshness::of(10_000, 0, 12_001), Freshness::Stale, "before the first frame");
    }
}
