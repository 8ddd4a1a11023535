//! A log that is opened when it is first needed: a read-only server keeps nothing. A log that could not be opened is
//! tried again with the next release.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use lockscope_view::AuditPage;
use tokio::sync::{OnceCell, watch};

use super::{AuditError, Entry, Export, Journal, Log, PageQuery, Records, Requests, files};
use lockscope_runtime::clock::Clock;

#[derive(Debug)]
pub struct LazyLog {
    dir: PathBuf,
    clock: Clock,
    log: OnceCell<Arc<Log>>,
    is_open: watch::Sender<bool>,
}

impl LazyLog {
    /// The log in this directory, which need not be there yet.
    pub fn new(dir: PathBuf, clock: Clock) -> Self {
        Self { dir, clock, log: OnceCell::new(), is_open: watch::Sender::new(false) }
    }

    /// The log, open.
    ///
    /// # Errors
    /// What stands in its way, and what to do.
    pub async fn open(&self) -> Result<Arc<Log>, AuditError> {
        let opened = self.log.get_or_try_init(|| async {
            // Only for its owner: the record names people and reasons.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
            made.map_err(|error| {
                let dir = self.dir.display();
                AuditError(format!(
                    "the data directory {dir} can't be made ({error}); make it, or name another with --data-dir"
                ))
            })?;
            Log::open(&self.dir, self.clock.clone()).await.map(Arc::new)
        });
        let opened = opened.await.cloned();
        self.is_open.send_if_modified(|is_open| opened.is_ok() && !std::mem::replace(is_open, true));
        opened
    }

    /// Whether a log is there already, from a server before.
    pub fn is_there(&self) -> bool {
        self.dir.join(files::LOG).exists()
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

impl Journal for LazyLog {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(async { self.open().await?.append(entry).await })
    }
}

impl Records for LazyLog {
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<AuditPage, AuditError>> {
        Box::pin(async { self.open().await?.page(query).await })
    }

    fn export(&self) -> BoxFuture<'_, Result<Export, AuditError>> {
        Box::pin(async { self.open().await?.export().await })
    }
}
