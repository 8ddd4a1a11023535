//! What the band says, with what it depends on filled in.

use super::super::format::{date, duration, visible};

/// What stands where a live page has the state of its link.
pub(super) const AS_IT_WAS: &str = "AS IT WAS";
/// Of a step by time that would end in a gap.
pub(super) const AS_FAR_AS_KNOWN: &str = "To the edge of a gap: of the moment itself nothing is known";
/// Beside it, where nothing of what is shown was observed.
pub(super) const GENERATED: &str = "generated for the demo";
/// Moments nearby.
pub(super) const CHANGE_BEFORE: &str = "Change of a verdict before";
pub(super) const EVENT_BEFORE: &str = "Event before";
pub(super) const EVENT_AFTER: &str = "Next event";
pub(super) const CHANGE_AFTER: &str = "Next change of a verdict";
/// Before the nearest moments, where nothing is known of the one asked for.
pub(super) const LAST_BEFORE: &str = "The last moment before it:";
pub(super) const FIRST_AFTER: &str = "The first moment after it:";

/// How long ago it was; of a recording that has ended, how long before its end.
pub(super) fn since(age: &str, is_over: bool) -> String {
    format!("{age} {}", if is_over { "before the end" } else { "ago" })
}

pub(super) fn not_sure(why: &str) -> String {
    format!("Not known to be all that was true then: {}", visible(why))
}

pub(super) fn not_shown(ensembles: &str) -> String {
    format!("Not shown: {}", visible(ensembles))
}

/// The way to the present, or to the last moment where there is none.
pub(super) fn present(is_over: bool) -> &'static str {
    if is_over { "To the end" } else { "Back to live" }
}

pub(super) fn released(at_ms: i64) -> String {
    format!("Released by Lockscope, {}; leads to the moment before", date(at_ms))
}

pub(super) fn way(to: &str, away_ms: i64, key: &str) -> String {
    format!("{to}: {} away ({key})", duration(away_ms))
}
