//! The line of alerts, in words. Pure.

use crate::format::count;

/// The line's name, for screen readers.
pub(super) const NAME: &str = "Alerts that fire";
pub(super) const FOR: &str = " for ";
pub(super) const UNSEEN: &str = "Not seen for";
/// Of a line that was not fetched anew for a while.
pub(super) const OLD: &str = "may be old";
/// In the title of a notification of several, behind their number.
pub(super) const MANY: &str = "alerts fire";

pub(super) fn fire(number: usize) -> String {
    if number == 1 { "1 alert fires".to_owned() } else { format!("{} {MANY}", many(number)) }
}

pub(super) fn and_more(number: usize) -> String {
    format!("and {} more", many(number))
}

pub(super) fn looks_at_it(by: &str) -> String {
    format!("{} has looked at it for", crate::format::visible(by))
}

fn many(number: usize) -> String {
    count(u32::try_from(number).unwrap_or(u32::MAX))
}
