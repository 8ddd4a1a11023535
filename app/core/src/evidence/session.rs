//! What is known of one session beyond its znodes.

use std::sync::Arc;

use super::silence::{Heard, Silences};
use super::{Connection, Expiry};
use crate::time::TimeMs;

/// An answer that is older says nothing of now: twice the pause between rounds, and a bit.
pub const FRESH_MS: i64 = 15_000;
/// Clients ping after a third of the time-out without traffic; so much of that is left for the way.
const LATE_PARTS: i64 = 8;

/// Whether a session's client is alive. Meanings as in the wire's enum of the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Liveness {
    Connected,
    Silent,
    Disconnected,
    #[default]
    Unknown,
}

/// When a session expires if its client stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsOut {
    /// On our clock.
    pub at: TimeMs,
    /// The leader said so; else it is the latest it can be.
    pub is_told: bool,
}

/// What is shown of a session's client, as of the last round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientState {
    /// Client address, host:port; the last one where it is connected no more.
    pub address: Option<Arc<str>>,
    /// The member it is or was connected to.
    pub member: Option<Arc<str>>,
    /// Whether its client is alive.
    pub liveness: Liveness,
    /// When it runs out; for those that are not connected.
    pub runs_out: Option<RunsOut>,
}

/// An expiry as it was reported: every sign of life moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedEnd {
    /// As it was reported.
    pub expiry: Expiry,
    /// When it was asked for first.
    pub since: TimeMs,
    /// When it was asked for last.
    pub asked_at: TimeMs,
}

/// What is known of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its client's address.
    pub address: Option<Arc<str>>,
    /// The member that listed it last.
    pub member: Option<Arc<str>>,
    /// Negotiated time-out.
    pub timeout_ms: Option<i64>,
    /// Connected since, on our clock as far as the member's wall clock agrees with the leader's.
    pub connected_since: Option<TimeMs>,
    /// Its last operation.
    pub last_operation: Option<Arc<str>>,
    /// When the member last answered it.
    pub heard_at: Option<TimeMs>,
    /// When its member was last asked and listed it; None when the member's last answer left it out.
    pub listed_at: Option<TimeMs>,
    /// When it was last known to be there: listed, or first mentioned.
    pub seen_at: TimeMs,
    /// Since when no member lists it.
    pub gone_since: Option<TimeMs>,
    /// When it runs out, and the round that said so.
    pub runs_out: Option<(RunsOut, u64)>,
    /// The end as the leader spells it, and for how long it has been that.
    pub end: Option<ReportedEnd>,
    /// Packets that its member received from it, as of the last answer.
    pub received: Option<u64>,
    /// The last round that spoke of it.
    pub round: u64,
    /// Its last client state.
    pub told: ClientState,
    /// How long it was silent, between signs of life.
    pub silences: Silences,
}

/// An instant on a member's clock wanders by some milliseconds as more is learnt of that clock. What moves by less than
/// this stays: a change is sent to all who look, and half a second is not seen on any page.
const WANDERS_MS: u64 = 500;

/// Since when a connection is there: as it was said before, unless more than the estimate of the clock changed.
pub(super) fn steady(before: Option<TimeMs>, now: Option<TimeMs>) -> Option<TimeMs> {
    before.filter(|before| now.is_some_and(|now| now.0.abs_diff(before.0) < WANDERS_MS)).or(now)
}

impl SessionRecord {
    /// Since when it is connected to a member from an address; None if it is not.
    pub(super) fn connected_at(&self, member: &Arc<str>, address: &str) -> Option<TimeMs> {
        let is_same = self.address.as_deref() == Some(address) && self.member.as_ref() == Some(member);
        self.connected_since.filter(|_| is_same)
    }

    /// Takes in what a member says of its connection.
    pub(super) fn take_in(
        &mut self,
        connection: &Connection,
        member: &Arc<str>,
        asked_at: TimeMs,
        answered_at: Option<TimeMs>,
    ) {
        let moved = self.address.as_deref() != Some(&*connection.address) || self.member.as_ref() != Some(member);
        if moved {
            self.address = Some((*connection.address).into());
            self.member = Some(Arc::clone(member));
            self.received = None;
        }
        if connection.timeout_ms > 0 {
            self.timeout_ms = Some(connection.timeout_ms);
        }
        // A member that does not stamp still counts: more packets than last time is a sign of life since then.
        let was_heard = answered_at.or_else(|| (connection.received != self.received).then_some(asked_at));
        self.note_silence(connection, asked_at, answered_at, moved);
        self.heard_at = if moved { was_heard } else { was_heard.max(self.heard_at) };
        self.received = connection.received;
        if self.last_operation.as_deref() != connection.last_operation.as_deref() {
            self.last_operation = connection.last_operation.as_deref().map(Into::into);
        }
        self.listed_at = Some(asked_at);
        self.seen_at = self.seen_at.max(asked_at);
        self.gone_since = None;
    }

