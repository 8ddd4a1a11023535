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
    if number == 1 { "1 alert fires".to_owned() } else { format!("{} {MANY}", count(number as u64)) }
}

pub(super) fn looks_at_it(by: &str) -> String {
    format!("{} has looked at it for", crate::format::visible(by))
}
