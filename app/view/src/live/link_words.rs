//! How the link to the data stands, in words. Pure.

use crate::{RootState, Zxid};

/// One word, and why.
pub type Words = (&'static str, &'static str);

/// The connection is lost.
pub const OFFLINE: Words = ("OFFLINE", "connection to Lockscope lost; trying again");
/// The sign-in ended.
pub const SIGNED_OUT: Words = ("SIGNED OUT", "your sign-in ended; what you see is the last that came");
/// Nothing to show, and a connection.
pub const CONNECTED: Words = ("CONNECTED", "to Lockscope");
/// Nothing came yet.
pub const WAITING: Words = ("WAITING", "for the first data from Lockscope");
/// Connected again.
pub const RESYNCING: Words = ("RESYNCING", "connected again; waiting for news from ZooKeeper");
/// What comes is too old.
pub const STALE: Words = ("STALE", "what comes from Lockscope is too old");
/// What comes is late, and not yet too old.
pub const LATE: Words = ("LATE", "");
/// Lockscope itself has no session.
pub const LINK_LOST: &str = "LOST";
/// Held back by whoever looks.
pub const PAUSED: &str = "PAUSED";
/// The same as a note.
pub const UPDATES_PAUSED: &str = "updates paused";

/// How a root stands; why only where it says nothing of that itself.
pub fn root_link(state: RootState) -> Words {
    match state {
        RootState::Live => ("LIVE", ""),
        RootState::Syncing => ("RESYNCING", "reading everything anew"),
        RootState::Stale => ("STALE", "no answer from ZooKeeper"),
        RootState::Partial => ("PARTIAL", "some znodes may not be read"),
        RootState::Denied => ("DENIED", "ZooKeeper's access rules keep us out"),
        RootState::Gone => ("GONE", "the root does not exist"),
        RootState::Reduced => ("REDUCED", "watches can't be followed here"),
        RootState::Past => ("AS IT WAS", ""),
    }
}

/// The transaction that is shown.
pub fn as_of(zxid: Zxid) -> String {
    format!("as of zxid {zxid}")
}

/// How old what is shown is.
pub fn old(age: &str) -> String {
    format!("{age} old")
}

/// How old it is.
pub fn ago(age: &str) -> String {
    format!("{age} ago")
}

/// Before the instant that what is shown is from, or since when it is so.
pub fn before_instant(is_old: bool) -> &'static str {
    if is_old { "data from " } else { "since " }
}
