//! How far the page of a lock can be trusted, in words. Pure.

use crate::format::plural;
use lockscope_view::{RootState, Trust, Zxid};

/// What an item is about, at length: the view, the link, the clock, the clients, the watches.
pub(super) const AS_OF: &str = "The newest transaction that the view is known to include";
pub(super) const LINK: &str = "The watched root of this lock";
pub(super) const CLOCK: &str =
    "Our clock against the ensemble's, by how much that may be wrong: ages of waits and holds are no surer";
pub(super) const CLIENTS: &str = "When every member was asked who is connected to it";
pub(super) const WATCHES: &str = "When every member was asked who watches what";
pub(super) const BEHIND: &str = "Against the newest transaction that a member reported";

pub(super) const LINK_UNKNOWN: &str = "link unknown";
pub(super) const LINK_LIVE: &str = "link live";
/// The same of a page of the past: nobody may take it for now.
pub(super) const LINK_WAS_LIVE: &str = "link was live then";
pub(super) const BEFORE_THEN: &str = " before";
pub(super) const CLIENTS_UNKNOWN: &str = "clients not known: no server was asked";
/// What is missing then, and what would help.
pub(super) const CLIENTS_HELP: &str = ", so no client is called disconnected and no lock expiring; write `4lw.commands.whitelist=srvr,cons,dump,wchp,mntr` into the configuration of each server, or `admin.enableServer=true` and `admin.serverPort=8080` with --admin-url; the status page says what each one answered";
pub(super) const WATCHES_UNREAD: &str = "watches: reading…";
pub(super) const CLIENTS_SEEN: &str = "clients seen ";
pub(super) const WATCHES_READ: &str = "watches read ";
pub(super) const AGO: &str = " ago";

/// How an item begins that has a word which explains itself.
#[derive(Clone, Copy)]
pub(super) struct Jargon {
    pub(super) lead: &'static str,
    pub(super) word: &'static str,
    pub(super) term: &'static str,
}

const JARGON: [Jargon; 3] = [
    Jargon { lead: "as of ", word: "zxid", term: "zxid" },
    Jargon { lead: "", word: "clients", term: "evidence" },
    Jargon { lead: "", word: "watches", term: "watch" },
];

impl Jargon {
    pub(super) fn of(text: &str) -> Option<Self> {
        JARGON.into_iter().find(|of| text.strip_prefix(of.lead).is_some_and(|rest| rest.starts_with(of.word)))
    }

    pub(super) fn bytes(self) -> usize {
        self.lead.len() + self.word.len()
    }
}

pub(super) fn as_of(zxid: Zxid) -> String {
    format!("as of zxid {zxid}")
}

pub(super) fn link_is(state: RootState) -> String {
    format!("link {state}")
}

/// The same of a page of the past; with what it was, where there is an age behind it.
pub(super) fn link_was(state: RootState) -> String {
    format!("link was {state} then")
}

pub(super) fn link_was_for(state: RootState) -> String {
    format!("link was {state} then, for ")
}

/// The same before for how long.
pub(super) fn link_for(state: RootState) -> String {
    format!("link {state} for ")
}

pub(super) fn clock_text(offset_ms: Option<i64>, error_ms: Option<i64>) -> String {
    let error = error_ms.map_or("unknown".to_owned(), |ms| format!("{} ms", ms.max(0)));
    offset_ms.map_or("clock not compared yet".to_owned(), |ms| format!("clocks differ by {} ms (±{error})", ms.abs()))
}

/// How many members said who is connected.
fn heard(trust: &Trust) -> String {
    format!("{} of {} servers", trust.members_heard, trust.members)
}

/// After how long ago that was.
pub(super) fn ago_heard(trust: &Trust) -> String {
    format!("{AGO} ({})", heard(trust))
}

/// The same of a page of the past.
pub(super) fn heard_before(trust: &Trust) -> String {
    format!("{BEFORE_THEN} ({})", heard(trust))
}

pub(super) fn clients_from(trust: &Trust) -> String {
    format!("clients from {} only", heard(trust))
}

pub(super) fn was_behind(transactions: u64) -> String {
    match transactions {
        0 => "was up to date then".to_owned(),
        _ => format!("was behind by {} then", plural(transactions, "transaction", "transactions")),
    }
}

pub(super) fn behind(transactions: u64) -> String {
    match transactions {
        0 => "up to date".to_owned(),
        _ => format!("behind by {}", plural(transactions, "transaction", "transactions")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_never_surer_than_known() {
        assert_eq!(clock_text(None, None), "clock not compared yet");
        assert_eq!(clock_text(Some(12), Some(4)), "clocks differ by 12 ms (±4 ms)");
        assert_eq!(clock_text(Some(-3), None), "clocks differ by 3 ms (±unknown)");
    }
}
