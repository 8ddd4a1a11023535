//! What happened to whom since we watch, in bounded memory: enough for a session's history.

use std::collections::VecDeque;
use std::sync::Arc;

use super::time::TimeMs;
use super::znode::SessionId;

/// Happenings remembered over all sessions; the oldest goes first.
pub const HAPPENINGS_MAX: usize = 8_192;

/// What happened to a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It queued up.
    Joined,
    /// It holds.
    Held,
    /// It held, and its znode was deleted.
    Released,
    /// It left without having held.
    Left,
    /// It went with its session.
    SessionEnded,
    /// It was gone after a gap in our view.
    GoneInGap,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEvent {
    /// When, as we saw it.
    pub at: TimeMs,
    /// To whom.
    pub session: SessionId,
    /// The lock.
    pub lock: Arc<str>,
    /// The znode's name.
    pub node: Box<str>,
    /// What.
    pub what: What,
}

/// The last happenings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub(crate) ring: VecDeque<SessionEvent>,
}

impl History {
    /// Notes one.
    pub fn note(&mut self, happening: SessionEvent) {
        if self.ring.len() >= HAPPENINGS_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(happening);
    }

    /// Those of one session, newest first.
    pub fn of(&self, session: SessionId) -> impl Iterator<Item = &SessionEvent> {
        self.ring.iter().rev().filter(move |happening| happening.session == session)
    }

    /// A session turned out to have ended: what was believed to be releases since then were none.
    pub fn ended(&mut self, session: SessionId, since: TimeMs) {
        let late = self.ring.iter_mut().rev().take_while(|happening| happening.at >= since);
        for happening in late.filter(|happening| happening.session == session) {
            if matches!(happening.what, What::Released | What::Left) {
                happening.what = What::SessionEnded;
            }
        }
    }
}

/// What one session lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndingSession {
    /// When the first of it went.
    pub since: TimeMs,
    /// How many znodes.
    pub znodes: u32,
    /// Its client was silent, and its session was due to expire about then.
    pub ran_out: bool,
}

/// What was counted over the whole ensemble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Watch events taken in.
    pub events: u64,
    /// Syncs begun after the first.
    pub resyncs: u64,
    /// Contenders that went before they could be read.
    pub owner_unknown: u64,
    /// Creations that only a Stat showed.
    pub missed: u64,
}
