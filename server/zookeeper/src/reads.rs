//! Znodes to be read, each at most once at a time. Replies and events reach us on different channels, so a reply only
//! counts when no event of its znode was handled since the read was sent; this keeps that record. Pure.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Event-driven reads that may wait. Overflow policy: the root is read anew.
const EVENT_READS_MAX: usize = 262_144;
/// Reads of any kind that may wait; those of a sync are bounded by the lists they come from. Overflow policy: the same.
const READS_MAX: usize = 1 << 22;
/// Names of znodes that wait no longer are dropped from the order once there are so many, and more than of those that
/// wait.
const SKIPPED_MAX: usize = 1_024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Sync,
    /// An event said that it came or changed.
    Event,
    /// A list showed it though no event did.
    Found,
}

/// Events of a znode's children while it was being read: its counters may or may not include them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChildEvents {
    pub(super) creates: u32,
    pub(super) deletes: u32,
}

/// Whether a reply counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    Valid {
        purpose: Purpose,
        child_events: ChildEvents,
    },
    /// Overtaken by an event: it waits to be read again.
    Again,
    Gone,
}

#[derive(Debug)]
struct Entry {
    purpose: Purpose,
    flying: bool,
    /// An event of this znode was handled while its read was under way.
    touched: bool,
    /// Deleted while its read was under way.
    gone: bool,
    child_events: ChildEvents,
}

#[derive(Debug, Default)]
pub(super) struct Reads {
    entries: HashMap<Arc<str>, Entry>,
    /// May name znodes that no longer wait; those are skipped.
    order: VecDeque<Arc<str>>,
    sync_left: usize,
    found_left: usize,
}

impl Reads {
    /// Asks for a read. False when too many wait.
    pub(super) fn want(&mut self, path: &str, purpose: Purpose) -> bool {
        if let Some(entry) = self.entries.get_mut(path) {
            entry.touched |= entry.flying;
            entry.gone = false;
            return true;
        }
        let max = if purpose == Purpose::Event { EVENT_READS_MAX } else { READS_MAX };
        if self.entries.len() >= max {
            return false;
        }
        let path: Arc<str> = path.into();
        self.sync_left += usize::from(purpose == Purpose::Sync);
        self.found_left += usize::from(purpose == Purpose::Found);
        self.skip();
        let entry = Entry { purpose, flying: false, touched: false, gone: false, child_events: ChildEvents::default() };
        self.entries.insert(Arc::clone(&path), entry);
        self.order.push_back(path);
        true
    }

    /// An event of a znode that is not known yet: a read under way may be too old.
    pub(super) fn touch(&mut self, path: &str) {
        if let Some(entry) = self.entries.get_mut(path) {
            entry.touched |= entry.flying;
        }
    }

    pub(super) fn child_event(&mut self, path: &str, created: bool) {
        if let Some(entry) = self.entries.get_mut(path)
            && entry.flying
        {
            let count = if created { &mut entry.child_events.creates } else { &mut entry.child_events.deletes };
            *count = count.saturating_add(1);
        }
    }

    /// The znode was deleted.
    pub(super) fn forget(&mut self, path: &str) {
        let Some(entry) = self.entries.get_mut(path) else { return };
        if entry.flying {
            entry.gone = true;
        } else {
            self.remove(path);
        }
    }

