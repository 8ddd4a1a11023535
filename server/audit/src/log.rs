//! The log of one server: one thread writes, everybody reads. Records that arrive while the disk is busy share the
//! next write.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use futures_util::future::BoxFuture;
use lockscope_view::{AuditKind, AuditPage};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use super::chain::ChainHead;
use super::records::{Export, PageQuery, Records};
use super::requests::{OpenIds, Requests};
use super::verify::{Segment, VerifiedLog, VerifyError, verify_dir};
use super::writer::{Writer, WrittenBatch, torn_end};
use super::{AuditError, Entry, Journal, export, files, head, page};
use lockscope_runtime::clock::Clock;

/// Entries that wait to be written; more wait to be taken.
const QUEUE_MAX: usize = 1_024;
const BATCH_MAX: usize = 64;
/// Exports at once; each reads the whole disk's worth.
const EXPORTS_MAX: usize = 4;
/// A file that is longer is full.
const ROTATE_BYTES: u64 = 64 * 1024 * 1024;

/// What a test may want smaller.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A file that is as long is full.
    pub rotate_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { rotate_bytes: ROTATE_BYTES }
    }
}

/// The open log. Dropping it waits for what is being written.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    queue: Option<mpsc::Sender<AppendRequest>>,
    thread: Option<JoinHandle<()>>,
    /// As they were when it was opened, until somebody takes them over.
    requests: Mutex<Option<Requests>>,
}

/// What readers see.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) dir: PathBuf,
    /// Nothing that holds it can panic half-way.
    state: Mutex<State>,
    /// The last number, for who follows the log.
    last_id: watch::Sender<u64>,
    pub(super) exports: Arc<Semaphore>,
}

#[derive(Debug)]
struct State {
    tip: ChainHead,
    segments: Vec<Segment>,
    open: OpenIds,
    trouble: String,
    delivery_trouble: String,
    /// The last record that the webhook took; None without one.
    delivered: Option<u64>,
}

struct AppendRequest {
    entry: Entry,
    answer: oneshot::Sender<Result<u64, AuditError>>,
}

impl Log {
    /// Opens the log in a directory, or begins one, after all of it was verified.
    ///
    /// # Errors
    /// When it is broken, written by another server, or can't be read or written.
    pub async fn open(dir: &Path, clock: Clock) -> Result<Self, AuditError> {
        Self::open_with(dir, clock, Options::default()).await
    }

    /// The same with other limits.
    pub async fn open_with(dir: &Path, clock: Clock, options: Options) -> Result<Self, AuditError> {
        let dir = dir.to_owned();
        let opened = tokio::task::spawn_blocking(move || Self::open_now(dir, clock, options)).await;
        opened.unwrap_or_else(|error| Err(AuditError(format!("the audit log could not be opened: {error}"))))
    }

