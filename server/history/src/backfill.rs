//! Fills a store with what was not observed as it happened: the same model, the same tap and the same historian, as fast as
//! they can. Blocking. Whoever calls it says what it was, and the store keeps that beside it.

use std::sync::{Arc, mpsc};

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Observatory;
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_runtime::clock::Clock;

use crate::derive::{self, Event, Tap};
use crate::historian::{CHECKPOINT_MS, Historian, HistoryStatus, Recorder};
use crate::store::{Gap, GapReason, Retention, Store, StoreError};

/// Observations that are handed over at once. With it, all that the historian may have waiting fits an hour many times.
const BATCH_MAX: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum BackfillError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no thread for the history: {0}")]
    Thread(#[from] std::io::Error),
    #[error("{0} observations were not kept")]
    Dropped(u64),
}

#[derive(Debug)]
pub struct Backfill {
    store: Arc<dyn Store>,
    retention: Retention,
    settings: Settings,
    model: Option<Observatory>,
    running: Option<Running>,
}

/// A recording that is under way, up to the next stop.
#[derive(Debug)]
struct Running {
    historian: Historian,
    recorder: Recorder,
    tap: Tap,
    batch: Vec<(TimeMs, Observation)>,
    events: Vec<(TimeMs, Event)>,
    checkpoint_at: TimeMs,
}

impl Backfill {
    /// Begins with an empty model of these settings.
    pub fn new(store: Arc<dyn Store>, retention: Retention, settings: Settings) -> Self {
        Self { store, retention, settings, model: None, running: None }
    }

    /// Takes in an observation. Instants do not fall.
    ///
    /// # Errors
    /// There is no thread to record.
    pub fn observe(&mut self, now: TimeMs, observation: Observation) -> Result<(), BackfillError> {
        let model = self.model.get_or_insert_with(|| Observatory::new(self.settings.clone(), now));
        let running = match &mut self.running {
            Some(running) => running,
            None => self.running.insert(Running::start(&self.store, self.retention, model, now)?),
        };
        if running.checkpoint_at <= now {
            running.checkpoint(model, now);
        }
        derive::apply(&mut running.tap, model, now, observation.clone(), &mut running.events);
        running.batch.push((now, observation));
        if running.batch.len() >= BATCH_MAX {
            running.hand_over();
        }
        Ok(())
    }

    /// A znode was deleted through Lockscope; its deletion follows.
    pub fn forced(&mut self, czxid: Zxid) {
        if let Some(running) = &self.running {
            running.recorder.handle().forced(czxid);
        }
    }

    /// Nobody observes until the next observation; that time is a gap, and the model goes on as after a restart.
    ///
    /// # Errors
    /// Not everything up to here was kept.
    pub fn stop(&mut self, next: TimeMs) -> Result<(), BackfillError> {
        self.end()?;
        if let Some(model) = &mut self.model {
            model.apply(next, Observation::Restarted(Box::new(self.settings.clone())));
        }
        Ok(())
    }

    /// Stores the rest, and that all of it was generated: what is recorded from here on comes after a gap that says so.
    ///
    /// # Errors
    /// Not everything was kept.
    pub fn finish_generated(mut self) -> Result<(), BackfillError> {
        let ended = self.end();
        let coverage = self.store.coverage()?;
        let mark =
            coverage.to.map(|at| Gap { after_seq: coverage.last_seq, from: at, to: at, why: GapReason::Generated });
        self.store.append(&[], mark.as_slice())?;
        ended
    }

    fn end(&mut self) -> Result<(), BackfillError> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        running.hand_over();
        let handle = running.recorder.handle();
        drop(running.recorder);
        running.historian.join();
        let HistoryStatus { dropped, trouble, .. } = handle.status();
        match trouble {
            Some((why, _)) => Err(StoreError::Failed(why.into()).into()),
            None if dropped > 0 => Err(BackfillError::Dropped(dropped)),
            None => Ok(()),
        }
    }
}

impl Running {
    fn start(
        store: &Arc<dyn Store>,
        retention: Retention,
        model: &Observatory,
        now: TimeMs,
    ) -> Result<Self, BackfillError> {
        let (opened, is_open) = mpsc::channel();
        let store = Arc::clone(store);
        let open = move || {
            let _ = opened.send(());
            Ok(Arc::clone(&store))
        };
        let (historian, recorder) = Historian::start(Box::new(open), move || retention, Clock::system())?;
        // What is handed over before the store is open would be lost. What comes after this waits its turn behind it.
        let _ = is_open.recv();
        let (tap, batch, events) = (Tap::default(), Vec::new(), Vec::new());
        let mut running = Self { historian, recorder, tap, batch, events, checkpoint_at: now };
        running.checkpoint(model, now);
        Ok(running)
    }

    fn checkpoint(&mut self, model: &Observatory, now: TimeMs) {
        self.hand_over();
        if let Some(checkpoint) = model.checkpoint() {
            self.recorder.checkpoint(now, checkpoint);
            self.checkpoint_at = now + CHECKPOINT_MS;
        }
    }

    fn hand_over(&mut self) {
        self.recorder.record(std::mem::take(&mut self.batch), std::mem::take(&mut self.events));
    }
}
