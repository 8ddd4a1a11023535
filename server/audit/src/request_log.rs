//! Requests on record: an intent before anything is done, and one outcome for each intent, whatever the disk does.
//! RefusalSummary requests go on record one by one up to a number a minute for each actor, and then as a count.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lockscope_view::AuditKind;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::refusals::Refusals;
use super::{AuditError, Entry, Journal};
use crate::Actor;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::tasks::spawn;

/// Requests without an outcome on record at once; one more is refused. Only a disk that stalls or is full comes near
/// it.
pub const OPEN_MAX: usize = 64;
/// Actors whose refusals are counted apart; all others are counted together.
const ACTORS_MAX: usize = 1_000;
/// Refusals that wait to be written; more are counted.
const REFUSALS_WAITING_MAX: usize = 256;
/// How long a refused request waits for its record; it is written either way.
const REFUSAL_MAX: Duration = Duration::from_secs(2);
/// How soon refusals that were counted are put on record.
const MINUTE: Duration = Duration::from_secs(60);
/// Pauses between tries to write an outcome.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// Puts requests on record. Cheap to clone.
#[derive(Clone)]
pub struct RequestLog(Arc<Inner>);

struct Inner {
    journal: Arc<dyn Journal>,
    clock: Clock,
    /// How long a record may take before it counts as not to be written.
    within: Duration,
    open: Arc<Semaphore>,
    refusals_waiting: Arc<Semaphore>,
    refused: Mutex<RefusalSummary>,
}

#[derive(Default)]
struct RefusalSummary {
    by_actor: BTreeMap<String, (Refusals, Option<Actor>)>,
    is_summary_due: bool,
}

/// A request whose intent is on record. Its outcome takes this, so there is one.
#[derive(Debug)]
#[must_use = "a request on record has an outcome"]
pub struct Intent {
    id: u64,
    place: OwnedSemaphorePermit,
}