    fn open_now(dir: PathBuf, clock: Clock, options: Options) -> Result<Self, AuditError> {
        files::make_dir(&dir)?;
        let lock = files::take(&dir)?;
        let (whole, said) = match verify_dir(&dir, None) {
            Ok(whole) => {
                let said = format!("the log goes on after record {} with the hash {}", whole.tip.id, whole.tip.hash);
                (whole, said)
            }
            Err(VerifyError::None { .. }) => {
                let whole = VerifiedLog {
                    tip: ChainHead::default(),
                    segments: Vec::new(),
                    torn_bytes: 0,
                    anchored: None,
                    requests: Requests::default(),
                };
                (whole, "record started".to_owned())
            }
            Err(error @ (VerifyError::Line { .. } | VerifyError::Files { .. })) => {
                return Err(AuditError(format!(
                    "the audit log is not intact: {error}; nothing is recorded until its files are put back as they were, or moved away so that a new record begins"
                )));
            }
            Err(error @ VerifyError::Io { .. }) => {
                return Err(AuditError(format!("the audit log can't be used: {error}")));
            }
        };
        let path = dir.join(files::LOG);
        let failed = |error| files::failed("written", &path, &error);
        let file = files::open_log(&dir).map_err(failed)?;
        let mut segments = whole.segments;
        let segment = match segments.last() {
            Some(last) if last.path == path => last.clone(),
            _ => {
                let segment = Segment { path: path.clone(), first_id: whole.tip.id + 1, bytes: 0 };
                segments.push(segment.clone());
                segment
            }
        };
        let mut said = said;
        if whole.torn_bytes > 0 {
            let torn = torn_end(&file, segment.bytes, whole.torn_bytes).map_err(failed)?;
            let kept =
                files::keep_torn(&dir, &torn).map_err(|error| files::failed("freed of a torn line", &path, &error))?;
            file.set_len(segment.bytes).and_then(|()| file.sync_all()).map_err(failed)?;
            said = format!(
                "{said}; {} bytes of a line that was being written when the server before ended were moved to {}",
                torn.len(),
                kept.display()
            );
        }
        if whole.tip.id > 0 && head::read(&dir).ok().flatten().as_ref() != Some(&whole.tip) {
            // The server before ended between a record and its head. If it can't be now, the next record will.
            let _ = head::write(&dir, &whole.tip);
        }
        let first = Entry::of_server(AuditKind::Started, said);
        let (last_id, _) = watch::channel(whole.tip.id);
        let open = OpenIds::new(&whole.requests);
        let state = State {
            tip: whole.tip.clone(),
            segments,
            open,
            trouble: String::new(),
            delivery_trouble: String::new(),
            delivered: None,
        };
        let shared = Arc::new(Shared {
            dir: dir.clone(),
            state: Mutex::new(state),
            last_id,
            exports: Arc::new(Semaphore::new(EXPORTS_MAX)),
        });
        let mut writer = Writer {
            dir,
            clock,
            rotate_bytes: options.rotate_bytes,
            file,
            segment,
            tip: whole.tip,
            is_dirty: false,
            pending: Some(first),
            _lock: lock,
        };
        // A full disk is no reason not to read; the first record is then written before the next.
        shared.note(&writer.write(Vec::new()), &[]);
        let (queue, inbox) = mpsc::channel(QUEUE_MAX);
        let kept = shared.clone();
        let thread =
            std::thread::Builder::new().name("audit".to_owned()).spawn(move || write_all(&mut writer, inbox, &kept));
        let thread =
            thread.map_err(|error| AuditError(format!("the audit log's writer thread can't be started: {error}")))?;
        Ok(Self { shared, queue: Some(queue), thread: Some(thread), requests: Mutex::new(Some(whole.requests)) })
    }

    pub fn tip(&self) -> ChainHead {
        self.shared.state.lock().tip.clone()
    }

    /// Why nothing can be written; empty while all is well.
    pub fn trouble(&self) -> String {
        self.shared.state.lock().trouble.clone()
    }

    /// The requests that were on record when it was opened, for whoever settles those without an outcome; once.
    pub fn take_requests(&self) -> Option<Requests> {
        self.requests.lock().take()
    }

    /// Records that the webhook has still to take; None without one.
    pub fn webhook_behind(&self) -> Option<u64> {
        let state = self.shared.state.lock();
        state.delivered.map(|delivered| state.tip.id.saturating_sub(delivered))
    }

    /// What the webhook reads.
    pub(super) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic there was logged when it happened.
            let _ = thread.join();
        }
    }
}

fn write_all(writer: &mut Writer, mut inbox: mpsc::Receiver<AppendRequest>, shared: &Shared) {
    while let Some(first) = inbox.blocking_recv() {
        let mut asked = vec![first];
        while asked.len() < BATCH_MAX
            && let Ok(more) = inbox.try_recv()
        {
            asked.push(more);
        }
        let (entries, answers): (Vec<_>, Vec<_>) = asked.into_iter().map(|asked| (asked.entry, asked.answer)).unzip();
        let parts: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.intent)).collect();
        let written = writer.write(entries);
        shared.note(&written, &parts);
        for (at, answer) in (0..).zip(answers) {
            // Whoever asked may be gone; the record stays.
            let _ = answer.send(written.as_ref().map(|written| written.first_id + at).map_err(Clone::clone));
        }
    }
}

