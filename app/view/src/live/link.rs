//! How the link to the data stands: live, or since when not. One rule for the page and the terminal.

use super::link_words::{self as words, Words};
use crate::{AsOf, Body, EnsembleTag, Freshness, Link, RootState, visible};

/// The connection to Lockscope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Not made yet; what is shown was rendered a moment ago.
    Opening,
    /// Frames arrive.
    Open,
    /// Frames arrive again; what was shown before counts for nothing until it is known to be true of a later instant.
    Back {
        /// When they began to arrive, by the server's clock.
        at_ms: i64,
    },
    /// None arrives.
    Lost,
    /// The server does not know us any more, and nobody unknown may look.
    SignedOut,
}

/// What the line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// `data-state` of the line.
    pub state: &'static str,
    /// The word in capitals.
    pub word: &'static str,
    /// Since when, where that matters.
    pub since_ms: Option<i64>,
    /// The rest, in words.
    pub why: String,
}

impl LinkState {
    /// True when the data on screen may be shown without doubt.
    pub fn is_live(&self) -> bool {
        matches!(self.state, "live" | "late" | "reduced" | "partial")
    }
}

/// What the banner says: `known_at_ms` is up to when what is shown is known to be true. That instant is what everything
/// that is not live is dated from, whatever comes in between, until it is live again.
pub fn link_state(
    connection: Connection,
    as_of: Option<&AsOf>,
    awaits_data: bool,
    freshness: Freshness,
    known_at_ms: Option<i64>,
) -> LinkState {
    let is_current = as_of.is_none_or(|as_of| as_of.state.is_current());
    let known_ms = if is_current { known_at_ms } else { as_of.map(|as_of| as_of.since_ms) };
    let since_ms = known_ms.filter(|since_ms| *since_ms > 0);
    let told = |state, (word, why): Words, since_ms| LinkState { state, word, since_ms, why: why.to_owned() };
    if connection == Connection::Lost {
        return told("offline", words::OFFLINE, since_ms);
    }
    if connection == Connection::SignedOut {
        return told("out", words::SIGNED_OUT, None);
    }
    if as_of.is_none() && !awaits_data {
        // A page that shows no data of its own, or the answer that there is no such lock.
        return told("live", words::CONNECTED, None);
    }
    let Some(as_of) = as_of else {
        return told("syncing", words::WAITING, None);
    };
    if is_current && matches!(connection, Connection::Back { .. }) {
        return told("syncing", words::RESYNCING, since_ms);
    }
    if is_current && freshness == Freshness::Stale {
        return told("stale", words::STALE, since_ms);
    }
    if as_of.state == RootState::Live && freshness == Freshness::Late {
        return told("late", words::LATE, None);
    }
    let why = visible(&as_of.why);
    let since_ms = Some(as_of.since_ms).filter(|since_ms| *since_ms > 0);
    // What is live has a reason only where something happened to the whole ensemble.
    let since_ms = since_ms.filter(|_| as_of.state != RootState::Live || !why.is_empty());
    let (word, otherwise) = words::root_link(as_of.state);
    let why = if why.is_empty() { otherwise.to_owned() } else { why };
    LinkState { state: as_of.state.name(), word, since_ms, why }
}

/// How far a view can be trusted, and whose it is; None where it says nothing of that.
pub fn as_of(body: &Body) -> Option<AsOf> {
    match body {
        Body::Board(board) => Some(board.head.as_of.clone()),
        Body::Lock(page) => page.as_ref().map(|page| page.head.as_of.clone()),
        Body::Waits(waits) => Some(waits.as_of.clone()),
        Body::Sessions(sessions) => Some(sessions.head.as_of.clone()),
        Body::Session(page) => page.as_ref().map(|page| page.as_of.clone()),
        Body::Lab(_) | Body::Events(_) | Body::QueueMap(_) => None,
        Body::Status(status) => status.ensembles.first().map(|ensemble| AsOf {
            state: match ensemble.link {
                Link::Live => RootState::Live,
                Link::Syncing => RootState::Syncing,
                Link::Stale | Link::Lost => RootState::Stale,
            },
            since_ms: ensemble.since_ms,
            why: ensemble.why.clone(),
            zxid: ensemble.zxid,
            ensemble: ensemble
                .color
                .filter(|_| status.ensembles.len() == 1)
                .map(|color| EnsembleTag { name: ensemble.name.clone(), color }),
            proof: ensemble.proof,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_of(state: RootState, why: &str) -> AsOf {
        AsOf { state, since_ms: 5, why: why.to_owned(), ..AsOf::default() }
    }

    fn open(as_of: &AsOf) -> LinkState {
        link_state(Connection::Open, Some(as_of), false, Freshness::Fresh, Some(9))
    }

    #[test]
    fn a_lost_connection_outweighs_what_was_live() {
        let lost = link_state(Connection::Lost, Some(&as_of(RootState::Live, "")), false, Freshness::Fresh, Some(9));
        assert_eq!((lost.state, lost.since_ms), ("offline", Some(9)));
        assert!(!lost.is_live());
        let out =
            link_state(Connection::SignedOut, Some(&as_of(RootState::Live, "")), false, Freshness::Fresh, Some(9));
        assert_eq!((out.state, out.is_live()), ("out", false));
    }

    #[test]
    fn live_needs_data_that_is_young() {
        assert_eq!(link_state(Connection::Open, None, true, Freshness::Fresh, None).state, "syncing");
        assert!(open(&as_of(RootState::Live, "")).is_live());
        assert_eq!(open(&as_of(RootState::Stale, "disconnected")).why, "disconnected");
        let old = link_state(Connection::Open, Some(&as_of(RootState::Partial, "")), false, Freshness::Stale, Some(9));
        assert_eq!((old.state, old.since_ms), ("stale", Some(9)));
    }

    #[test]
    fn late_is_not_live_and_not_in_doubt() {
        let late = |state| link_state(Connection::Open, Some(&as_of(state, "")), false, Freshness::Late, Some(9));
        assert_eq!((late(RootState::Live).state, late(RootState::Live).since_ms), ("late", None));
        assert!(late(RootState::Live).is_live());
        assert_eq!([RootState::Partial, RootState::Stale].map(|state| late(state).state), ["partial", "stale"]);
    }

    #[test]
    fn whatever_the_reason_it_is_told_since_the_same_instant() {
        let (live, stale) = (as_of(RootState::Live, ""), as_of(RootState::Stale, "disconnected"));
        for connection in [Connection::Lost, Connection::Back { at_ms: 50 }, Connection::Open] {
            for freshness in [Freshness::Fresh, Freshness::Stale] {
                let was_live = link_state(connection, Some(&live), false, freshness, Some(9));
                assert!(was_live.is_live() || was_live.since_ms == Some(9), "{was_live:?}");
                assert_eq!(was_live.is_live(), connection == Connection::Open && freshness == Freshness::Fresh);
                assert_eq!(
                    link_state(connection, Some(&stale), false, freshness, Some(9)).since_ms,
                    Some(5),
                    "as ZooKeeper's link has it"
                );
            }
        }
    }
}