impl Intent {
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl RequestLog {
    /// In this journal; `within`: how long a record may take.
    pub fn new(journal: Arc<dyn Journal>, clock: Clock, within: Duration) -> Self {
        let (open, refusals_waiting) =
            (Arc::new(Semaphore::new(OPEN_MAX)), Arc::new(Semaphore::new(REFUSALS_WAITING_MAX)));
        Self(Arc::new(Inner { journal, clock, within, open, refusals_waiting, refused: Mutex::default() }))
    }

    /// Puts a request on record. `undone` is its outcome if that comes too late: the record may be written after it was
    /// given up.
    ///
    /// # Errors
    /// When it is not on record in time. Nothing may be done then.
    pub async fn intent(&self, entry: Entry, undone: Entry) -> Result<Intent, AuditError> {
        let full = |_| AuditError(format!("{OPEN_MAX} requests wait for the disk to take their records"));
        let place = Arc::clone(&self.0.open).try_acquire_owned().map_err(full)?;
        let journal = Arc::clone(&self.0.journal);
        let mut writing = tokio::spawn(async move { journal.append(entry).await });
        match tokio::time::timeout(self.0.within, &mut writing).await {
            Ok(written) => written
                .unwrap_or_else(|_| Err(AuditError("writing it broke off".to_owned())))
                .map(|id| Intent { id, place }),
            Err(_) => {
                let journal = Arc::clone(&self.0.journal);
                spawn("outcome of a late request", async move {
                    if let Ok(Ok(id)) = writing.await {
                        write(&*journal, Entry { intent: Some(id), ..undone }, None).await;
                    }
                    drop(place);
                });
                Err(self.late())
            }
        }
    }

    /// Puts the outcome of a request on record. What can't be written now is tried until it can.
    ///
    /// # Errors
    /// When it is not on record yet.
    pub async fn outcome(&self, intent: Intent, entry: Entry) -> Result<u64, AuditError> {
        let journal = Arc::clone(&self.0.journal);
        let (tell, first) = oneshot::channel();
        spawn("outcome on record", async move {
            write(&*journal, Entry { intent: Some(intent.id), ..entry }, Some(tell)).await;
            drop(intent.place);
        });
        let first = tokio::time::timeout(self.0.within, first).await.map_err(|_| self.late())?;
        first.unwrap_or_else(|_| Err(AuditError("writing it broke off".to_owned())))
    }

    /// Puts the outcome of a request of a server before on record; ends when it is, and gives its number.
    pub async fn late_outcome(&self, intent: u64, entry: Entry) -> u64 {
        write(&*self.0.journal, Entry { intent: Some(intent), ..entry }, None).await
    }

    /// Puts something on record that has no outcome of its own; its number.
    ///
    /// # Errors
    /// When it is not on record in time. It may be written later.
    pub async fn note(&self, entry: Entry) -> Result<u64, AuditError> {
        let journal = Arc::clone(&self.0.journal);
        let writing = tokio::spawn(async move { journal.append(entry).await });
        let written = tokio::time::timeout(self.0.within, writing).await.map_err(|_| self.late())?;
        written.unwrap_or_else(|_| Err(AuditError("writing it broke off".to_owned())))
    }

    /// A refused request: nothing was done.
    pub async fn refusal(&self, actor: &Actor, entry: Entry) {
        let place = Arc::clone(&self.0.refusals_waiting).try_acquire_owned().ok();
        let Some(place) = self.count(actor, place) else { return };
        let journal = Arc::clone(&self.0.journal);
        let writing = spawn("refusal on record", async move {
            if let Err(error) = journal.append(entry).await {
                tracing::warn!(%error, "a refusal is not on record");
            }
            drop(place);
        });
        // It goes on.
        let _ = tokio::time::timeout(REFUSAL_MAX, writing).await;
    }

    /// Puts refusals on record that were only counted so far.
    pub async fn flush(&self) {
        let counted: Vec<_> = {
            let RefusalSummary { by_actor, .. } = std::mem::take(&mut *self.0.refused.lock());
            by_actor.into_values().filter_map(|(mut count, actor)| Some((count.take_left_out()?, actor))).collect()
        };
        for (count, actor) in counted {
            let detail = format!("{count} more refused requests within a minute are not recorded one by one");
            if let Err(error) =
                self.0.journal.append(Entry { actor, ..Entry::of_server(AuditKind::Refused, detail) }).await
            {
                tracing::warn!(%error, count, "the count of refusals is not on record");
            }
        }
    }

    /// Counts a refusal; gives the place back when it is to be written.
    fn count(&self, actor: &Actor, place: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
        let now_ms = self.0.clock.now_ms();
        let mut refused = self.0.refused.lock();
        let own = format!("{} {}", actor.by.name(), actor.name);
        let is_known = refused.by_actor.contains_key(&own) || refused.by_actor.len() < ACTORS_MAX;
        let key = if is_known { own } else { String::new() };
        let (count, _) =
            refused.by_actor.entry(key).or_insert_with(|| (Refusals::default(), is_known.then(|| actor.clone())));
        if place.is_none() {
            count.leave_out();
        } else if count.count(now_ms) {
            return place;
        }
        if !std::mem::replace(&mut refused.is_summary_due, true) {
            let log = self.clone();
            spawn("count of refusals", async move {
                tokio::time::sleep(MINUTE).await;
                log.flush().await;
            });
        }
        None
    }

    fn late(&self) -> AuditError {
        AuditError(format!("it was not durable within {} s", self.0.within.as_secs_f64()))
    }
}

/// Writes a record, and tries until it is written; returns the result of the first try.
async fn write(journal: &dyn Journal, entry: Entry, mut tell: Option<oneshot::Sender<Result<u64, AuditError>>>) -> u64 {
    let mut pause = AGAIN;
    loop {
        let written = journal.append(entry.clone()).await;
        if let Some(tell) = tell.take() {
            // Whoever asked may have given up.
            let _ = tell.send(written.clone());
        }
        let error = match written {
            Ok(id) => return id,
            Err(error) => error,
        };
        tracing::error!(%error, intent = entry.intent, outcome = entry.outcome, "an outcome is not on record yet");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_MAX);
    }
}

#[cfg(test)]
#[path = "request_log_tests.rs"]
mod tests;
