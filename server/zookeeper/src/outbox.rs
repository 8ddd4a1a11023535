//! Observations waiting for the consumer: bounded. When it overflows everything but the link state is dropped and
//! counted, and the roots are read anew. Knows no ZooKeeper.

use std::collections::VecDeque;
use std::sync::Arc;

use lockscope_core::observation::{Observation, RootId};
use lockscope_core::time::TimeMs;

use super::request_counts::RequestCounts;
use super::seen_history::SeenHistory;
use super::watch::Why;

pub const BATCH_MAX: usize = 1_024;
/// Observations that may wait. Overflow policy: drop all but link states, then resync every root.
pub(super) const WAITING_MAX: usize = 65_536;
/// Above this no more reads are sent, so that only events can overflow the queue.
pub(super) const READS_PAUSE_AT: usize = 16_384;

/// The queue towards the consumer.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<Observation>,
    overflowed: bool,
    dropped: u64,
    /// Events were added since the last instant.
    has_news: bool,
    /// A deletion was added, or a sync ended, since it was asked for.
    has_deletions: bool,
    sync_ended: bool,
    pub(super) history: SeenHistory,
    counts: Arc<RequestCounts>,
}

impl Outbox {
    pub(super) fn new(counts: Arc<RequestCounts>) -> Self {
        Self { counts, ..Self::default() }
    }

    pub(super) fn sync_began(&mut self, root: RootId, why: Why) {
        self.counts.began(why);
        self.push(Observation::SyncBegan { root, why: why.text().into() });
    }

    pub(super) fn comparison_began(&mut self, root: RootId, why: Why) {
        self.counts.began(why);
        self.push(Observation::ComparisonBegan { root, why: why.text().into() });
    }

    /// Events were added.
    pub(super) fn heard(&mut self) {
        self.has_news = true;
    }

    /// Whether a deletion was added since this was asked last.
    pub(super) fn take_deletions(&mut self) -> bool {
        std::mem::take(&mut self.has_deletions)
    }

    /// Whether a root was read to its end since this was asked last.
    pub(super) fn take_sync_ended(&mut self) -> bool {
        std::mem::take(&mut self.sync_ended)
    }

    /// Says when the events since the last call reached us, if there were any.
    pub(super) fn stamp(&mut self, now: impl FnOnce() -> TimeMs) {
        if std::mem::take(&mut self.has_news) {
            self.push(Observation::EventsArrived { at: now() });
        }
    }

    /// Adds one observation, or starts dropping.
    pub(super) fn push(&mut self, observation: Observation) {
        let is_link = matches!(observation, Observation::Link { .. });
        self.has_deletions |= matches!(observation, Observation::NodeDeleted { .. });
        self.sync_ended |= matches!(observation, Observation::SyncEnded { .. } | Observation::ComparisonEnded { .. });
        if !is_link && !self.overflowed && self.waiting.len() >= WAITING_MAX {
            let before = self.waiting.len();
            self.waiting.retain(|waiting| matches!(waiting, Observation::Link { .. }));
            self.dropped = self.dropped.saturating_add((before - self.waiting.len()) as u64);
            self.overflowed = true;
        }
        if self.overflowed && !is_link {
            self.dropped = self.dropped.saturating_add(1);
        } else {
            self.waiting.push_back(observation);
        }
    }

    pub(super) fn take_batch(&mut self) -> Vec<Observation> {
        let count = self.waiting.len().min(BATCH_MAX);
        self.waiting.drain(..count).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn is_overflowed(&self) -> bool {
        self.overflowed
    }

    pub(super) fn is_busy(&self) -> bool {
        self.overflowed || self.waiting.len() >= READS_PAUSE_AT
    }

    /// After an overflow, once the consumer has taken what was left: how many were dropped. Resync then.
    pub(super) fn recovered(&mut self) -> Option<u64> {
        if !self.overflowed || !self.waiting.is_empty() {
            return None;
        }
        self.overflowed = false;
        Some(std::mem::take(&mut self.dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_core::observation::{Link, RootId};

    fn deleted() -> Observation {
        Observation::NodeDeleted { root: RootId(0), path: "/a".into() }
    }

    #[test]
    fn overflow_drops_all_but_the_link_and_is_told_once_drained() {
        let mut outbox = Outbox::default();
        outbox.push(Observation::Link { link: Link::Live, session: None, why: "".into() });
        for _ in 0..WAITING_MAX {
            outbox.push(deleted());
        }
        assert!(outbox.is_busy());
        assert_eq!(outbox.recovered(), None);
        assert_eq!(outbox.take_batch(), [Observation::Link { link: Link::Live, session: None, why: "".into() }]);
        assert_eq!(outbox.recovered(), Some(WAITING_MAX as u64));
        assert_eq!(outbox.recovered(), None);
        outbox.push(deleted());
        assert_eq!(outbox.take_batch(), [deleted()]);
    }
}