impl Shared {
    fn note(&self, written: &Result<WrittenBatch, AuditError>, parts: &[(AuditKind, Option<u64>)]) {
        let mut state = self.state.lock();
        match written {
            Ok(written) => {
                if !state.trouble.is_empty() {
                    tracing::info!("the audit record is written again");
                    state.trouble.clear();
                }
                state.take(written);
                for (id, (kind, intent)) in (written.first_id..).zip(parts) {
                    state.open.take(id, *kind, *intent);
                }
                let id = state.tip.id;
                drop(state);
                self.last_id.send_replace(id);
            }
            Err(error) => {
                if state.trouble != error.0 {
                    tracing::error!("{error}; every release is rejected meanwhile");
                    state.trouble.clone_from(&error.0);
                }
            }
        }
    }

    /// Files with their whole lengths.
    pub(super) fn segments(&self) -> Vec<Segment> {
        self.state.lock().segments.clone()
    }

    /// Follows the last number.
    pub(super) fn follow(&self) -> watch::Receiver<u64> {
        self.last_id.subscribe()
    }

    /// Why the webhook is behind; empty when it is not.
    pub(super) fn set_delivery_trouble(&self, trouble: String) {
        self.state.lock().delivery_trouble = trouble;
    }

    pub(super) fn set_delivered(&self, id: u64) {
        self.state.lock().delivered = Some(id);
    }

    fn page(&self, query: &PageQuery) -> Result<AuditPage, AuditError> {
        let path = self.dir.join(files::LOG);
        let (mut page, segments) = {
            let state = self.state.lock();
            let page = AuditPage {
                total: state.tip.id,
                open_requests: state.open.count(),
                file: path.display().to_string(),
                trouble: state.trouble.clone(),
                delivery_trouble: state.delivery_trouble.clone(),
                next_before: None,
                replica: None,
                not_shown: Vec::new(),
                not_shown_trouble: String::new(),
                records: Vec::new(),
            };
            (page, state.segments.clone())
        };
        let found = page::find(&self.dir, &segments, query).map_err(|error| files::failed("read", &path, &error))?;
        (page.next_before, page.records) = (found.next_before, found.records);
        Ok(page)
    }
}

impl State {
    fn take(&mut self, written: &WrittenBatch) {
        if let Some(last) = self.segments.last_mut()
            && last.first_id != written.segment.first_id
        {
            last.path.set_file_name(files::full_name(last.first_id));
        } else {
            self.segments.pop();
        }
        self.segments.push(written.segment.clone());
        self.tip = written.tip.clone();
    }
}

impl Journal for Log {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(async move {
            let ended =
                || AuditError("the audit log is not written any more: its thread ended; restart Lockscope".to_owned());
            let (answer, written) = oneshot::channel();
            let queue = self.queue.as_ref().ok_or_else(ended)?;
            queue.send(AppendRequest { entry, answer }).await.map_err(|_| ended())?;
            written.await.map_err(|_| ended())?
        })
    }
}

impl Records for Log {
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<AuditPage, AuditError>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || shared.page(&query)).await;
            read.unwrap_or_else(|error| Err(AuditError(format!("the audit record could not be read: {error}"))))
        })
    }

    fn export(&self) -> BoxFuture<'_, Result<Export, AuditError>> {
        Box::pin(async move {
            let busy = |_| AuditError(format!("{EXPORTS_MAX} exports run already; try again when one has ended"));
            let permit = self.shared.exports.clone().try_acquire_owned().map_err(busy)?;
            Ok(export::stream(self.shared.dir.clone(), self.shared.segments(), permit))
        })
    }
}
