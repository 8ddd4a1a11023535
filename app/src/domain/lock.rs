//! One lock: what it was recognised as, who holds it as we saw it, and what was counted. The queue itself
//! stays in the mirror; nothing here grows with its length.

use std::collections::VecDeque;
use std::sync::Arc;

use super::mirror::{Child, ChildKey, Directory, Mirror};
use super::observation::RootId;
use super::recipe::{self, Place, Recognition, Ties};
use super::tally::{Depth, Histogram};
use super::time::TimeMs;
use super::verdict::Verdict;
use super::znode::{SessionId, Zxid, split_path};

/// Holders told apart; more hold only when a sequence counter is stuck.
pub const HOLDERS_MAX: usize = 64;
/// Past holders kept; the oldest goes first.
pub const PAST_MAX: usize = 16;

/// One hold, as we saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenure {
    /// Znode name.
    pub name: Box<str>,
    /// Identity; None until it is read.
    pub czxid: Option<Zxid>,
    /// Owner; None until it is read, and for a persistent znode.
    pub owner: Option<SessionId>,
    /// Label from its payload, as of `version`.
    pub label: Option<Box<str>>,
    /// Data version.
    pub version: i32,
    /// Holds since, as we saw it.
    pub since: TimeMs,
    /// It held already when we first looked: it may have held for longer.
    pub is_lower_bound: bool,
}

/// A hold that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTenure {
    /// The hold.
    pub tenure: Tenure,
    /// When it ended, or when we next looked.
    pub until: TimeMs,
}

/// What was counted since we watch.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Times somebody new held.
    pub acquisitions: u64,
    /// Contenders that went before they could be read.
    pub owner_unknown: u64,
    /// Holds seen from beginning to end.
    pub holds: Histogram,
    /// Waits seen to end in a hold.
    pub waits: Histogram,
    /// Waiters over time.
    pub depth: Depth,
    /// The last holders, newest first.
    pub past: VecDeque<PastTenure>,
}

/// One lock.
#[derive(Clone, Debug)]
pub struct Lock {
    /// Its path: the directory, or the znode itself for a lock on one znode of its own.
    pub path: Arc<str>,
    /// The root it lies under.
    pub root: RootId,
    /// What it was recognised as.
    pub recognition: Recognition,
    /// Who holds it, in queue order.
    pub holders: Vec<Tenure>,
    /// Counters.
    pub tally: Tally,
    /// The verdict, as of the last change or re-check.
    pub verdict: Verdict,
    /// When the verdict may change without anything happening.
    pub recheck_at: Option<TimeMs>,
    /// The observatory's revision at the last change.
    pub revision: u64,
}

/// Name of the one znode of a lock of place [`Place::FixedInDirectory`].
const FIXED_NAME: &str = "lock";

impl Lock {
    /// A lock nobody was seen to hold yet.
    pub fn new(path: Arc<str>, root: RootId, recognition: Recognition) -> Self {
        Self { path, root, recognition, holders: Vec::new(), tally: Tally::default(), verdict: Verdict::Unknown, recheck_at: None, revision: 0 }
    }

    /// The lock is the znode itself, not a directory.
    pub fn is_alone(&self) -> bool {
        self.recognition.place == Place::FixedAlone
    }

    /// The directory its contenders are children of.
    pub fn directory_path(&self) -> &str {
        if self.is_alone() { split_path(&self.path).map_or("/", |(parent, _)| parent) } else { &self.path }
    }

    /// The directory its contenders are children of, as believed.
    pub fn directory<'a>(&self, mirror: &'a Mirror) -> Option<&'a Directory> {
        mirror.directory(self.directory_path())
    }

    /// Its contenders in queue order.
    pub fn contenders<'a>(&'a self, mirror: &'a Mirror) -> impl Iterator<Item = (&'a ChildKey, &'a Child)> {
        let directory = self.directory(mirror);
        let fixed = match self.recognition.place {
            Place::FixedInDirectory => Some(FIXED_NAME),
            Place::FixedAlone => split_path(&self.path).map(|(_, name)| name),
            Place::Sequence | Place::Unread => None,
        };
        let single = fixed.and_then(|name| directory?.child(name));
        let queue = if self.recognition.place == Place::Sequence { directory } else { None };
        single.into_iter().chain(queue.into_iter().flat_map(Directory::contenders))
    }

    /// How many contend.
    pub fn contender_count(&self, mirror: &Mirror) -> u32 {
        match self.recognition.place {
            Place::Sequence => self.directory(mirror).map_or(0, |directory| directory.queue().contenders),
            Place::FixedInDirectory | Place::FixedAlone => u32::from(self.contenders(mirror).next().is_some()),
            Place::Unread => 0,
        }
    }

    /// How many wait.
    pub fn waiter_count(&self, mirror: &Mirror) -> u32 {
        self.contender_count(mirror).saturating_sub(u32::try_from(self.holders.len()).unwrap_or(u32::MAX))
    }

    /// Whether a child of the lock's directory is one of its contenders.
    pub fn counts(&self, key: &ChildKey, child: &Child) -> bool {
        match self.recognition.place {
            Place::Sequence => child.queues(),
            Place::FixedInDirectory => key.name() == FIXED_NAME,
            Place::FixedAlone => split_path(&self.path).is_some_and(|(_, name)| name == key.name()),
            Place::Unread => true,
        }
    }

    /// The contenders that hold by the recipe's rule: the first; with it, where equal numbers do not block
    /// each other, all that share its number.
    pub fn holding<'a>(&'a self, mirror: &'a Mirror) -> Vec<(&'a ChildKey, &'a Child)> {
        let mut contenders = self.contenders(mirror);
        let Some(first) = contenders.next() else { return Vec::new() };
        let all_hold = self.recognition.rule.and_then(recipe::rule).is_some_and(|rule| rule.ties == Ties::AllHold);
        let share = contenders.take_while(|(key, _)| all_hold && key.number().is_some() && key.number() == first.0.number());
        std::iter::once(first).chain(share).take(HOLDERS_MAX).collect()
    }

    /// Ends a hold. Its length counts only when both ends were seen.
    pub fn end_tenure(&mut self, tenure: Tenure, now: TimeMs, seen: bool) {
        if seen && !tenure.is_lower_bound {
            self.tally.holds.note(now.since(tenure.since));
        }
        self.tally.past.truncate(PAST_MAX - 1);
        self.tally.past.push_front(PastTenure { tenure, until: now });
    }
}
