//! Waits and wake-ups by the members' watch tables.

use super::{ContenderRef, Lock, WaitTarget};
use crate::evidence::{MemberEvidence, Watch};
use crate::mirror::Mirror;
use crate::recipe::{NodeRole, Shape, rule};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Waiters whose edges are used, where no table shows who watches.
const WAITERS_LOOK: usize = 256;
/// An event on the wire, without the path: 4 length, 16 reply header, 4 type, 4 state, 4 length of the path.
const EVENT_BYTES: u64 = 32;

/// How a number of wake-ups is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WokenBasis {
    /// Counted in every member's table of watches.
    Counted,
    /// From the recipe's rule.
    ByRule,
    /// From some members' tables, or where others may watch a list of children: at least so many.
    AtLeast,
    /// Not at all: who waits may watch a list of children, which is in no table.
    Unknown,
}

/// What the next release wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// Sessions that get an event; None where that is not known.
    pub sessions: Option<u32>,
    /// How that is known.
    pub known: WokenBasis,
    /// What the events weigh, together.
    pub bytes: Option<u64>,
}

impl Woken {
    fn of(sessions: u32, known: WokenBasis, path: &str) -> Self {
        Self { sessions: Some(sessions), known, bytes: Some(u64::from(sessions) * (EVENT_BYTES + path.len() as u64)) }
    }

    /// Counted in tables that may leave out some: nobody in them says nothing.
    fn least(sessions: u32, path: &str) -> Self {
        if sessions == 0 { Self::UNKNOWN } else { Self::of(sessions, WokenBasis::AtLeast, path) }
    }

    const UNKNOWN: Self = Self { sessions: None, known: WokenBasis::Unknown, bytes: None };
}

impl Lock {
    /// What the watch tables say of one wait. That a watch is missing is said only of clients known to set one on the
    /// znode they wait for; watches on a list of children are in no table.
    pub fn confirm(
        &self,
        evidence: &MemberEvidence,
        now: TimeMs,
        contender: &ContenderRef<'_>,
        target: &WaitTarget<'_>,
    ) -> Watch {
        let Some(session) = contender.child.owner() else { return Watch::Unknown };
        let is_lease = matches!(self.recognition.shape, Shape::LeasesAndLocks | Shape::LeasesAndSibling)
            && *target.directory == self.parts.main;
        if is_lease {
            return Watch::Unknown;
        }
        let since = contender.child.arrived_at.max(self.left_at);
        let must = contender.child.rule.is_some_and(|id| rule(id).dialect.watches_the_one_before());
        match evidence.watch(now, session, &target.path(), since) {
            Watch::Missing if !must => Watch::Unknown,
            watch => watch,
        }
    }

    /// What the release of the first holder wakes; None when nobody holds, or where nothing can be woken.
    pub fn woken(
        &self,
        evidence: &MemberEvidence,
        mirror: &Mirror,
        now: TimeMs,
        ours: Option<SessionId>,
    ) -> Option<Woken> {
        let path = self.holders.first()?.path();
        match self.recognition.shape {
            Shape::Line | Shape::LeaderElection => Some(self.woken_in_line(evidence, mirror, now, ours, &path)),
            // The head of the queue watches the list of leases, in which no table shows it.
            Shape::LeasesAndLocks | Shape::LeasesAndSibling => {
                Some(Woken::of(self.waiters_seen().min(1), WokenBasis::ByRule, &path))
            }
            // Each watches the list of members.
            Shape::Gathering => Some(Woken::of(self.contender_count().saturating_sub(1), WokenBasis::ByRule, &path)),
            Shape::Fixed | Shape::Alone | Shape::Gate => {
                let (counted, is_whole) = self.watching(evidence, now, ours, &path)?;
                let is_sure = is_whole && (counted > 0 || self.is_surely_watched());
                Some(if is_sure {
                    Woken::of(counted, WokenBasis::Counted, &path)
                } else {
                    Woken::least(counted, &path)
                })
            }
            Shape::Items | Shape::TakenItems | Shape::Group | Shape::Idle => None,
        }
    }

