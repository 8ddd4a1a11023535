//! Waiters that have no znode: they watch the one znode that somebody holds, and only the members' tables of watches
//! show them. A watch fires once, so a table is evidence of a hold only when it was read after the hold began.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Lock, Since};
use crate::evidence::{GRACE_MS, MemberEvidence};
use crate::mirror::Mirror;
use crate::missing::{Missing, MissingSet};
use crate::offset::ClockOffset;
use crate::recipe::{NodeRole, Shape, rule};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Such waiters kept one by one at one lock; more are only counted.
pub const WATCHERS_MAX: usize = 10_000;

/// How much of them the tables show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// No table is of this hold.
    #[default]
    Nothing,
    /// Some are, or were asked for when the hold had just begun.
    Some,
    /// All members'.
    All,
}

/// Who waits at a lock without a znode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watchers {
    /// How much of them the tables show.
    pub shown: Shown,
    /// Since when each was seen to watch, over all holds it waited through: it may have waited for longer.
    pub since: BTreeMap<SessionId, TimeMs>,
    /// Those seen to watch an earlier hold, until all tables are of this one.
    pub before: BTreeMap<SessionId, TimeMs>,
    /// Those beyond [`WATCHERS_MAX`].
    pub more: u32,
    /// Sum of the instants since which each was seen to watch, on our clock.
    pub since_sum_ms: i64,
}

/// Which waiters of a lock have no znode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HiddenWaiters {
    /// None has.
    Nobody,
    /// Those who watch the znode that is held.
    Watching,
    /// Those who watch a list of children: they are in no table.
    Unseen,
}

impl Watchers {
    /// Those kept one by one, and since when each was seen to watch.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SessionId, TimeMs)> {
        self.since.iter().map(|(session, since)| (*session, *since))
    }

    /// How many.
    pub fn count(&self) -> u32 {
        u32::try_from(self.since.len()).unwrap_or(u32::MAX).saturating_add(self.more)
    }

    fn is_empty(&self) -> bool {
        self.since.is_empty() && self.before.is_empty()
    }

    /// Sum of the instants since which each was seen to watch, on our clock.
    pub fn since_sum_ms(&self) -> i64 {
        self.since_sum_ms
    }

    /// The earliest of these instants.
    pub fn oldest(&self) -> Option<TimeMs> {
        self.since.values().copied().min()
    }

    /// The hold ended: their watches have fired. Whoever watches again goes on waiting.
    fn woken(&mut self) {
        let mut before = std::mem::take(&mut self.since);
        before.append(&mut self.before);
        *self = Self { before, ..Self::default() };
    }

    /// Takes in what the tables show of a hold.
    fn show(&mut self, shown: Shown, at: TimeMs, sessions: BTreeMap<SessionId, TimeMs>) {
        let more = sessions.len().saturating_sub(WATCHERS_MAX);
        let since_of = |session, seen_at| {
            self.since.get(&session).or_else(|| self.before.get(&session)).copied().unwrap_or(seen_at)
        };
        let since: BTreeMap<SessionId, TimeMs> = sessions
            .into_iter()
            .take(WATCHERS_MAX)
            .map(|(session, seen_at)| (session, since_of(session, seen_at)))
            .collect();
        // Whoever a table left out may be at a member that did not answer.
        let mut before = std::mem::take(&mut self.before);
        before.extend(std::mem::take(&mut self.since));
        before.retain(|session, _| shown != Shown::All && !since.contains_key(session));
        while before.len() > WATCHERS_MAX {
            before.pop_last();
        }
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let since_sum_ms = since
            .values()
            .fold(0_i64, |sum, at| sum.saturating_add(at.0))
            .saturating_add(i64::from(more).saturating_mul(at.0));
        *self = Self { shown, since, before, more, since_sum_ms };
    }
}

impl Lock {
    fn hidden_waiters(&self) -> HiddenWaiters {
        match self.recognition.shape {
            // It is never waited for: who is refused goes on.
            Shape::Fixed if self.recognition.rule.is_some_and(|id| rule(id).role == NodeRole::Timed) => {
                HiddenWaiters::Nobody
            }
            // HBase's region servers watch the master's znode and wait for nothing.
            Shape::Alone if self.standing.contenders_beside => HiddenWaiters::Nobody,
            Shape::Fixed | Shape::Alone | Shape::Gate => HiddenWaiters::Watching,
            Shape::Items | Shape::TakenItems => HiddenWaiters::Unseen,
            Shape::Line
            | Shape::LeaderElection
            | Shape::LeasesAndLocks
            | Shape::LeasesAndSibling
            | Shape::Gathering
            | Shape::Group
            | Shape::Idle => HiddenWaiters::Nobody,
        }
    }

    /// Some who wait for it may have no znode and be in the members' tables of watches.
    pub fn hides_waiters(&self) -> bool {
        self.hidden_waiters() == HiddenWaiters::Watching
    }

    /// Whether the members' tables of watches show who waits for it now.
    pub fn needs_tables(&self) -> bool {
        self.hides_waiters() && !self.holders.is_empty()
    }

    /// Whoever waits for it is sure to watch the znode that is held: its libraries do nothing else.
    pub(super) fn is_surely_watched(&self) -> bool {
        self.recognition.shape == Shape::Gate || self.recognition.is_led()
    }

