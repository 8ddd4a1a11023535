//! How far an answer of the API can be trusted.

use lockscope_view::{AsOf, Proof, RootState, Zxid, age_ms, is_fresh};
use schemars::JsonSchema;
use serde::Serialize;

use lockscope_live::Known;
use lockscope_runtime::clock::Clock;

/// What is said is known to be true up to `at_ms`. It is live only while that is at most 2,000 ms ago.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AsOf")]
pub(super) struct AsOfJson {
    /// State of the root's view; of several roots the worst.
    pub(super) state: RootState,
    /// The newest transaction the view is known to include.
    pub(super) zxid: Zxid,
    /// The instant up to which this is known to be true.
    at_ms: i64,
    /// How long ago that is, as of this answer.
    pub(super) age_ms: i64,
    /// Why it is not live; empty when it is.
    why: String,
    /// What proves that it is as ZooKeeper has it now; null of the past. Of several ensembles nothing is proved together.
    proof: Option<Proof>,
}

impl AsOfJson {
    pub(super) fn new(as_of: &AsOf, known: Known, now_ms: i64) -> Self {
        if known.is_past {
            return Self::past(as_of, now_ms);
        }
        let at_ms = if as_of.state.is_current() { known.at_ms } else { as_of.since_ms };
        // What was live when it was read may not be so by the time it is sent.
        let state = if as_of.state.is_current() && !is_fresh(at_ms, now_ms) { RootState::Stale } else { as_of.state };
        let (age_ms, why, proof) = (age_ms(at_ms, now_ms), as_of.why.clone(), Some(as_of.proof));
        Self { state, zxid: as_of.zxid, at_ms, age_ms, why, proof }
    }

    /// The same of a view of the past, as it was at an instant. What was not known then is not known now.
    fn past(as_of: &AsOf, at_ms: i64) -> Self {
        let why = as_of.why_in_the_past();
        let age_ms = age_ms(at_ms, Clock::system().now_ms());
        Self { state: RootState::Past, zxid: as_of.zxid, at_ms, age_ms, why, proof: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_the_past_says_why_it_may_not_be_all_that_was_true() {
        let why = |state| {
            let as_of = AsOf { state, since_ms: 1, why: "no watch".to_owned(), zxid: Zxid(7), ..AsOf::default() };
            AsOfJson::new(&as_of, Known { at_ms: 9, is_live: true, is_past: true }, 9).why
        };
        assert_eq!([RootState::Live, RootState::Gone].map(why), ["", ""]);
        // Of what is read now and then nobody knows how old it was.
        assert_eq!(why(RootState::Reduced), "it was reduced then: no watch");
        for state in [RootState::Partial, RootState::Denied, RootState::Stale, RootState::Syncing] {
            assert!(why(state).starts_with("it was "), "{state:?}");
        }
    }
}
