//! The life of a contender while it lasts, and what it was when it ended.

use lockscope_core::label::label_of;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};

use super::event::{Contender, ContenderPlace, HeldSince, Identity};
use super::holder_log::{Totals, WaitRange};
use crate::store::rows::{Charges, Span, SpanEnd};

/// A contender that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) place: ContenderPlace,
    /// Since when it counts as waiting: since it arrived, or since we look.
    pub(super) arrived_at: TimeMs,
    /// Its creation on our clock, never after its arrival; its arrival while that is unknown.
    pub(super) joined_at: TimeMs,
    /// It came while nobody watched.
    pub(super) is_found: bool,
    pub(super) identity: Option<KnownAs>,
    pub(super) held: Option<HeldSince>,
    /// It waits, and counts as waiting.
    pub(super) is_waiting: bool,
    /// It is in a semaphore's queue and got its lease.
    pub(super) is_passed: bool,
    /// What was counted of its lock before it joined.
    pub(super) before: Totals,
    /// What its wait was spent on, once it is over.
    pub(super) charges: Option<Charges>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownAs {
    pub(super) czxid: Zxid,
    pub(super) session: Option<SessionId>,
    pub(super) ctime_ms: i64,
    label: Option<Box<str>>,
}

impl Life {
    pub(super) fn new(contender: &Contender, now: TimeMs, is_found: bool) -> Self {
        // One that was there before it was a lock's waited there since it arrived.
        let arrived_at = if is_found { now } else { contender.arrived_at.min(now) };
        Self {
            place: contender.place,
            arrived_at,
            joined_at: arrived_at,
            is_found,
            identity: None,
            held: None,
            is_waiting: false,
            is_passed: false,
            before: Totals::default(),
            charges: None,
        }
    }

    /// Takes in what a read showed. By how much longer it has been there than was believed.
    pub(super) fn identify(&mut self, node: &str, identity: &Identity, offset_ms: i64) -> i64 {
        let Identity { czxid, session, ctime_ms, payload } = identity;
        let is_first = self.identity.is_none();
        let label = label_of(node, payload).map(Into::into);
        self.identity = Some(KnownAs { czxid: *czxid, session: *session, ctime_ms: *ctime_ms, label });
        if is_first && self.place != ContenderPlace::Lease { self.follow_offset(offset_ms) } else { 0 }
    }

    /// Works out when it joined. By how much sooner that is than was believed.
    pub(super) fn follow_offset(&mut self, offset_ms: i64) -> i64 {
        let Some(known) = &self.identity else { return 0 };
        let joined_at = TimeMs(known.ctime_ms.saturating_add(offset_ms)).min(self.arrived_at);
        let before = std::mem::replace(&mut self.joined_at, joined_at);
        before.0.saturating_sub(joined_at.0)
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        self.identity.as_ref().and_then(|known| known.session)
    }

    pub(super) fn czxid(&self) -> Option<Zxid> {
        self.identity.as_ref().map(|known| known.czxid)
    }

    /// How long it waited by then. Whoever held when we began to look was not seen to wait.
    pub(super) fn wait_ms(&self, until: TimeMs) -> i64 {
        match self.held {
            Some(held) if held.is_lower_bound => 0,
            Some(held) => held.at.since(self.joined_at),
            None => until.since(self.joined_at),
        }
    }

    pub(super) fn wait(&self, until: TimeMs) -> WaitRange {
        let from = self.joined_at.min(until);
        WaitRange { from, until: from + self.wait_ms(until), before: self.before }
    }

    /// The life of it when it ended; None of one that was never read: nothing says which it was.
    pub(super) fn span(&self, node: &str, lock: &str, recipe: &str, left_at: TimeMs, end: EndOfLife) -> Option<Span> {
        let known = self.identity.as_ref()?;
        let joined_at = self.joined_at.min(left_at);
        let held_at = self.held.map(|held| held.at.max(joined_at).min(left_at));
        Some(Span {
            czxid: known.czxid,
            lock: lock.into(),
            recipe: recipe.into(),
            node: node.into(),
            session: known.session,
            label: known.label.clone(),
            host: end.host,
            joined_at,
            held_at,
            left_at,
            how: end.how,
            charges: self.charges.clone(),
            wait_ms: self.wait_ms(left_at),
            is_lower_bound: self.held.is_some_and(|held| held.is_lower_bound),
        })
    }
}

#[derive(Debug)]
pub(super) struct EndOfLife {
    pub(super) how: SpanEnd,
    pub(super) host: Option<Box<str>>,
}
