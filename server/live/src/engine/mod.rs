//! The one task that changes the model. Owns the only write access; everybody else holds a [`Reader`], and never sees a
//! part of the end of a session. Knows neither ZooKeeper's client nor sockets.

mod model;
mod observation_log;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockscope_core::observation::Observation;
use lockscope_core::pending::Pending;
use lockscope_core::time::TimeMs;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use lockscope_runtime::clock::{self, Clock};
use lockscope_runtime::shutdown::CancellationToken;
use lockscope_runtime::task_thread::{TaskResult, TaskThread};

pub use model::Model;
pub use observation_log::ObservationLog;

pub const TICK_MS: u64 = 250;
/// Observations applied under one write lock, and how long one is held; readers get their turn in between.
const APPLY_MAX: usize = 1_024;
const SLICE: Duration = Duration::from_millis(4);

/// Why the engine ended other than by `stop`.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A panic in the model.
    #[error("the model failed: {0}")]
    Failed(String),
    #[error("nobody observes any more")]
    NoObserver,
}

/// Read access; cheap to clone.
pub struct Reader<M> {
    model: Arc<RwLock<M>>,
    revision: watch::Receiver<u64>,
    told: Told,
}

/// A number that rises with every change of any model; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Changes(pub(crate) Arc<watch::Sender<u64>>);

impl Default for Changes {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Changes {
    pub(crate) fn count(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(crate) fn latest(&self) -> u64 {
        *self.0.borrow()
    }
}

/// Who counts the changes of several models together.
type Told = Arc<Mutex<Vec<Changes>>>;

impl<M> Clone for Reader<M> {
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), revision: self.revision.clone(), told: self.told.clone() }
    }
}

impl<M> Reader<M> {
    /// Access to a model that never changes.
    pub fn still(model: M) -> Self {
        Self { model: Arc::new(RwLock::new(model)), revision: watch::channel(0).1, told: Told::default() }
    }

    /// One consistent look. Writers wait meanwhile: be quick.
    pub fn read<T>(&self, look: impl FnOnce(&M) -> T) -> T {
        look(&self.model.read())
    }

    /// The same as a guard, for looks at several models at once. Never held across an await.
    pub fn guard(&self) -> RwLockReadGuard<'_, M> {
        self.model.read()
    }

    /// Changes applied so far.
    pub fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    /// Counts every further change there as well.
    pub(crate) fn tell(&self, changes: Changes) {
        self.told.lock().push(changes);
    }

    /// Wakes with every change. Closed when the engine is gone.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.clone()
    }
}

/// The engine as its owner sees it.
pub struct Engine<M> {
    pub reader: Reader<M>,
    pulse: Arc<AtomicU64>,
    task: TaskResult<Result<(), EngineError>>,
}

impl<M: Model> Engine<M> {
    /// Starts the task on a thread, best that of the observer.
    pub fn start(
        model: M,
        inbox: mpsc::Receiver<Vec<Observation>>,
        clock: Clock,
        stop: CancellationToken,
        thread: &TaskThread,
    ) -> Self {
        Self::start_recorded(model, inbox, clock, stop, thread, None)
    }

    /// The same; `log` is handed everything that is applied.
    pub fn start_recorded(
        model: M,
        inbox: mpsc::Receiver<Vec<Observation>>,
        clock: Clock,
        stop: CancellationToken,
        thread: &TaskThread,
        log: Option<Box<dyn ObservationLog<M>>>,
    ) -> Self {
        let model = Arc::new(RwLock::new(model));
        let (publish, revision) = watch::channel(0);
        let pulse = Arc::new(AtomicU64::new(0));
        // A checkpoint may be wanted before anything is applied: its instant is believed.
        let (now, pending, told) = (TimeMs(clock.now_ms()), Pending::new(), Told::default());
        let writer = Writer {
            model: model.clone(),
            publish,
            told: told.clone(),
            clock,
            now,
            pulse: pulse.clone(),
            pending,
            log,
            applied: Vec::new(),
        };
        Self { reader: Reader { model, revision, told }, pulse, task: thread.spawn(writer.run(inbox, stop)) }
    }