    fn woken_in_line(
        &self,
        evidence: &MemberEvidence,
        mirror: &Mirror,
        now: TimeMs,
        ours: Option<SessionId>,
        path: &str,
    ) -> Woken {
        let waits_by_rule = self.standing.waiting.count == 0 || self.watches_before_it(mirror);
        match self.watching(evidence, now, ours, path).filter(|(_, is_whole)| *is_whole) {
            Some((counted, _)) if waits_by_rule || self.is_confirmed(evidence, mirror, now) => {
                Woken::of(counted, WokenBasis::Counted, path)
            }
            Some((counted, _)) => Woken::least(counted, path),
            None if waits_by_rule => Woken::of(self.waiting_for(mirror, path), WokenBasis::ByRule, path),
            None => Woken::UNKNOWN,
        }
    }

    /// Sessions that watch a holder's znode, by tables that are of its hold, and whether all members' are; None without
    /// any.
    fn watching(
        &self,
        evidence: &MemberEvidence,
        now: TimeMs,
        ours: Option<SessionId>,
        path: &str,
    ) -> Option<(u32, bool)> {
        let holder = self.holders.first()?;
        // A table from before the last change of the queue counts those who watched then.
        let table = evidence.watching(now, path, self.left_at.max(holder.since));
        table.asked?;
        let others = table.sessions.keys().filter(|session| Some(**session) != ours && Some(**session) != holder.owner);
        Some((u32::try_from(others.count()).unwrap_or(u32::MAX), table.is_whole))
    }

    /// Whether the clients of every contender watch the znode they wait for, always. Others may watch the list of
    /// children.
    pub(crate) fn watches_before_it(&self, mirror: &Mirror) -> bool {
        let Some(directory) = mirror.directory(&self.parts.main).filter(|_| !self.recognition.takes_any_name()) else {
            return false;
        };
        let mut line = directory
            .census()
            .iter()
            .filter(|rule_count| rule_count.totals.count > 0 && rule(rule_count.rule).role == NodeRole::Line);
        line.all(|rule_count| rule(rule_count.rule).dialect.watches_the_one_before())
    }

    /// Whether the tables show each waiter's watch on what it waits for, so that none has to watch the list of
    /// children.
    fn is_confirmed(&self, evidence: &MemberEvidence, mirror: &Mirror, now: TimeMs) -> bool {
        let is_confirmed = |contender: &ContenderRef<'_>| {
            let targets = self.waits_for(mirror, contender);
            targets.iter().any(|target| self.confirm(evidence, now, contender, target) == Watch::Confirmed)
        };
        let mut waiters = self.contenders(mirror).filter(|contender| self.hold_of(contender).is_none());
        self.standing.waiting.count as usize <= WAITERS_LOOK && waiters.all(|contender| is_confirmed(&contender))
    }

    /// Whether the tables show whom the going of its holder's znode wakes.
    pub(crate) fn is_woken_by_tables(&self, mirror: &Mirror) -> bool {
        match self.recognition.shape {
            Shape::Line | Shape::LeaderElection => self.watches_before_it(mirror),
            _ => !self.may_watch_children(mirror),
        }
    }

    /// Who waits may watch a list of children: no table shows it, only the members' counters do.
    pub fn may_watch_children(&self, mirror: &Mirror) -> bool {
        match self.recognition.shape {
            Shape::LeasesAndLocks | Shape::LeasesAndSibling | Shape::Gathering | Shape::Items | Shape::TakenItems => {
                true
            }
            Shape::Line | Shape::LeaderElection => self.standing.waiting.count > 0 && !self.watches_before_it(mirror),
            Shape::Fixed | Shape::Alone | Shape::Gate | Shape::Group | Shape::Idle => false,
        }
    }

    /// Waiters that by their recipe's rule wait for this znode.
    fn waiting_for(&self, mirror: &Mirror, path: &str) -> u32 {
        if let Some((_, number)) = self.crowd(mirror).filter(|(crowded, _)| crowded == path) {
            return number;
        }
        let waiters = self.contenders(mirror).skip(self.standing.holders as usize).take(WAITERS_LOOK);
        let number = waiters
            .filter(|contender| self.waits_for(mirror, contender).iter().any(|target| target.path() == path))
            .count();
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}
