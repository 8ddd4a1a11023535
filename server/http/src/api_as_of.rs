//! How far an answer of the API can be trusted.

use lockscope_wire::{AsOf, RootState, Zxid, age_ms, is_fresh};
use schemars::JsonSchema;
use serde::Serialize;

use feed::Known;
use runtime::clock::Clock;

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
}

impl AsOfJson {
    pub(super) fn new(as_of: &AsOf, known: Known, now_ms: i64) -> Self {
        if known.is_past {
            return Self::past(as_of, now_ms);
        }
        let at_ms = if as_of.state.is_current() { known.at_ms } else { as_of.since_ms };
        // What was live when it was read may not be so by the time it is sent.
        let state = if as_of.state.is_current() && !is_fresh(at_ms, now_ms) { RootState::Stale } else { as_of.state };
        Self { state, zxid: as_of.zxid, at_ms, age_ms: age_ms(at_ms, now_ms), why: as_of.why.clone() }
    }

    /// The same of a view of the past, as it was at an instant. What was not known then is not known now.
    fn past(as_of: &AsOf, at_ms: i64) -> Self {
        let why = if as_of.state.is_current() {
            String::new()
        } else {
            format!("it was {} then: {}", as_of.state.name(), as_of.why)
        };
        let age_ms = age_ms(at_ms, Clock::system().now_ms());
        Self { state: RootState::Past, zxid: as_of.zxid, at_ms, age_ms, why }
    }
}
