//! The one task that changes the model. Owns the only write access; everybody else holds a [`Reader`]. Knows neither
//! ZooKeeper's client nor sockets.

mod model;

use std::iter::Peekable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::vec::IntoIter;

use app::domain::observation::Observation;
use app::domain::time::TimeMs;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::clock::{self, Clock};
use crate::shutdown::Stop;

pub use model::Model;

/// Time between two ticks of the model.
pub const TICK_MS: u64 = 250;
/// Observations applied under one write lock, and how long one is held; readers get their turn in between.
const APPLY_MAX: usize = 1_024;
const SLICE: Duration = Duration::from_millis(4);

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
        }
    }

    /// Applies a batch slice by slice. Who waits to read meanwhile reads before the next slice: the lock is handed over.
    async fn apply(&mut self, batch: Vec<Observation>) {
        let mut rest = batch.into_iter().peekable();
        let mut is_behind = false;
        while is_behind || rest.peek().is_some() {
            let model = Arc::clone(&self.model);
            let revision = {
                let mut model = model.write();
                is_behind = self.apply_slice(&mut *model, &mut rest);
                let revision = model.revision();
                RwLockWriteGuard::unlock_fair(model);
                revision
            };
            if !is_behind {
                self.publish.send_if_modified(|published| std::mem::replace(published, revision) != revision);
            }
            self.pulse.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }

    /// Applies as much as one slice may hold. True when the model is not done with what it took in.
    fn apply_slice(&mut self, model: &mut M, rest: &mut Peekable<IntoIter<Observation>>) -> bool {
        let ends_at = clock::instant() + SLICE;
        for _ in 0..APPLY_MAX {
            self.now = self.now.max(TimeMs(self.clock.now_ms()));
            if model.has_backlog() {
                model.go_on(self.now);
            } else if let Some(observation) = rest.next() {
                model.apply(self.now, observation);
            } else {
                return false;
            }
            if clock::instant() >= ends_at {
                break;
            }
        }
        model.has_backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shutdown;
    use app::domain::change::Change;
    use app::domain::observation::RootId;
    use std::thread;

    #[derive(Default)]
    struct Counting {
        roots: u32,
        ticks: u32,
        has_begun: bool,
        /// Pieces of 2 ms that are left of the last observation.
        pieces: u32,
    }

    impl Model for Counting {
        fn apply(&mut self, _now: TimeMs, observation: Observation) -> Vec<Change> {
            match observation {
                Observation::SyncEnded { root } if root == RootId(u32::MAX) => std::panic::panic_any("model broke"),
                Observation::SyncBegan { root, .. } => {
                    (self.has_begun, self.pieces) = (true, root.0);
                    Vec::new()
                }
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

        fn has_backlog(&self) -> bool {
            self.pieces > 0
        }

        fn go_on(&mut self, _now: TimeMs) -> Vec<Change> {
            thread::sleep(Duration::from_millis(2));
            self.pieces -= 1;
            Vec::new()
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

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn readers_get_their_turn_while_a_long_observation_is_applied() {
        const PIECES: u32 = 500;
        let (_stopper, stop) = shutdown::channel();
        let (tx, rx) = mpsc::channel(4);
        let engine = Engine::start(Counting::default(), rx, Clock::manual(1), stop);
        let (reader, pulse) = (engine.reader.clone(), engine.pulse());
        let looks = tokio::task::spawn_blocking(move || {
            let mut looks = 0_u32;
            loop {
                match reader.read(|model| (model.has_begun, model.pieces)) {
                    (false, _) => thread::yield_now(),
                    (true, 0) => return looks,
                    (true, _) => looks += 1,
                }
            }
        });
        tx.send(vec![Observation::SyncBegan { root: RootId(PIECES), why: "".into() }]).await.unwrap();
        assert!(looks.await.unwrap() >= 10, "a second of work lets nobody look");
        assert!(pulse.load(Ordering::Relaxed) >= 10, "the watchdog hears nothing");
    }
}
