//! What the section on how long waiters still have to wait says. Pure.

use crate::format::{clock, count, duration, plural};
use lockscope_view::words::{between, how_often_right, no_estimate, ordinal};
use lockscope_view::{HoldsSource, TimeToLock, WaitTime};

pub(super) const TITLE: &str = "Time to lock";
/// What stands where the fragment can't be fetched.
pub(super) const NOT_FETCHED: &str = "How long waiters still have to wait could not be loaded: the server may be gone or busy. It is tried again in 10 s.";

pub(super) const PLACE: &str = "Place";
pub(super) const STILL: &str = "Still to wait, 80 %";
pub(super) const MEDIAN: &str = "Median";
pub(super) const RIGHT: &str = "How that is counted";

/// The estimate of the first and of the last in line, in one sentence; or why there is none.
pub(super) fn lead(told: &TimeToLock) -> String {
    if let Some(reason) = told.reason {
        return format!("There is no estimate: {}.", no_estimate(reason));
    }
    let first = told.waits.first().and_then(|wait| wait.remaining);
    let last = told.last.as_ref().filter(|last| last.place > 1).and_then(|last| Some((last.place, last.remaining?)));
    let Some(first) = first else { return "There is no estimate for the first in line.".to_owned() };
    let as_of = clock(told.at_ms);
    let first = format!("The first in line gets it in {}", between(first.low_ms, first.high_ms));
    match last {
        Some((place, last)) => {
            let last = between(last.low_ms, last.high_ms);
            format!("{first}; the last, {}, in {last} (80 %, as of {as_of}).", ordinal(place))
        }
        None => format!("{first} (80 %, as of {as_of})."),
    }
}

/// How often that was right, and what it rests on.
pub(super) fn right(told: &TimeToLock) -> Option<String> {
    if told.reason.is_some() && told.calibration.is_none_or(|calibration| calibration.judged == 0) {
        return None;
    }
    let holds = plural(u64::from(told.hold_count), "hold", "holds");
    Some(match (told.source, told.calibration) {
        (HoldsSource::Recording, Some(calibration)) => match how_often_right(&calibration) {
            Some(right) => {
                let (sooner, later) = (count(calibration.sooner), count(calibration.later));
                format!("Such times were {right}: {sooner} ended sooner, {later} later. From the last {holds}.")
            }
            None => format!("No wait of the last day says yet how often such times are right. From the last {holds}."),
        },
        _ => format!("Nothing recorded says how often such times are right. From {holds} since this server watches."),
    })
}

pub(super) fn name(wait: &WaitTime) -> String {
    let session = || wait.session_id.map(|session| session.to_string());
    wait.label.clone().or_else(session).unwrap_or_else(|| wait.path.clone())
}

/// How long, and the median; or why not.
pub(super) fn range(wait: &WaitTime) -> (String, String) {
    match (wait.remaining, wait.reason) {
        (Some(wait), _) => (between(wait.low_ms, wait.high_ms), duration(wait.middle_ms)),
        (None, Some(reason)) => (format!("not known: {}", no_estimate(reason)), "–".to_owned()),
        (None, None) => ("not known".to_owned(), "–".to_owned()),
    }
}
