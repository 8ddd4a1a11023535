//! What sessions hold and wait for across all locks.

use std::collections::BTreeMap;

use super::Observatory;
use crate::assessment::AssessedLock;
use crate::history::SessionEvent;
use crate::lock::{ContenderRef, Hold, Lock, Since};
use crate::recipe::{Access, Recipe, Shape};
use crate::znode::{SessionId, Zxid};

/// One znode of a session in one lock.
#[derive(Clone, Debug)]
pub struct SessionLock<'a> {
    /// The lock.
    pub lock: &'a AssessedLock,
    /// The znode.
    pub contender: ContenderRef<'a>,
    /// It holds; else it waits.
    pub hold: Option<&'a Hold>,
    /// What it wants.
    pub access: Access,
    /// Holds since, as we saw it; else waits since.
    pub since: Since,
}

impl SessionLock<'_> {
    /// Identity of its znode.
    pub fn czxid(&self) -> Option<Zxid> {
        self.contender.child.read.as_ref().map(|read| read.czxid)
    }
}

impl Observatory {
    /// Every session that owns znodes under the roots, with how many.
    pub fn sessions(&self) -> BTreeMap<SessionId, u32> {
        if let [view] = self.roots.as_slice() {
            return view.mirror.sessions().collect();
        }
        let mut sessions = BTreeMap::new();
        for (session, count) in self.roots.iter().flat_map(|view| view.mirror.sessions()) {
            *sessions.entry(session).or_default() += count;
        }
        sessions
    }

    /// How many znodes a session owns under the roots.
    pub fn owned_by(&self, session: SessionId) -> u32 {
        self.roots_of(session).map(|view| view.mirror.owned(session)).sum()
    }

    /// What a session holds and waits for in all locks.
    pub fn spots(&self, session: SessionId) -> impl Iterator<Item = SessionLock<'_>> {
        self.spots_where(session, |_| true)
    }

    /// The same of some of its znodes.
    pub(super) fn spots_where<'a>(
        &'a self,
        session: SessionId,
        is_meant: impl Fn(&ContenderRef<'a>) -> bool,
    ) -> impl Iterator<Item = SessionLock<'a>> {
        let owned = self.roots_of(session).flat_map(move |view| view.mirror.owned_by(session));
        let contenders = owned.map(|(directory, key, child)| ContenderRef { directory, key, child });
        contenders.filter(is_meant).filter_map(|contender| {
            let ContenderRef { directory, key, child } = contender;
            let own = self.locks.get(&contender.path()).filter(|lock| lock.is_alone());
            let lock =
                own.or_else(|| self.lock_at(directory)).filter(|lock| lock.is_contender(directory, key, child))?;
            let hold = lock.hold_of(&contender);
            let since = hold.map_or_else(|| Since::of(child), |hold| Since::Arrived(hold.since));
            Some(SessionLock { lock, contender, hold, access: lock.access(&contender), since })
        })
    }

    /// What happened to a session, newest first.
    pub fn happenings(&self, session: SessionId) -> impl Iterator<Item = &SessionEvent> {
        self.history.of(session)
    }

    /// The znode by which a session waits in a lock.
    pub(super) fn waiting_in(&self, lock: &Lock, session: SessionId) -> Option<Box<str>> {
        let mirror = self.mirror_of(lock)?;
        let mut contenders =
            [Some(&lock.parts.main), lock.parts.second.as_ref()].into_iter().flatten().flat_map(|path| {
                let own = mirror.directory(path).into_iter().flat_map(|directory| mirror.owned_in(directory, session));
                own.map(move |(key, child)| ContenderRef { directory: path, key, child })
                    .filter(|contender| lock.is_contender(path, contender.key, contender.child))
            });
        contenders.find(|contender| lock.hold_of(contender).is_none()).map(|contender| contender.key.name().into())
    }
}

/// Where several may hold at once one release is enough to go on, so only a single holder is waited for.
pub(super) fn makes_edges(lock: &Lock) -> bool {
    match lock.recognition.shape {
        Shape::Line if lock.recognition.recipe == Recipe::Semaphore => lock.standing.holders == 1,
        Shape::LeasesAndLocks | Shape::LeasesAndSibling => lock.standing.holders == 1,
        _ => is_waited_for(lock),
    }
}

/// Its contenders wait for each other, and go once they had it.
pub(super) fn is_waited_for(lock: &Lock) -> bool {
    match lock.recognition.shape {
        Shape::Line
        | Shape::LeaderElection
        | Shape::Fixed
        | Shape::Alone
        | Shape::LeasesAndLocks
        | Shape::LeasesAndSibling => true,
        Shape::Gate | Shape::Gathering | Shape::Items | Shape::TakenItems | Shape::Group | Shape::Idle => false,
    }
}
