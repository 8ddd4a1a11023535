//! How far an answer of the API can be trusted.

use lockscope_view::api::AgedAsOf;
use lockscope_view::{AsOf, RootState, age_ms, is_fresh};

use lockscope_live::Known;
use lockscope_runtime::clock::Clock;

/// The state as of an answer: what was live when it was read may not be so by the time it is sent.
pub(super) fn state_now(as_of: &AsOf, known: Known, now_ms: i64) -> RootState {
    match as_of.state {
        _ if known.is_past => RootState::Past,
        state if state.is_current() && !is_fresh(known.at_ms, now_ms) => RootState::Stale,
        state => state,
    }
}

pub(super) fn aged_as_of(as_of: &AsOf, known: Known, now_ms: i64) -> AgedAsOf {
    let state = state_now(as_of, known, now_ms).name().into();
    if known.is_past {
        // What was not known then is not known now.
        let why = as_of.why_in_the_past();
        let age_ms = age_ms(now_ms, Clock::system().now_ms());
        return AgedAsOf { state, zxid: as_of.zxid, at_ms: now_ms, age_ms, why, proof: None };
    }
    let at_ms = if as_of.state.is_current() { known.at_ms } else { as_of.since_ms };
    let (age_ms, why, proof) = (age_ms(at_ms, now_ms), as_of.why.clone(), Some(as_of.proof));
    AgedAsOf { state, zxid: as_of.zxid, at_ms, age_ms, why, proof }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Zxid;

    use super::*;

    #[test]
    fn a_view_of_the_past_says_why_it_may_not_be_all_that_was_true() {
        let why = |state| {
            let as_of = AsOf { state, since_ms: 1, why: "no watch".to_owned(), zxid: Zxid(7), ..AsOf::default() };
            aged_as_of(&as_of, Known { at_ms: 9, is_live: true, is_past: true }, 9).why
        };
        assert_eq!([RootState::Live, RootState::Gone].map(why), ["", ""]);
        // Of what is read now and then nobody knows how old it was.
        assert_eq!(why(RootState::Reduced), "it was reduced then: no watch");
        for state in [RootState::Partial, RootState::Denied, RootState::Stale, RootState::Syncing] {
            assert!(why(state).starts_with("it was "), "{state:?}");
        }
    }
}