    /// Takes in how long it was silent; before anything else of the answer is taken in that this compares with.
    fn note_silence(
        &mut self,
        connection: &Connection,
        asked_at: TimeMs,
        answered_at: Option<TimeMs>,
        has_moved: bool,
    ) {
        // Nobody lives that was silent for much longer than its time-out: nobody asked then.
        let longest_ms = self.timeout_ms.unwrap_or(0).saturating_mul(2);
        let is_one_packet = self.received.zip(connection.received).is_some_and(|(a, b)| b.checked_sub(1) == Some(a));
        self.silences.note(Heard {
            asked_at,
            answered_ms: connection.answered_ms,
            heard_at: answered_at,
            heard_before: self.heard_at.filter(|at| asked_at.since(*at) <= longest_ms),
            listed_before: self.listed_at,
            has_moved,
            is_one_packet,
        });
    }

    /// Takes in an end that was asked for at an instant; whether it moved.
    pub(super) fn ends(&mut self, expiry: Expiry, asked_at: TimeMs) -> bool {
        match &mut self.end {
            Some(end) if end.expiry == expiry => {
                end.asked_at = end.asked_at.max(asked_at);
                false
            }
            end => end.replace(ReportedEnd { expiry, since: asked_at, asked_at }).is_some(),
        }
    }

    /// Whether the leader's answers show that it was silent for longer than clients let pass: its end stays where
    /// it is, whichever member it is connected to.
    fn is_end_still(&self, now: TimeMs, tick_ms: i64) -> bool {
        let (Some(end), Some(timeout_ms)) = (self.end, self.timeout_ms) else { return false };
        now.since(end.asked_at) <= FRESH_MS && end.asked_at.since(end.since) > third(timeout_ms).saturating_add(tick_ms)
    }

    /// Whether its client is alive, as of now. A third of the time-out is what clients let pass before they ping.
    pub fn liveness(&self, now: TimeMs, tick_ms: i64) -> Liveness {
        match (self.listed_at, self.gone_since) {
            (Some(listed_at), _) if now.since(listed_at) <= FRESH_MS => match self.heard_at.zip(self.timeout_ms) {
                Some((heard_at, timeout_ms)) if listed_at.since(heard_at) > third(timeout_ms) => Liveness::Silent,
                _ => Liveness::Connected,
            },
            // An end that moves long after is a sign of life, at a member that nobody knows of.
            (None, Some(gone)) if self.end.is_none_or(|end| end.since.since(gone) <= FRESH_MS) => {
                Liveness::Disconnected
            }
            _ if self.is_end_still(now, tick_ms) => Liveness::Silent,
            _ => Liveness::Unknown,
        }
    }

    /// What is shown of it; `is_fresh`: all members were asked lately.
    pub(super) fn peer(&self, now: TimeMs, tick_ms: i64, is_fresh: bool) -> ClientState {
        let liveness = match self.liveness(now, tick_ms) {
            // It may have come back at a member that was not asked since; that would move its end.
            Liveness::Disconnected if !is_fresh && self.is_end_still(now, tick_ms) => Liveness::Silent,
            Liveness::Disconnected if !is_fresh => Liveness::Unknown,
            liveness => liveness,
        };
        let told = self.runs_out.map(|(runs_out, _)| runs_out);
        let runs_out = match liveness {
            Liveness::Connected | Liveness::Unknown => None,
            Liveness::Silent => told,
            Liveness::Disconnected => told.or_else(|| {
                let at = self.gone_since? + self.timeout_ms? + tick_ms;
                Some(RunsOut { at, is_told: false })
            }),
        };
        ClientState { address: self.address.clone(), member: self.member.clone(), liveness, runs_out }
    }

    /// Stores its client state; whether that changed.
    pub(super) fn tell(&mut self, now: TimeMs, tick_ms: i64, is_fresh: bool) -> bool {
        let peer = self.peer(now, tick_ms, is_fresh);
        let is_news = peer != self.told;
        if is_news {
            self.told = peer;
        }
        is_news
    }
}

fn third(timeout_ms: i64) -> i64 {
    timeout_ms / 3 + timeout_ms / (3 * LATE_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_begin_of_a_connection_moves_only_by_what_is_seen() {
        let at = |ms| Some(TimeMs(ms));
        assert_eq!(steady(None, at(7_000)), at(7_000));
        assert_eq!(steady(at(7_000), at(7_004)), at(7_000), "the clock's estimate wanders");
        assert_eq!(steady(at(7_000), at(6_400)), at(6_400));
        assert_eq!(steady(at(7_000), None), None);
        assert_eq!(steady(at(i64::MIN), at(i64::MAX)), at(i64::MAX));
    }

    #[test]
    fn another_connection_has_its_own() {
        let member: Arc<str> = "m1".into();
        let known = SessionRecord {
            address: Some("10.0.0.1:4000".into()),
            member: Some(Arc::clone(&member)),
            connected_since: Some(TimeMs(7_000)),
            ..SessionRecord::default()
        };
        assert_eq!(known.connected_at(&member, "10.0.0.1:4000"), Some(TimeMs(7_000)));
        assert_eq!(known.connected_at(&member, "10.0.0.1:4001"), None);
        assert_eq!(known.connected_at(&"m2".into(), "10.0.0.1:4000"), None);
    }
}