    pub(super) fn take(&mut self, count_max: usize, bytes_max: usize) -> Vec<Arc<str>> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        while taken.len() < count_max {
            let Some(path) = self.order.front() else { break };
            if !taken.is_empty() && bytes + path.len() > bytes_max {
                break;
            }
            let Some(path) = self.order.pop_front() else { break };
            if let Some(entry) = self.entries.get_mut(&path)
                && !entry.flying
            {
                entry.flying = true;
                bytes += path.len();
                taken.push(path);
            }
        }
        taken
    }

    /// A reply came; all events that were there before it have been handled. None: nobody asked.
    pub(super) fn settle(&mut self, path: &Arc<str>) -> Option<Settled> {
        let entry = self.entries.get_mut(path)?;
        if !entry.flying {
            return None;
        }
        if entry.gone {
            self.remove(path);
            return Some(Settled::Gone);
        }
        if entry.touched {
            (entry.flying, entry.touched, entry.child_events) = (false, false, ChildEvents::default());
            self.order.push_back(Arc::clone(path));
            return Some(Settled::Again);
        }
        let settled = Settled::Valid { purpose: entry.purpose, child_events: entry.child_events };
        self.remove(path);
        Some(settled)
    }

    /// Reads of the sync that are not done.
    pub(super) fn sync_left(&self) -> usize {
        self.sync_left
    }

    /// Reads of what lists showed that are not done.
    pub(super) fn found_left(&self) -> usize {
        self.found_left
    }

    /// The znodes that are to be read, or being read: none counts as read before its reply.
    pub(super) fn unsettled(&self) -> Vec<Arc<str>> {
        self.entries.iter().filter(|(_, entry)| !entry.gone).map(|(path, _)| Arc::clone(path)).collect()
    }

    /// Reads that wait or are under way.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Some are not sent yet.
    pub(super) fn waits(&self) -> bool {
        !self.order.is_empty()
    }

    /// Gives back the room that a sync needed.
    pub(super) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.order.shrink_to_fit();
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn remove(&mut self, path: &str) {
        if let Some(entry) = self.entries.remove(path) {
            self.sync_left -= usize::from(entry.purpose == Purpose::Sync);
            self.found_left -= usize::from(entry.purpose == Purpose::Found);
        }
    }

    /// Bounds the order: a znode that came and went while nothing was sent left its name there each time.
    fn skip(&mut self) {
        if self.order.len() > 2 * self.entries.len() + SKIPPED_MAX {
            let mut kept = HashSet::new();
            self.order.retain(|path| {
                self.entries.get(path).is_some_and(|entry| !entry.flying) && kept.insert(Arc::clone(path))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(purpose: Purpose) -> Option<Settled> {
        Some(Settled::Valid { purpose, child_events: ChildEvents::default() })
    }

    #[test]
    fn a_reply_that_nothing_overtook_counts_once() {
        let mut reads = Reads::default();
        assert!(reads.want("/a", Purpose::Sync));
        let taken = reads.take(10, 1_000);
        assert_eq!(reads.settle(&taken[0]), valid(Purpose::Sync));
        assert_eq!((reads.settle(&taken[0]), reads.sync_left()), (None, 0));
    }

    #[test]
    fn an_overtaken_reply_is_read_again_with_its_purpose() {
        let mut reads = Reads::default();
        reads.want("/a", Purpose::Sync);
        let taken = reads.take(10, 1_000);
        reads.want("/a", Purpose::Event);
        assert_eq!(reads.settle(&taken[0]), Some(Settled::Again));
        let taken = reads.take(10, 1_000);
        assert_eq!(reads.settle(&taken[0]), valid(Purpose::Sync));
    }

    #[test]
    fn deleted_while_read_is_gone_and_recreated_is_read_again() {
        let mut reads = Reads::default();
        reads.want("/a", Purpose::Event);
        reads.want("/b", Purpose::Event);
        let taken = reads.take(10, 1_000);
        reads.forget("/a");
        reads.forget("/b");
        reads.want("/b", Purpose::Event);
        assert_eq!(reads.settle(&taken[0]), Some(Settled::Gone));
        assert_eq!(reads.settle(&taken[1]), Some(Settled::Again));
    }

    #[test]
    fn deleted_while_waiting_is_never_sent() {
        let mut reads = Reads::default();
        reads.want("/a", Purpose::Sync);
        reads.forget("/a");
        assert!(reads.take(10, 1_000).is_empty());
        assert_eq!(reads.sync_left(), 0);
    }

    #[test]
    fn what_comes_and_goes_while_nothing_is_sent_takes_no_room() {
        let mut reads = Reads::default();
        reads.want("/waits", Purpose::Event);
        for turn in 0..10 * SKIPPED_MAX {
            let path = format!("/{}", turn % 7);
            reads.want(&path, Purpose::Event);
            reads.forget(&path);
        }
        assert!(reads.order.len() <= SKIPPED_MAX + 4, "{}", reads.order.len());
        assert_eq!(reads.take(10, 1_000).iter().map(|path| &**path).collect::<Vec<_>>(), ["/waits"]);
    }

    #[test]
    fn changes_of_one_znode_merge() {
        let mut reads = Reads::default();
        for _ in 0..1_000 {
            reads.want("/a", Purpose::Event);
        }
        assert_eq!(reads.take(10, 1_000).len(), 1);
        assert!(reads.take(10, 1_000).is_empty());
    }

    #[test]
    fn batches_keep_to_count_and_bytes() {
        let mut reads = Reads::default();
        for i in 0..10 {
            reads.want(&format!("/{i}"), Purpose::Event);
        }
        assert_eq!((reads.take(3, 1_000).len(), reads.take(10, 4).len(), reads.take(10, 1).len()), (3, 2, 1));
    }

    #[test]
    fn child_events_while_read_are_told() {
        let mut reads = Reads::default();
        reads.want("/a", Purpose::Sync);
        reads.child_event("/a", true);
        let taken = reads.take(1, 1_000);
        reads.child_event("/a", true);
        reads.child_event("/a", false);
        let child_events = ChildEvents { creates: 1, deletes: 1 };
        assert_eq!(reads.settle(&taken[0]), Some(Settled::Valid { purpose: Purpose::Sync, child_events }));
    }
}