    /// A count that rises whenever the model took something in, at least with each tick: while it does, the engine
    /// lives.
    pub fn pulse(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.pulse)
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the engine ended without `stop`; what it showed last is then no longer true.
    pub async fn ended(&mut self) -> Result<(), EngineError> {
        match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => Err(EngineError::Failed(error.to_string())),
        }
    }
}

struct Writer<M> {
    model: Arc<RwLock<M>>,
    publish: watch::Sender<u64>,
    told: Told,
    clock: Clock,
    /// The model's time, which never runs backwards although clocks may.
    now: TimeMs,
    pulse: Arc<AtomicU64>,
    pending: Pending,
    log: Option<Box<dyn ObservationLog<M>>>,
    /// What was applied and not handed to the log.
    applied: Vec<(TimeMs, Observation)>,
}

impl<M: Model> Writer<M> {
    async fn run(
        mut self,
        mut inbox: mpsc::Receiver<Vec<Observation>>,
        stop: CancellationToken,
    ) -> Result<(), EngineError> {
        let mut tick = tokio::time::interval(Duration::from_millis(TICK_MS));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let mut tick_due = None;
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                batch = inbox.recv() => match batch {
                    Some(batch) => batch.into_iter().for_each(|observation| self.pending.push(observation)),
                    None if stop.is_cancelled() => return Ok(()),
                    None => return Err(EngineError::NoObserver),
                },
                _ = tick.tick() => tick_due = Some(Observation::Tick),
            }
            self.apply(tick_due).await;
        }
    }

    /// Applies `first` and all that need not wait, slice by slice. Who waits to read meanwhile reads before the next
    /// slice: the lock is handed over.
    async fn apply(&mut self, mut first: Option<Observation>) {
        let mut is_done = false;
        while !is_done {
            let model = Arc::clone(&self.model);
            let (is_behind, revision) = {
                let mut model = model.write();
                is_done = self.apply_slice(&mut *model, &mut first);
                let told = (model.has_backlog(), model.revision());
                RwLockWriteGuard::unlock_fair(model);
                told
            };
            self.write_log(is_behind);
            if !is_behind
                && self.publish.send_if_modified(|published| std::mem::replace(published, revision) != revision)
            {
                self.told.lock().iter().for_each(Changes::count);
            }
            self.pulse.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }

    /// Applies as much as one slice may hold, and a transaction whole however long it is. True when nothing is left.
    fn apply_slice(&mut self, model: &mut M, first: &mut Option<Observation>) -> bool {
        let ends_at = clock::instant() + SLICE;
        let mut applied = 0;
        loop {
            let is_within_step = self.pending.is_within_step();
            if !is_within_step && (applied >= APPLY_MAX || clock::instant() >= ends_at) {
                return false;
            }
            applied += 1;
            if self.log.as_mut().is_some_and(|log| log.go_on(self.now, model)) {
                continue;
            }
            if model.has_backlog() {
                let changes = model.go_on();
                if let Some(log) = &mut self.log {
                    log.changed(self.now, model, None, &changes);
                }
            } else if let Some(observation) = first.take().or_else(|| self.pending.next(model)) {
                // A transaction has one instant, so that no moment of the past has a part of it.
                if !is_within_step {
                    self.now = self.now.max(TimeMs(self.clock.now_ms()));
                }
                let Some(log) = &mut self.log else {
                    model.apply(self.now, observation);
                    continue;
                };
                let changes = model.apply_recorded(self.now, &observation);
                log.changed(self.now, model, Some(&observation), &changes);
                self.applied.push((self.now, observation));
            } else {
                return true;
            }
        }
    }

    /// Hands over what was applied, and the model where that is wanted and nothing in it is half done.
    fn write_log(&mut self, is_behind: bool) {
        let Some(log) = &mut self.log else { return };
        if !self.applied.is_empty() {
            log.record(std::mem::take(&mut self.applied));
        }
        if !is_behind && log.wants_checkpoint() {
            log.checkpoint(self.now, &self.model.read());
        }
    }
}

#[cfg(test)]
mod tests;
