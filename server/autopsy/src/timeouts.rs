//! The time-outs of open sessions, as transactions and snapshots have them. Said of those that own something under the
//! roots, once each. Pure.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;
use lockscope_core::observation::Observation;
use lockscope_core::znode::SessionId;
use lockscope_txn_log::Session;

/// Open sessions whose time-out is remembered: as many as the model keeps. Overflow policy: that of further ones is not
/// known.
const SESSIONS_MAX: usize = lockscope_core::evidence::SESSIONS_MAX;

#[derive(Clone, Copy, Debug)]
struct Open {
    timeout_ms: i32,
    is_told: bool,
}

/// What open sessions negotiated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeouts {
    open: HashMap<i64, Open, RandomState>,
    /// Told, and over since, as a snapshot shows.
    over: BTreeSet<i64>,
}

impl Timeouts {
    pub(crate) fn new(open: &[Session]) -> Self {
        let mut timeouts = Self::default();
        open.iter().for_each(|session| timeouts.opened(session.id, session.timeout_ms));
        timeouts
    }

    pub(crate) fn opened(&mut self, session: i64, timeout_ms: i32) {
        if let Some(open) = self.open.get_mut(&session) {
            // A snapshot that is written meanwhile has it already.
            open.timeout_ms = timeout_ms;
        } else if self.open.len() < SESSIONS_MAX {
            self.open.insert(session, Open { timeout_ms, is_told: false });
        }
    }

    /// A session ended. Whether its time-out had been told.
    pub(crate) fn closed(&mut self, session: i64) -> bool {
        self.open.remove(&session).is_some_and(|open| open.is_told)
    }

    /// Goes on with the sessions of a snapshot.
    pub(crate) fn replace(&mut self, open: &[Session]) {
        let before = std::mem::take(&mut self.open);
        *self = Self { over: std::mem::take(&mut self.over), ..Self::new(open) };
        for (session, was) in before {
            match self.open.get_mut(&session) {
                Some(open) => open.is_told = was.is_told,
                None if was.is_told => _ = self.over.insert(session),
                None => {}
            }
        }
    }

    /// A session owns something: its time-out is reported if it was not before.
    pub(crate) fn tell(&mut self, session: i64, out: &mut dyn FnMut(Observation)) {
        if let Some(open) = self.open.get_mut(&session).filter(|open| !open.is_told) {
            open.is_told = true;
            out(told(session, Some(open.timeout_ms)));
        }
    }

    /// Tells all anew: of those who own something, and of those of whom it was told before.
    pub(crate) fn tell_all(&mut self, owners: impl Iterator<Item = i64>, out: &mut dyn FnMut(Observation)) {
        for session in std::mem::take(&mut self.over) {
            out(told(session, None));
        }
        for session in owners {
            if let Some(open) = self.open.get_mut(&session) {
                open.is_told = true;
            }
        }
        let mut all: Vec<(i64, i32)> = self
            .open
            .iter()
            .filter(|(_, open)| open.is_told)
            .map(|(session, open)| (*session, open.timeout_ms))
            .collect();
        all.sort_unstable();
        all.into_iter().for_each(|(session, timeout_ms)| out(told(session, Some(timeout_ms))));
    }
}

fn told(session: i64, timeout_ms: Option<i32>) -> Observation {
    Observation::SessionTimeout { session: SessionId(session), timeout_ms: timeout_ms.map(i64::from) }
}
