//! The rule of every queue of numbered znodes: a contender holds when nobody before it that it looks at excludes
//! it. One rule for mutexes (everybody excludes everybody), read/write locks, elections, and for directories that
//! clients of several libraries share without seeing each other.

use crate::mirror::{Child, ChildKey, Directory};
use crate::recipe::{Access, Dialect, NodeRole, Recognition, RuleId, rule};

/// What decides whether one contender blocks another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueEntry {
    dialect: Dialect,
    pub(super) access: Access,
    number: i32,
}

impl QueueEntry {
    pub(super) fn of(recognition: &Recognition, key: &ChildKey, child: &Child) -> Option<Self> {
        if recognition.takes_any_name() {
            return Some(Self { dialect: Dialect::All, access: recognition.access(child.rule), number: key.number()? });
        }
        (child.role() == Some(NodeRole::Line)).then_some(())?;
        Some(Self::by(recognition, child.rule?, key.number()?))
    }

    fn by(recognition: &Recognition, id: RuleId, number: i32) -> Self {
        Self { dialect: rule(id).dialect, access: recognition.access(Some(id)), number }
    }

    /// A waiting reader of Curator's watches the first writer, not the nearest.
    pub(super) fn watches_first_writer(self) -> bool {
        self.access == Access::Read && self.dialect == Dialect::CuratorReadWrite
    }

    /// Whether both look at the same names and want the same.
    pub(super) fn is_kind_of(self, other: Self) -> bool {
        (self.dialect, self.access) == (other.dialect, other.access)
    }

    /// Whether this one blocks all that the other blocks: both are of one kind and on one side of the counter's end.
    fn blocks_as(self, other: Self) -> bool {
        self.is_kind_of(other) && (self.number < 0) == (other.number < 0)
    }

    /// Whether a contender that was created before `later` keeps it from holding.
    pub(super) fn blocks(self, later: Self) -> bool {
        later.dialect.sees(self.dialect) && self.access.excludes(later.access) && self.precedes(later)
    }

    /// Whether the client of `later` sorts this one before it. Equal and negative numbers come up only where a
    /// counter ran out (ZOOKEEPER-2944).
    fn precedes(self, later: Self) -> bool {
        match (later.dialect.sorts_as_text(), later.number < 0) {
            // As text every negative number comes before those that were there: the newcomer believes that it holds.
            (true, true) => false,
            (true, false) => !(later.dialect.ties_all_hold() && self.number == later.number),
            (false, true) => self.number < 0,
            (false, false) => true,
        }
    }
}

/// Gives those that hold, in order: the first few of a semaphore's queue, else those that nobody excludes. Walks no further
/// than the first that is blocked together with all kinds behind it.
pub(super) fn each_head<'a>(
    recognition: &Recognition,
    directory: &'a Directory,
    mut holds: impl FnMut(&'a ChildKey, &'a Child),
) {
    if recognition.admits() > 1 {
        let line = directory.numbered().filter(|(key, child)| QueueEntry::of(recognition, key, child).is_some());
        return line.take(recognition.admits()).for_each(|(key, child)| holds(key, child));
    }
    let kinds = || {
        let census = directory.census().iter().filter(|_| !recognition.takes_any_name());
        let queued = census.filter(|kind| kind.totals.count > 0 && rule(kind.rule).role == NodeRole::Line);
        queued.map(|kind| kind.rule)
    };
    let is_wrapped = directory.is_wrapped();
    // Mostly all are of one kind.
    let (mut first, mut others): (Option<QueueEntry>, Vec<QueueEntry>) = (None, Vec::new());
    for (key, child) in directory.numbered() {
        let Some(claim) = QueueEntry::of(recognition, key, child) else { continue };
        let seen = || first.iter().chain(&others);
        let is_blocked = |claim: QueueEntry| seen().any(|before| before.blocks(claim));
        if !is_blocked(claim) {
            holds(key, child);
        } else if !is_wrapped && kinds().all(|kind| is_blocked(QueueEntry::by(recognition, kind, claim.number))) {
            break;
        }
        if first.is_none() {
            first = Some(claim);
        } else if !seen().any(|before| before.blocks_as(claim)) {
            others.push(claim);
        }
    }
}
