//! A store that fails, hangs, or blocks its readers, as a test asks for.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::codec::Chunk;
use lockscope_history::historian::Open;
use lockscope_history::store::rows::{
    Density, DensityQuery, Fact, FactQuery, Minute, MinuteQuery, Rows, Span, SpanQuery,
};
use lockscope_history::store::sqlite::SqliteStore;
use lockscope_history::store::{ChunkHead, Coverage, Gap, Removed, Retention, Store, StoreError};

/// A store that fails, or hangs, as a test asks for.
#[derive(Debug)]
pub(crate) struct Faulty {
    inner: SqliteStore,
    fault: Arc<Fault>,
}

#[derive(Debug, Default)]
pub(crate) struct Fault {
    error: Mutex<Option<StoreError>>,
    pub(crate) stands: AtomicBool,
    /// Whoever reads chunks waits.
    pub(crate) reads_stand: AtomicBool,
    /// So many reads of chunks fail.
    pub(crate) reads_fail: AtomicUsize,
    pub(crate) tries: AtomicUsize,
    /// What was written, in order: chunks, or so many lives.
    pub(crate) written: Mutex<Vec<Wrote>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    Chunks,
    Rows { spans: usize },
}

impl Fault {
    pub(crate) fn set(&self, error: Option<StoreError>) {
        *self.error.lock().unwrap() = error;
    }

    fn check(&self) -> Result<(), StoreError> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        while self.stands.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        self.error.lock().unwrap().clone().map_or(Ok(()), Err)
    }
}

impl Store for Faulty {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }
    fn append(&self, chunks: &[Chunk], gaps: &[Gap]) -> Result<(), StoreError> {
        self.fault.check()?;
        self.fault.written.lock().unwrap().push(Wrote::Chunks);
        self.inner.append(chunks, gaps)
    }
    fn chunks(&self, from_seq: u64, limit: usize) -> Result<Vec<Chunk>, StoreError> {
        while self.fault.reads_stand.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        if self.fault.reads_fail.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            return Err(StoreError::Failed("reads fail".into()));
        }
        self.inner.chunks(from_seq, limit)
    }
    fn head_at(&self, at: TimeMs) -> Result<Option<ChunkHead>, StoreError> {
        self.inner.head_at(at)
    }
    fn head_of(&self, zxid: Zxid) -> Result<Option<ChunkHead>, StoreError> {
        self.inner.head_of(zxid)
    }
    fn checkpoint_before(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
        self.inner.checkpoint_before(seq)
    }
    fn checkpoint_after(&self, seq: u64) -> Result<Option<ChunkHead>, StoreError> {
        self.inner.checkpoint_after(seq)
    }
    fn gaps(&self, range: Range<TimeMs>) -> Result<Vec<Gap>, StoreError> {
        self.inner.gaps(range)
    }
    fn coverage(&self) -> Result<Coverage, StoreError> {
        self.inner.coverage()
    }
    fn retain(&self, now: TimeMs, retention: Retention) -> Result<Removed, StoreError> {
        self.inner.retain(now, retention)
    }
    fn write_rows(&self, rows: &Rows) -> Result<(), StoreError> {
        self.fault.written.lock().unwrap().push(Wrote::Rows { spans: rows.spans.len() });
        self.inner.write_rows(rows)
    }
    fn spans(&self, query: &SpanQuery) -> Result<Vec<Span>, StoreError> {
        self.inner.spans(query)
    }
    fn minutes(&self, query: &MinuteQuery) -> Result<Vec<Minute>, StoreError> {
        self.inner.minutes(query)
    }
    fn densities(&self, query: &DensityQuery) -> Result<Vec<Density>, StoreError> {
        self.inner.densities(query)
    }
    fn facts(&self, query: &FactQuery) -> Result<Vec<Fact>, StoreError> {
        self.inner.facts(query)
    }
}

pub(crate) fn open_in(directory: &std::path::Path, fault: &Arc<Fault>) -> Open {
    let (directory, fault) = (directory.to_owned(), Arc::clone(fault));
    Box::new(move || {
        fault.check()?;
        Ok(Arc::new(Faulty { inner: SqliteStore::open(&directory, "prod")?, fault: Arc::clone(&fault) }))
    })
}
