//! The one task that changes the model. Owns the only write access; everybody else holds a [`Reader`]. Knows neither
//! ZooKeeper's client nor sockets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use app::domain::change::Change;
use app::domain::observation::Observation;
use app::domain::time::TimeMs;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::clock::Clock;
use crate::shutdown::Stop;

/// Time between two ticks of the model.
pub const TICK_MS: u64 = 250;
/// Observations applied under one write lock; readers get their turn in between.
const APPLY_MAX: usize = 1_024;

/// What the engine drives: the observatory, or a stand-in in tests.
pub trait Model: Send + Sync + 'static {
    /// Takes one observation in.
    fn apply(&mut self, now: TimeMs, observation: Observation) -> Vec<Change>;
    /// Changes applied so far.
    fn revision(&self) -> u64;
}

/// Why the engine ended other than by being told to.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A panic in the model.
    #[error("the model failed: {0}")]
    Failed(String),
    /// The observer is gone.
    #[error("nobody observes any more")]
    NoObserver,
}

/// Read access; cheap to clone.
pub struct Reader<M> {
    model: Arc<RwLock<M>>,
    revision: watch::Receiver<u64>,
}

impl<M> Clone for Reader<M> {
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), revision: self.revision.clone() }
    }
}

impl<M> Reader<M> {
    /// One consistent look. Writers wait meanwhile: be quick.
    pub fn read<T>(&self, look: impl FnOnce(&M) -> T) -> T {
        look(&self.model.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same as a guard, for looks at several models at once. Never held across an await.
    pub fn guard(&self) -> RwLockReadGuard<'_, M> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes applied so far.
    pub fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    /// Wakes with every change. Closed when the engine is gone.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.clone()
    }
}

/// The engine as its owner sees it.
pub struct Engine<M> {
    /// Read access.
    pub reader: Reader<M>,
    pulse: Arc<AtomicU64>,
    task: JoinHandle<Result<(), EngineError>>,
}

impl<M: Model> Engine<M> {
    /// Starts the task.
    pub fn start(model: M, inbox: mpsc::Receiver<Vec<Observation>>, clock: Clock, stop: Stop) -> Self {
        let model = Arc::new(RwLock::new(model));
        let (publish, revision) = watch::channel(0);
        let pulse = Arc::new(AtomicU64::new(0));
        let writer = Writer { model: model.clone(), publish, clock, now: TimeMs(i64::MIN), pulse: pulse.clone() };
        Self { reader: Reader { model, revision }, pulse, task: tokio::spawn(writer.run(inbox, stop)) }
    }

    /// A count that rises whenever the model took something in, at least with each tick: while it does, the engine lives.
    pub fn pulse(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.pulse)
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// When the engine ended without being told to; what it showed last is then no longer true.
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
    clock: Clock,
    /// The model's time, which never runs backwards although clocks may.
    now: TimeMs,
    pulse: Arc<AtomicU64>,
}

impl<M: Model> Writer<M> {
    async fn run(mut self, mut inbox: mpsc::Receiver<Vec<Observation>>, stop: Stop) -> Result<(), EngineError> {
        let mut tick = tokio::time::interval(Duration::from_millis(TICK_MS));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let batch = tokio::select! {
                () = stop.stopped() => return Ok(()),
                batch = inbox.recv() => match batch {
                    Some(batch) => batch,
                    None if stop.is_stopped() => return Ok(()),
                    None => return Err(EngineError::NoObserver),
                },
                _ = tick.tick() => vec![Observation::Tick],
            };
            self.apply(batch).await;
            self.pulse.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn apply(&mut self, batch: Vec<Observation>) {
        let mut rest = batch.into_iter().peekable();
        while rest.peek().is_some() {
            let revision = {
                let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
                for observation in rest.by_ref().take(APPLY_MAX) {
                    self.now = self.now.max(TimeMs(self.clock.now_ms()));
                    model.apply(self.now, observation);
                }
                model.revision()
            };
            self.publish.send_if_modified(|published| std::mem::replace(published, revision) != revision);
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shutdown;
    use app::domain::observation::RootId;

    #[derive(Default)]
    struct Counting {
        roots: u32,
        ticks: u32,
    }

    impl Model for Counting {
        fn apply(&mut self, _now: TimeMs, observation: Observation) -> Vec<Change> {
            match observation {
                Observation::SyncEnded { root } if root == RootId(u32::MAX) => std::panic::panic_any("model broke"),
                Observation::Tick => {
                    self.ticks += 1;
                    Vec::new()
                }
                _ => {
                    self.roots += 1;
                    vec![Change::RootChanged(RootId(0))]
                }
            }
        }

        fn revision(&self) -> u64 {
            u64::from(self.roots)
        }
    }

    fn ended(root: u32) -> Observation {
        Observation::SyncEnded { root: RootId(root) }
    }

    #[tokio::test]
    async fn batches_are_applied_in_order_and_published_and_stop_ends_the_task() {
        let (stopper, stop) = shutdown::channel();
        let (tx, rx) = mpsc::channel(4);
        let mut engine = Engine::start(Counting::default(), rx, Clock::manual(1), stop);
        tx.send((0..3_000).map(ended).collect()).await.unwrap();
        let mut revisions = engine.reader.revisions();
        revisions.wait_for(|revision| *revision == 3_000).await.unwrap();
        assert_eq!(engine.reader.read(|model| model.roots), 3_000);
        stopper.stop();
        engine.ended().await.unwrap();
        assert_eq!(engine.reader.revision(), 3_000);
    }

    #[tokio::test]
    async fn a_panic_in_the_model_is_noticed_and_reading_goes_on() {
        let (_stopper, stop) = shutdown::channel();
        let (tx, rx) = mpsc::channel(4);
        let mut engine = Engine::start(Counting::default(), rx, Clock::manual(1), stop);
        tx.send(vec![ended(1), ended(u32::MAX)]).await.unwrap();
        assert!(matches!(engine.ended().await, Err(EngineError::Failed(_))));
        assert_eq!(engine.reader.read(|model| model.roots), 1);
    }

    #[tokio::test]
    async fn an_observer_that_is_gone_is_an_error() {
        let (_stopper, stop) = shutdown::channel();
        let (tx, rx) = mpsc::channel(4);
        let mut engine = Engine::start(Counting::default(), rx, Clock::manual(1), stop);
        drop(tx);
        assert!(matches!(engine.ended().await, Err(EngineError::NoObserver)));
    }
}
