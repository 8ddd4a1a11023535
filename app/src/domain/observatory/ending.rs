//! Whether what is believed may lie inside one transaction: the end of a session deletes all its znodes at once, but each is
//! told by an event of its own.

use std::collections::BTreeSet;

use super::{Observatory, refresh};
use crate::domain::change::Change;
use crate::domain::mirror::{Child, ChildKey};
use crate::domain::observation::RootId;
use crate::domain::time::TimeMs;
use crate::domain::znode::SessionId;

/// Sessions that are told apart. Overflow policy: what is believed counts as inside a transaction until an answer.
const ENDING_MAX: usize = 64;

/// Sessions that lost a znode and still have others: they may be ending.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    /// Since the last question.
    fresh: Doubt,
    /// Before it: its answer ends the doubt.
    asked: Doubt,
}

#[derive(Clone, Debug, Default)]
struct Doubt {
    sessions: BTreeSet<SessionId>,
    more: bool,
}

impl Doubt {
    fn is_empty(&self) -> bool {
        self.sessions.is_empty() && !self.more
    }

    fn insert(&mut self, session: SessionId) {
        if self.sessions.len() < ENDING_MAX {
            self.sessions.insert(session);
        } else {
            self.more |= !self.sessions.contains(&session);
        }
    }
}

impl Ending {
    pub(super) fn asked(&mut self) {
        let Doubt { sessions, more } = std::mem::take(&mut self.fresh);
        sessions.into_iter().for_each(|session| self.asked.insert(session));
        self.asked.more |= more;
    }
}

impl Observatory {
    /// Whether what is believed may lie inside one transaction: some session lost a znode and still has others, and no
    /// answer has told since that this was all.
    pub fn may_be_within_transaction(&self) -> bool {
        !(self.ending.fresh.is_empty() && self.ending.asked.is_empty())
    }

    /// A znode is gone from the believed tree; a lock that it was the directory of goes with it.
    pub(super) fn forget_node(&mut self, now: TimeMs, root: RootId, path: &str, out: &mut Vec<Change>) -> Option<(ChildKey, Child)> {
        let gone = self.roots.get_mut(root.0 as usize)?.mirror.delete(path);
        if let Some(session) = gone.as_ref().and_then(|(_, child)| child.owner()) {
            self.note_deletion(session);
        }
        if self.locks.get(path).is_some_and(|lock| !lock.is_alone()) {
            self.lose(now, path, refresh::Seen::Watched, out);
        }
        gone
    }

    fn note_deletion(&mut self, session: SessionId) {
        if self.roots.iter().any(|view| view.mirror.owns_at_least(session, 1)) {
            self.ending.fresh.insert(session);
        } else {
            self.ending.fresh.sessions.remove(&session);
            self.ending.asked.sessions.remove(&session);
        }
    }

    pub(super) fn answered(&mut self, out: &mut Vec<Change>) {
        let doubted = self.may_be_within_transaction();
        self.ending.asked = Doubt::default();
        if doubted && !self.may_be_within_transaction() {
            // Whoever waited for the whole of it may look now.
            out.extend(self.roots.first().map(|_| Change::RootChanged(RootId(0))));
        }
    }

    pub(super) fn synced(&mut self, now: TimeMs, sent_at: TimeMs, out: &mut Vec<Change>) {
        self.offset.synced(now, sent_at);
        self.confirmed(sent_at, out);
        self.answered(out);
    }
}
