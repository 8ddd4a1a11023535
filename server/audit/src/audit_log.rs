//! The audit log of a server: opened when it is first needed, since a read-only server keeps nothing, and tried again with
//! the next record where that failed. Without one, every request is answered with the reason.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use lockscope_view::AuditPage;
use tokio::sync::{OnceCell, watch};

use super::{AuditError, Entry, Export, Journal, Log, PageQuery, Records, Requests, files};
use lockscope_runtime::clock::Clock;

#[derive(Debug)]
pub struct AuditLog {
    /// Where it is, or why none is kept.
    dir: Result<PathBuf, AuditError>,
    clock: Clock,
    log: OnceCell<Arc<Log>>,
    is_open: watch::Sender<bool>,
    written: AtomicU64,
    failed: AtomicU64,
    is_failing: AtomicBool,
}

impl Default for AuditLog {
    fn default() -> Self {
        let why =
            "no audit log is kept here; start Lockscope with --data-dir DIR to allow releases and record them there";
        Self::unavailable(AuditError(why.to_owned()))
    }
}

impl AuditLog {
    /// The log in this directory, which need not be there yet.
    pub fn new(dir: PathBuf, clock: Clock) -> Self {
        Self { dir: Ok(dir), clock, ..Self::default() }
    }

    /// No log: nothing that needs a record can be done.
    pub fn unavailable(why: AuditError) -> Self {
        Self {
            dir: Err(why),
            clock: Clock::system(),
            log: OnceCell::new(),
            is_open: watch::Sender::new(false),
            written: AtomicU64::default(),
            failed: AtomicU64::default(),
            is_failing: AtomicBool::default(),
        }
    }

    pub fn is_kept(&self) -> bool {
        self.dir.is_ok()
    }

    /// Records written by this process.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Records that could not be written, and starts of this process at which the log could not be opened.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether the last attempt failed.
    pub fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    fn count_failure(&self) {
        // Where none is kept, nothing failed.
        if self.is_kept() {
            self.failed.fetch_add(1, Ordering::Relaxed);
            self.is_failing.store(true, Ordering::Relaxed);
        }
    }

    /// The log, open.
    ///
    /// # Errors
    /// What stands in its way, and what to do.
    pub async fn open(&self) -> Result<Arc<Log>, AuditError> {
        let dir = self.dir.as_ref().map_err(Clone::clone)?;
        let opened = self.log.get_or_try_init(|| async {
            // Only for its owner: the record names people and reasons.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made.map_err(|error| {
                let dir = dir.display();
                AuditError(format!(
                    "the data directory {dir} can't be made ({error}); make it, or name another with --data-dir"
                ))
            })?;
            Log::open(dir, self.clock.clone()).await.map(Arc::new)
        });
        let opened = opened.await.cloned();
        self.is_open.send_if_modified(|is_open| opened.is_ok() && !std::mem::replace(is_open, true));
        opened
    }

    /// Opens it before the first record: a failure counts as one that could not be written.
    pub async fn open_early(&self) -> Result<(), AuditError> {
        self.open().await.map(drop).inspect_err(|_| self.count_failure())
    }

    /// Whether a log is there already, from a server before.
    pub fn is_there(&self) -> bool {
        self.dir.as_ref().is_ok_and(|dir| dir.join(files::LOG).exists())
    }

    /// The requests that were on record when the log was opened, once; None while it is not open.
    pub fn take_requests(&self) -> Option<Requests> {
        self.log.get().and_then(|log| log.take_requests())
    }

    /// Ends when the log is open.
    pub async fn opened(&self) {
        // It fails only without a sender, which is ours.
        let _ = self.is_open.subscribe().wait_for(|is_open| *is_open).await;
    }

    /// Records that the webhook has still to take; None without one.
    pub fn webhook_behind(&self) -> Option<u64> {
        self.log.get().and_then(|log| log.webhook_behind())
    }
}

impl Journal for AuditLog {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(async {
            let written = async { self.open().await?.append(entry).await }.await;
            match &written {
                Ok(_) => {
                    self.written.fetch_add(1, Ordering::Relaxed);
                    self.is_failing.store(false, Ordering::Relaxed);
                }
                Err(_) => self.count_failure(),
            }
            written
        })
    }
}

impl Records for AuditLog {
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<AuditPage, AuditError>> {
        Box::pin(async { self.open().await?.page(query).await })
    }

    fn export(&self) -> BoxFuture<'_, Result<Export, AuditError>> {
        Box::pin(async { self.open().await?.export().await })
    }
}
