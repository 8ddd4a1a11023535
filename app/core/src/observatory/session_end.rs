//! Telling a session's end from releases: when several znodes of one session go at once and none is left, the session
//! ended. A session with a single znode can't be recognised that way; what closes it looks like a release, unless its
//! client was silent and the znode was deleted when the session was due to expire.

use std::sync::Arc;

use super::Observatory;
use crate::change::{Change, Departure};
use crate::evidence::Liveness;
use crate::history::{EndingSession, SessionEvent, What};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Znodes of an ending session go in one transaction; their events arrive within this time.
const TOGETHER_MS: i64 = 50;
/// Sessions followed at a time; more are not judged.
const LEAVING_MAX: usize = 4_096;

/// Four-letter words print whole seconds, so a reported expiry may be this much later than the true one.
const PRINTED_MS: i64 = 1_000;

impl Observatory {
    /// A session lost a contender, which had come at an instant.
    pub(super) fn left(&mut self, now: TimeMs, session: SessionId, arrived_at: TimeMs) {
        if self.state.ending_sessions.len() >= LEAVING_MAX && !self.state.ending_sessions.contains_key(&session) {
            return;
        }
        // As the members reported it when it went: their next answers leave out a session that ended.
        let ran_out = self.ran_out(session, now);
        let left =
            self.state.ending_sessions.entry(session).or_insert(EndingSession { since: now, znodes: 0, ran_out });
        if now.since(left.since) > TOGETHER_MS {
            *left = EndingSession { since: now, znodes: 0, ran_out };
        } else if left.znodes > 0 && arrived_at >= left.since {
            // What had gone before it came did not go with it: its client releases and queues up again within moments.
            let is_gone = |past: &&SessionEvent| matches!(past.what, What::Released | What::Left);
            let with_it = self.history.of(session).take_while(|past| past.at > arrived_at).filter(is_gone);
            let (since, znodes) = with_it.fold((now, 0), |(_, znodes), past| (past.at, znodes + 1));
            *left = EndingSession { since, znodes: znodes.max(1) - 1, ran_out };
        }
        left.znodes += 1;
    }

    /// Judges the sessions that lost znodes long enough ago for all their events to be here.
    pub(super) fn settle_sessions(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let due: Vec<SessionId> = self
            .state
            .ending_sessions
            .iter()
            .filter(|(_, left)| now.since(left.since) >= TOGETHER_MS)
            .map(|(session, _)| *session)
            .collect();
        for session in due {
            let Some(EndingSession { since, znodes, ran_out }) = self.state.ending_sessions.remove(&session) else {
                continue;
            };
            if (znodes < 2 && !ran_out) || self.roots_of(session).any(|view| view.mirror.owns_at_least(session, 1)) {
                continue;
            }
            self.history.ended(session, since);
            self.mark_ended(now, session, since);
            out.push(Change::SessionEnded { session, znodes });
        }
    }

    /// Somebody knows whether a session ended; what would have been concluded counts no more.
    pub(super) fn session_told(&mut self, now: TimeMs, session: SessionId, has_ended: bool, out: &mut Vec<Change>) {
        let left = self.state.ending_sessions.remove(&session);
        if has_ended {
            self.evidence.note_timeout(now, session, None);
            // What it let go before was let go, however short before.
            self.history.ended(session, now);
            self.mark_ended(now, session, now);
            out.push(Change::SessionEnded { session, znodes: left.map_or(0, |left| left.znodes) });
        }
    }

    /// Whether the members reported a silent or lost client, and that its session runs out about then. Had it come
    /// back, it would run out later.
    fn ran_out(&self, session: SessionId, at: TimeMs) -> bool {
        let peer = self.evidence.peer(session, at);
        let is_lost = matches!(peer.liveness, Liveness::Silent | Liveness::Disconnected);
        is_lost && peer.runs_out.is_some_and(|runs_out| at + self.evidence.tick_ms() + PRINTED_MS >= runs_out.at)
    }

    /// The holds of a session that ended were not released.
    fn mark_ended(&mut self, now: TimeMs, session: SessionId, since: TimeMs) {
        let locks: Vec<Arc<str>> = self
            .history
            .of(session)
            .take_while(|happening| happening.at >= since)
            .map(|happening| Arc::clone(&happening.lock))
            .collect();
        for path in locks {
            let Some(lock) = self.locks.get_mut(&path) else { continue };
            let ended =
                lock.tally.past.iter_mut().filter(|past| past.hold.owner == Some(session) && past.until >= since);
            ended.for_each(|past| past.how = Departure::SessionEnded);
            lock.revision = self.revision + 1;
            self.plan_look(now, &path);
        }
    }
}
