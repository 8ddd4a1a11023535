//! How the link to the data stands, in words. Pure.

use lockscope_wire::{RootState, Zxid};

/// One word, and why.
pub(super) type Words = (&'static str, &'static str);

pub(super) const OFFLINE: Words = ("OFFLINE", "connection to Lockscope lost; trying again");
pub(super) const SIGNED_OUT: Words = ("SIGNED OUT", "your sign-in ended; what you see is the last that came");
pub(super) const CONNECTED: Words = ("CONNECTED", "to Lockscope");
pub(super) const WAITING: Words = ("WAITING", "for the first data from Lockscope");
pub(super) const RESYNCING: Words = ("RESYNCING", "connected again; waiting for news from ZooKeeper");
pub(super) const STALE: Words = ("STALE", "what comes from Lockscope is too old");
pub(super) const LINK_LOST: &str = "LOST";
pub(super) const PAUSED: &str = "PAUSED";
pub(super) const UPDATES_PAUSED: &str = "updates paused";

/// How a root stands; why only where it says nothing of that itself.
pub(super) fn root_link(state: RootState) -> Words {
    match state {
        RootState::Live => ("LIVE", ""),
        RootState::Syncing => ("RESYNCING", "reading everything anew"),
        RootState::Stale => ("STALE", "no answer from ZooKeeper"),
        RootState::Partial => ("PARTIAL", "some znodes may not be read"),
        RootState::Denied => ("DENIED", "ZooKeeper's access rules keep us out"),
        RootState::Gone => ("GONE", "the root does not exist"),
        RootState::Reduced => ("REDUCED", "the server refuses persistent watches"),
        RootState::Past => ("AS IT WAS", ""),
    }
}

pub(super) fn as_of(zxid: Zxid) -> String {
    format!("as of zxid {zxid}")
}

pub(super) fn ago(age: &str) -> String {
    format!("{age} ago")
}

/// Before the instant that what is shown is from, or since when it is so.
pub(super) fn before_instant(is_old: bool) -> &'static str {
    if is_old { "data from " } else { "since " }
}
