//! Counters of requests to the ensemble and of resyncs, for the metrics.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use lockscope_core::proof::Proof;
use tokio::sync::watch;

use super::members::MemberEpochs;
use super::watch::Why;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Watch,
    /// Data and Stat of many znodes, in one request.
    Read,
    /// The Stat of a znode that may not be read.
    Stat,
    /// Names of children of many directories, in one request.
    List,
    /// The counters of a directory.
    Check,
    /// A round trip that shows that the link answers.
    Probe,
}

impl Kind {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Watch, "watch"),
        (Self::Read, "read"),
        (Self::Stat, "stat"),
        (Self::List, "list"),
        (Self::Check, "check"),
        (Self::Probe, "probe"),
    ];
}

/// Counters of one observer; but for what is excluded now, they only grow.
#[derive(Debug, Default)]
pub struct RequestCounts {
    requests: [AtomicU64; Kind::ALL.len()],
    failed: [AtomicU64; Kind::ALL.len()],
    resyncs: [AtomicU64; Why::ALL.len()],
    sessions: AtomicU64,
    session_id: AtomicI64,
    left_out: AtomicU64,
    ignored_events: AtomicU64,
    /// What the members report of their epochs, where they are asked.
    pub(super) epochs: OnceLock<watch::Receiver<MemberEpochs>>,
    /// What proves that what is observed is live, as of a moment ago.
    pub proof: Arc<Mutex<Proof>>,
}

impl RequestCounts {
    pub(super) fn asked(&self, kind: Kind, requests: usize) {
        add(&self.requests, kind as usize, requests as u64);
    }

    pub(super) fn failed(&self, kind: Kind) {
        add(&self.failed, kind as usize, 1);
    }

    pub(super) fn began(&self, why: Why) {
        add(&self.resyncs, why as usize, 1);
    }

    pub(super) fn session_made(&self, id: i64) {
        self.session_id.store(id, Ordering::Relaxed);
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// Each kind of request with how many were sent and how many failed.
    pub fn requests(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let counts = self
            .requests
            .iter()
            .zip(&self.failed)
            .map(|(sent, failed)| (sent.load(Ordering::Relaxed), failed.load(Ordering::Relaxed)));
        Kind::ALL.into_iter().zip(counts).map(|((_, name), (sent, failed))| (name, sent, failed))
    }

    /// Each reason for reading a root anew with how often that was; the first reading is none.
    pub fn resyncs(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let again = Why::ALL.into_iter().zip(&self.resyncs).filter(|(why, _)| *why != Why::FirstSync);
        again.map(|(why, count)| (why.name(), count.load(Ordering::Relaxed)))
    }

    /// A directory's children that are left out were so many, and are so many now.
    pub(super) fn left_out(&self, before: u32, now: u32) {
        // Two's complement: adding what is above zero takes away as well.
        self.left_out.fetch_add(u64::from(now).wrapping_sub(u64::from(before)), Ordering::Relaxed);
    }

    pub(super) fn ignored_event(&self) {
        self.ignored_events.fetch_add(1, Ordering::Relaxed);
    }

    /// About how many znodes are never read, of those whose directory is; what lies below them is not known.
    pub fn excluded(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    pub fn excluded_events(&self) -> u64 {
        self.ignored_events.load(Ordering::Relaxed)
    }

    /// The session that was made last; 0 before the first.
    pub(super) fn session_id(&self) -> i64 {
        self.session_id.load(Ordering::Relaxed)
    }

    /// Looks at the members' epochs; there are none where members are not asked.
    pub(super) fn with_epochs<T>(&self, look: impl FnOnce(&MemberEpochs) -> T) -> T {
        match self.epochs.get() {
            Some(epochs) => look(&epochs.borrow()),
            None => look(&MemberEpochs::new()),
        }
    }

    pub fn sessions(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }
}

fn add(counters: &[AtomicU64], at: usize, count: u64) {
    if let Some(counter) = counters.get(at) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_reason_has_its_own_counter() {
        let counts = RequestCounts::default();
        for (at, (kind, _)) in Kind::ALL.into_iter().enumerate() {
            counts.asked(kind, at + 1);
            counts.failed(kind);
        }
        assert!(counts.requests().zip(1..).all(|((_, sent, failed), at)| sent == at && failed == 1));
        for why in Why::ALL {
            counts.began(why);
        }
        assert_eq!(counts.resyncs().filter(|(_, count)| *count == 1).count(), Why::ALL.len() - 1);
    }
}
