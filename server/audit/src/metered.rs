//! A journal that counts written and failed records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::BoxFuture;

use super::{AuditError, Entry, Journal};

/// What happened to records; the counters only grow.
#[derive(Debug, Default)]
pub struct JournalCounts {
    written: AtomicU64,
    failed: AtomicU64,
    is_failing: AtomicBool,
}

impl JournalCounts {
    /// Notes an attempt to write, or to open what is written to.
    pub fn note(&self, has_failed: bool) {
        let counter = if has_failed { &self.failed } else { &self.written };
        counter.fetch_add(1, Ordering::Relaxed);
        self.is_failing.store(has_failed, Ordering::Relaxed);
    }

    /// Records written by this process.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether the last attempt failed.
    pub fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }
}

pub struct MeteredJournal {
    inner: Arc<dyn Journal>,
    counts: Arc<JournalCounts>,
}

impl MeteredJournal {
    pub fn new(inner: Arc<dyn Journal>, counts: Arc<JournalCounts>) -> Self {
        Self { inner, counts }
    }
}

impl Journal for MeteredJournal {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(async {
            let written = self.inner.append(entry).await;
            self.counts.note(written.is_err());
            written
        })
    }
}
