//! How near two opposite orders came to each other. A stretch begins when a session that holds the one lock asks for the
//! other, and ends when it has let go of either. Two opposite stretches of two sessions over the same two locks that
//! overlap are a deadlock, or were one until somebody gave up; the closest approach is the shortest time between two.

use std::sync::Arc;

use super::edge::{OrderEdge, OrderKey};
use super::ends::{Approach, OrderEnd};
use crate::znode::{SessionId, Zxid};

/// Sessions whose stretches are followed at a time; what begins beyond that is counted, and not measured.
pub const WINDOW_SESSIONS_MAX: usize = 512;
/// Stretches followed of one session.
pub const WINDOWS_MAX: usize = 16;
/// Ends remembered of one order, of as many sessions.
pub const ENDS_MAX: usize = 8;

/// A stretch under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderWindow {
    /// Which order.
    pub key: OrderKey,
    /// The lock that is held.
    pub held: Arc<str>,
    /// The lock that is asked for.
    pub wanted: Arc<str>,
    /// The znode that holds.
    pub holder: Zxid,
    /// The znode that asks.
    pub asker: Zxid,
}

impl OrderEdge {
    /// Remembers an end, the newest first, one of each session.
    pub(super) fn end(&mut self, end: OrderEnd) {
        if self.ends.iter().any(|known| known.session == end.session && known.at > end.at) {
            return;
        }
        self.ends.retain(|known| known.session != end.session);
        let at = self.ends.iter().position(|known| known.at <= end.at).unwrap_or(self.ends.len());
        self.ends.insert(at, end);
        self.ends.truncate(ENDS_MAX);
    }

    /// The last end of another session over the same two locks, the other way round.
    pub(super) fn last_end(&self, session: SessionId, held: &str, wanted: &str) -> Option<&OrderEnd> {
        let is_opposite = |end: &&OrderEnd| end.session != session && *end.held == *wanted && *end.wanted == *held;
        self.ends.iter().find(is_opposite)
    }

    /// Keeps the closest approach.
    pub(super) fn approach(&mut self, new: Approach) {
        if self.closest.is_none_or(|known| new.ms < known.ms) {
            self.closest = Some(new);
        }
    }
}
