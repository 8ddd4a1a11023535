//! The list of sessions in words. Pure.

use crate::format::{middle, plural, visible};
use lockscope_view::{SessionGroup, SessionSort};

const NAME_CHARS: usize = 60;

/// What no filter fits.
pub(super) const SESSION: &str = "session";
pub(super) const NO_NAME: &str = "no name";
pub(super) const IS_AWAY: &str = "No longer in this place";
pub(super) const MORE_SESSIONS: &str = "More sessions";
pub(super) const MORE_GROUPS: &str = "More groups";
/// Why there is no session, and what that means.
pub(super) const NOT_READ: (&str, &str) =
    ("Not read yet", "The sessions appear here as soon as ZooKeeper has answered. The line above shows how that goes.");
pub(super) const NONE: (&str, &str) = (
    "No session owns a znode under the watched roots",
    "Everything was read. One that takes or awaits a lock appears at once.",
);

pub(super) fn shows_everything(mistake: &str) -> String {
    format!("{mistake} Showing everything.")
}

pub(super) fn sort(sort: SessionSort) -> &'static str {
    match sort {
        SessionSort::Worst => "worst first",
        SessionSort::Blocks => "blocks most",
        SessionSort::Holds => "holds",
        SessionSort::OldestWait => "oldest wait",
        SessionSort::Ephemerals => "znodes",
        SessionSort::Id => "session id",
    }
}

/// Whose sessions are shown; None where all are.
pub(super) fn sessions_of(host: &str, application: &str) -> Option<String> {
    let name = |name: &str| middle(&visible(name), NAME_CHARS);
    Some(match (host, application) {
        ("", "") => return None,
        (host, "") => format!("Sessions of host {}.", name(host)),
        ("", application) => format!("Sessions of application {}.", name(application)),
        (host, application) => format!("Sessions of {} on host {}.", name(application), name(host)),
    })
}

pub(super) fn sessions_of_all(number: u32, all: u32) -> String {
    let sessions = plural(number.into(), "session", "sessions");
    if number == all { sessions } else { format!("{sessions} of {all}") }
}

pub(super) fn groups(by: SessionGroup, number: u32) -> String {
    match by {
        SessionGroup::Host => plural(number.into(), "host", "hosts"),
        SessionGroup::Session | SessionGroup::Application => plural(number.into(), "application", "applications"),
    }
}