    /// What is missing of those who wait for it.
    fn missing_waiters(&self) -> MissingSet {
        match (self.hidden_waiters(), self.watchers.shown) {
            (HiddenWaiters::Nobody, _) => MissingSet::NONE,
            (HiddenWaiters::Unseen, _) => Missing::WaitersWithoutZnodes.into(),
            // What nobody holds nobody waits for.
            (HiddenWaiters::Watching, _) if self.holders.is_empty() => MissingSet::NONE,
            (HiddenWaiters::Watching, Shown::Nothing | Shown::Some) => Missing::WatchesNotRead.into(),
            (HiddenWaiters::Watching, Shown::All) => MissingSet::NONE
                .with(Missing::WaitersWithoutZnodes, self.watchers.count() == 0 && !self.is_surely_watched()),
        }
    }

    /// What is missing from what is known of it.
    pub fn missing(&self) -> MissingSet {
        self.standing.missing.and(self.missing_waiters())
    }

    /// How many are seen to wait, with a znode or without; where something is missing there may be more.
    pub fn waiters_seen(&self) -> u32 {
        // Items wait for work, not for a lock.
        let queued = if self.hidden_waiters() == HiddenWaiters::Unseen { 0 } else { self.standing.waiting.count };
        queued.saturating_add(self.watchers.count())
    }

    /// How many wait, at least; None where that can't be seen: 0 is said only of what misses nothing.
    pub fn waiter_count(&self) -> Option<u32> {
        Some(self.waiters_seen()).filter(|count| *count > 0 || self.missing().is_empty())
    }

    /// The holders changed: `is_unknown`, when somebody held that was never read and may have been any of those who
    /// watch.
    pub(crate) fn wake_watchers(&mut self, is_unknown: bool) {
        self.watchers.woken();
        // Whoever passes a barrier waits no longer.
        if is_unknown || (self.holders.is_empty() && self.recognition.shape == Shape::Gate) {
            self.watchers = Watchers::default();
        }
    }

    /// Updates the watchers from the members' tables. True when something changed.
    pub(crate) fn watch_waiters(
        &mut self,
        mirror: &Mirror,
        evidence: &MemberEvidence,
        offset: &ClockOffset,
        now: TimeMs,
        ours: Option<SessionId>,
    ) -> bool {
        let Some(holder) = self.holders.first().filter(|_| self.hidden_waiters() == HiddenWaiters::Watching) else {
            // Whoever has let a lock stand free for so long does not wait for it.
            let is_left = self.tally.past.front().is_none_or(|past| now.since(past.until) > GRACE_MS);
            if is_left && self.watchers != Watchers::default() {
                self.watchers = Watchers::default();
            }
            return false;
        };
        let created = self.child_of(mirror, holder).filter(|_| holder.is_lower_bound && offset.ms().is_some());
        let created = created.and_then(|(_, child)| child.read.as_ref()).map(|read| offset.to_ours(read.ctime_ms));
        let began = created.map_or(holder.since, |created| created.min(holder.since));
        let path: Cow<'_, str> = if self.is_alone() { Cow::Borrowed(&self.path) } else { Cow::Owned(holder.path()) };
        let table = evidence.watching(now, &path, began);
        let shown = match table.asked {
            None => Shown::Nothing,
            Some(at) if table.is_whole && at.since(began) > GRACE_MS => Shown::All,
            Some(_) => Shown::Some,
        };
        if table.sessions.is_empty() && self.watchers.is_empty() {
            // So it is at most locks, at every round.
            return std::mem::replace(&mut self.watchers.shown, shown) != shown;
        }
        let holders = self.holders.iter().filter_map(|hold| hold.owner);
        let queued = self.contenders(mirror).filter_map(|contender| contender.child.owner());
        let not_waiting: Vec<SessionId> = ours.into_iter().chain(holders).chain(queued).collect();
        let mut after = self.watchers.clone();
        for session in &not_waiting {
            after.since.remove(session);
            after.before.remove(session);
        }
        let sessions = table.sessions.into_iter().filter(|(session, _)| !not_waiting.contains(session)).collect();
        after.show(shown, table.asked.unwrap_or(now), sessions);
        let is_news =
            (after.shown, &after.since, after.more) != (self.watchers.shown, &self.watchers.since, self.watchers.more);
        self.watchers = after;
        is_news
    }

    /// Sum of the instants since which those who are seen to wait do, on our clock, which is so much ahead of the
    /// ensemble's.
    pub fn waiting_since_sum_ms(&self, offset_ms: i64) -> i64 {
        let queued =
            Some(self.standing.waiting).filter(|_| self.hidden_waiters() != HiddenWaiters::Unseen).unwrap_or_default();
        let read = offset_ms.saturating_mul(i64::from(queued.count - queued.unread));
        let queued_ms = queued.ctime_sum_ms.saturating_add(read).saturating_add(queued.arrived_sum_ms);
        queued_ms.saturating_add(self.watchers.since_sum_ms())
    }

    /// Since when the one that waits longest is seen to wait, and whether it may be for longer.
    pub fn oldest_wait(&self, to_ours: impl Fn(Since) -> TimeMs) -> Option<(TimeMs, bool)> {
        let queued = self.standing.oldest.filter(|_| self.hidden_waiters() != HiddenWaiters::Unseen).map(to_ours);
        let watching = self.watchers.oldest();
        let oldest = queued.into_iter().chain(watching).min()?;
        Some((oldest, queued != Some(oldest) || !self.missing().is_empty()))
    }
}
