//! One look at a lock, gathered once and shared by all lints.

use std::collections::BTreeMap;

use super::limits::Limits;
use crate::assessment::Assessment;
use crate::deadlock::Cycle;
use crate::departure::Departure;
use crate::evidence::MemberEvidence;
use crate::label::{identity, label_of};
use crate::lock::{ContenderRef, Hold, Lock, PastHold};
use crate::lock_order::OrderWarning;
use crate::mirror::{Directory, Mirror};
use crate::offset::ClockOffset;
use crate::time::TimeMs;
use crate::verdict::{self, Thresholds};
use crate::znode::SessionId;

/// Contenders looked at; a longer queue is looked at as far as that.
pub const CONTENDERS_MAX: usize = 20_000;

/// What lints look at.
#[derive(Debug)]
pub struct LintContext<'a> {
    /// The lock.
    pub lock: &'a Lock,
    /// What was derived of it before.
    pub assessment: &'a Assessment,
    /// Directories and names of the contenders that hold and are kept one by one, in order.
    pub held: Vec<(&'a str, &'a str)>,
    /// The tree it is in.
    pub mirror: &'a Mirror,
    /// Now.
    pub now: TimeMs,
    /// What the members say.
    pub evidence: &'a MemberEvidence,
    /// Our own session, which watches as well.
    pub ours: Option<SessionId>,
    /// The ensemble's clock.
    pub offset: &'a ClockOffset,
    /// From where on lints warn.
    pub limits: &'a Limits,
    /// When a hold is slow or stuck.
    pub thresholds: &'a Thresholds,
    /// What the configuration says is the most that may hold.
    pub configured_max: Option<u32>,
    /// The deadlock it is part of, and that in words.
    pub cycle: Option<(&'a Cycle, &'a str)>,
    /// The circle of orders that it was seen in.
    pub order: Option<OrderWarning<'a>>,
    /// Since when its root is seen as it is; None while it is not.
    pub seen_since: Option<TimeMs>,
    /// Its contenders in order: who holds first.
    pub contenders: Vec<ContenderRef<'a>>,
}

impl<'a> LintContext<'a> {
    /// Its main directory.
    pub fn directory(&self) -> Option<&'a Directory> {
        self.mirror.directory(&self.lock.parts.main)
    }

    /// The contenders of a lock that hold and are kept one by one.
    pub fn held(lock: &Lock) -> Vec<(&str, &str)> {
        let mut held: Vec<(&str, &str)> = lock.holders.iter().map(|hold| (&*hold.directory, &*hold.name)).collect();
        held.sort_unstable();
        held
    }

    /// Whether a contender holds. Where more hold than are kept one by one, those that hold are the first in the queue.
    pub fn holds(&self, contender: &ContenderRef<'_>) -> bool {
        let holders = self.lock.standing.holders as usize;
        let last = self.contenders.get(holders.wrapping_sub(1)).filter(|_| holders > self.lock.holders.len());
        let is_ahead = |last: &ContenderRef<'_>| last.directory == contender.directory && contender.key <= last.key;
        self.held.binary_search(&(&**contender.directory, contender.key.name())).is_ok() || last.is_some_and(is_ahead)
    }

    /// Those that wait.
    pub fn waiters(&self) -> impl Iterator<Item = &ContenderRef<'a>> {
        self.contenders.iter().filter(|contender| !self.holds(contender))
    }

    /// Contenders by owner; those that nobody owns or that were not read are left out.
    pub fn by_session(&self) -> BTreeMap<SessionId, Vec<&ContenderRef<'a>>> {
        let mut sessions: BTreeMap<SessionId, Vec<&ContenderRef<'a>>> = BTreeMap::new();
        for contender in &self.contenders {
            if let Some(session) = contender.child.owner() {
                sessions.entry(session).or_default().push(contender);
            }
        }
        sessions
    }

    /// How long a holder holds.
    pub fn held_ms(&self, hold: &Hold) -> i64 {
        self.now.since(hold.since)
    }

    /// A holder in a word.
    pub fn name(&self, hold: &Hold) -> String {
        verdict::name_of(hold)
    }

    /// The label of a contender, when it says who it is: a bare address is shared by all processes of a host
    /// (Curator's default payload), so it does not distinguish clients.
    pub fn identity(&self, contender: &ContenderRef<'_>) -> Option<String> {
        identity(&label_of(contender.key.name(), &contender.child.read.as_ref()?.payload)?)
    }
}

/// The present head took over from one whose session ended; the czxids are the fencing tokens.
pub(super) fn took_over<'a>(context: &LintContext<'a>) -> Option<(&'a Hold, &'a PastHold)> {
    let head = context.lock.holders.first().filter(|hold| hold.access.excludes(hold.access))?;
    let past = context.lock.tally.past.front().filter(|past| past.how == Departure::SessionEnded)?;
    (head.since.since(past.until) < 1_000 && past.until.since(head.since) < 1_000).then_some((head, past))
}
