//! What sessions hold and wait for: a holder that waits itself passes on what it is charged.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

/// Waits of one session that ended and are kept. Overflow policy: the oldest go; what they would pass on stays.
const ENDED_MAX: usize = 64;

/// One wait of a session in another lock.
#[derive(Clone, Debug)]
struct Wait {
    lock: Arc<str>,
    node: Box<str>,
    from: TimeMs,
    arrived_at: TimeMs,
    /// None while it goes on.
    until: Option<TimeMs>,
}

#[derive(Debug, Default)]
struct SessionState {
    /// Znodes of it that hold.
    holds: u32,
    /// When one of them held last.
    held_until: Option<TimeMs>,
    waiting: Vec<Wait>,
    /// Those that ended while it held something.
    ended: VecDeque<Wait>,
}

impl SessionState {
    fn is_idle(&self) -> bool {
        self.holds == 0 && self.waiting.is_empty() && self.ended.is_empty()
    }
}

/// All sessions that hold or wait.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: BTreeMap<SessionId, SessionState>,
}

/// What a session began or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A znode of it waits since then; it was seen to come a moment later.
    Waits {
        session: SessionId,
        node: Box<str>,
        from: TimeMs,
        arrived_at: TimeMs,
    },
    WaitEnds {
        session: SessionId,
        node: Box<str>,
    },
    Holds {
        session: SessionId,
    },
    HoldEnds {
        session: SessionId,
    },
    /// A wait is over, or is known better than before: it is to be charged.
    Charge {
        node: Box<str>,
    },
}

impl Sessions {
    /// Takes in a step at a lock; what is to be charged is for somebody else.
    pub(super) fn take(&mut self, lock: &Arc<str>, step: Step, now: TimeMs) {
        match step {
            Step::Waits { session, node, from, arrived_at } => {
                let wait = Wait { lock: Arc::clone(lock), node, from, arrived_at, until: None };
                self.sessions.entry(session).or_default().waiting.push(wait);
            }
            Step::WaitEnds { session, node } => self.wait_ends(session, lock, &node, now),
            Step::Holds { session } => self.sessions.entry(session).or_default().holds += 1,
            Step::HoldEnds { session } => {
                let Some(state) = self.sessions.get_mut(&session) else { return };
                state.holds = state.holds.saturating_sub(1);
                state.held_until = Some(now);
                if state.is_idle() {
                    self.sessions.remove(&session);
                }
            }
            Step::Charge { .. } => {}
        }
    }

    fn wait_ends(&mut self, session: SessionId, lock: &Arc<str>, node: &str, now: TimeMs) {
        let Some(state) = self.sessions.get_mut(&session) else { return };
        let is_it = |wait: &Wait| *wait.node == *node && wait.lock == *lock;
        let Some(at) = state.waiting.iter().position(is_it) else { return };
        let wait = state.waiting.swap_remove(at);
        let held_meanwhile = state.holds > 0 || state.held_until.is_some_and(|until| until > wait.from);
        // Whoever held as soon as it came did not wait.
        if held_meanwhile && now > wait.from.max(wait.arrived_at) {
            state.ended.push_back(Wait { until: Some(now), ..wait });
            state.ended.drain(..state.ended.len().saturating_sub(ENDED_MAX));
        }
        if state.is_idle() {
            self.sessions.remove(&session);
        }
    }

    /// Forgets waits that ended long ago.
    pub(super) fn forget(&mut self, before: TimeMs) {
        self.sessions.retain(|_, state| {
            state.ended.retain(|wait| wait.until.is_none_or(|until| until > before));
            !state.is_idle()
        });
    }

    /// How many waits of a session are looked through for what it waited for.
    pub(super) fn count(&self, session: SessionId) -> usize {
        self.sessions.get(&session).map_or(0, |state| state.ended.len() + state.waiting.len())
    }

    /// What a session waited for in a range of time, cut to it.
    pub(super) fn waits(&self, session: SessionId, from: TimeMs, until: TimeMs) -> Vec<(&Arc<str>, TimeMs, TimeMs)> {
        let Some(state) = self.sessions.get(&session) else { return Vec::new() };
        let all = state.ended.iter().chain(&state.waiting);
        let cut = all.map(|wait| (&wait.lock, wait.from.max(from), wait.until.map_or(until, |ended| ended.min(until))));
        cut.filter(|(_, from, until)| from < until).collect()
    }
}
