//! The page of how waits differ, in words. Pure.

use super::view::ChosenWaits;
use crate::format::{count, duration, plural, visible};
use crate::server_pages::words::{percent, recorded};
use lockscope_view::past::{Differs, Dimension};

pub(super) const CELL: &str = "Each cell";
pub(super) const CHOOSE: &str = " is a link: it selects the waits of that time and length, and below stands what they have in common that the others do not.";
pub(super) const SELECTED: &str = "selected";
pub(super) const ALL_SELECTED: &str = "All waits of the range are selected, so there is nothing to hold them against: choose a cell, or fill in the form.";
pub(super) const NONE_SELECTED: &str = "No wait is selected: choose another cell, or a larger part.";
pub(super) const CHANCE: &str = "This says what goes together, not why. Of few waits, or where nearly each has a value of its own, shares differ by chance.";
pub(super) const SAMPLED: &str = "In some minutes so much happened that short waits may have been left out.";
pub(super) const OF_SELECTED: &str = "Of those selected";
pub(super) const OF_REST: &str = "Of the rest";
pub(super) const DIFFERENCE: &str = "differs by";
pub(super) const NOT_KNOWN: &str = "not known";

pub(super) fn dimension(name: &str) -> &str {
    match name {
        "host" => "Host",
        "client" => "Client",
        "application" => "Application",
        "recipe" => "Recipe",
        "lock" => "Lock",
        "hour" => "Hour of the day (UTC)",
        "end" => "How it ended",
        other => other,
    }
}

pub(super) fn value(dimension: &str, value: Option<&str>) -> String {
    match (dimension, value) {
        (_, None) => NOT_KNOWN.to_owned(),
        ("hour", Some(hour)) => format!("{hour}:00"),
        ("end" | "recipe", Some(name)) => name.replace('_', " "),
        (_, Some(value)) => visible(value),
    }
}

pub(super) fn waits(min_ms: i64, max_ms: Option<i64>) -> String {
    match max_ms {
        None if min_ms == 0 => "any length".to_owned(),
        None => format!("≥ {}", duration(min_ms)),
        Some(max_ms) if min_ms == 0 => format!("< {}", duration(max_ms)),
        Some(max_ms) => format!("{} to {}", duration(min_ms), duration(max_ms)),
    }
}

pub(super) fn selected(of: &Differs, chosen: &ChosenWaits) -> String {
    let all = of.selected + of.others;
    format!(
        "{} of {} of {} ",
        count(of.selected),
        plural(all, "wait", "waits"),
        waits(chosen.min_wait_ms, chosen.max_wait_ms)
    )
}

/// What is shown where nobody waited, or nothing says so.
pub(super) fn nobody(known_part: f64) -> &'static str {
    if known_part > 0.0 {
        "No wait for a lock that began in this range is recorded."
    } else {
        "Nothing of this range is recorded."
    }
}

pub(super) fn coverage(known_part: f64) -> String {
    recorded(known_part, "")
}

pub(super) fn without_wait(lives: u64) -> Option<String> {
    (lives > 0).then(|| {
        format!(
            "Of {} no wait is known: they held before anybody looked, were gone after a gap, or wait for nothing.",
            plural(lives, "further contender", "further contenders")
        )
    })
}

pub(super) fn difference(of: &Dimension) -> String {
    let sign = if of.is_lower_bound { "≥ " } else { "" };
    of.difference.map_or(String::new(), |difference| format!(" {sign}{}", percent(difference)))
}

pub(super) fn further(values: usize, is_lower_bound: bool) -> String {
    let sign = if is_lower_bound { "≥ " } else { "" };
    format!("{sign}{}", plural(values as u64, "further value", "further values"))
}

pub(super) fn share(part: Option<f64>, waits: u64) -> String {
    part.map_or("–".to_owned(), |part| format!("{} · {}", percent(part), count(waits)))
}

/// What a cell is, for who can't see where it is.
pub(super) fn cell(waits_there: u64, row: &str, from: &str) -> String {
    format!("{} of {row}, from {from}", plural(waits_there, "wait", "waits"))
}
