//! Records on a thread of its own: takes batches from a bounded channel, encodes and stores them. Whatever happens to the
//! store, whoever hands over never waits: what can't be kept is dropped, counted, and stored as a gap as soon as
//! something can be stored again. A gap ends where a checkpoint begins.

mod derived;
pub(crate) mod limits;
mod progress;
mod recorder;
mod retention_schedule;
mod status;
mod writer;

use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use lockscope_runtime::clock::Clock;

pub use derived::ROWS_WAITING_MAX;
pub use limits::{FLUSH_MS, FLUSH_TICKS_MS, MINUTES_FLUSH_MS, ROWS_FLUSH_MS};
pub use progress::{CHECKPOINT_BYTES_MIN, CHECKPOINT_MS, CHECKPOINT_OBSERVATIONS, CHECKPOINT_PAUSE_MS, SILENCE_MS};
pub use recorder::{BATCHES_BYTES_MAX, BATCHES_MAX, GATHERED_MAX, PATIENT_BATCHES_MAX, Recorder};
pub use status::{ANSWER_MAX, HistoryHandle, HistoryState, HistoryStatus};
pub use writer::BACKLOG_BYTES_MAX;

use crate::derive::Deriver;
use crate::store::{Retention, Store, StoreError};
use recorder::Between;
use writer::Writer;

/// Opens the store; called again until it succeeds.
pub type Open = Box<dyn Fn() -> Result<Arc<dyn Store>, StoreError> + Send>;

/// The thread that records.
#[derive(Debug)]
pub struct Historian(JoinHandle<()>);

impl Historian {
    /// Starts recording. It ends when the recorder is dropped.
    pub fn start(
        open: Open,
        retention: impl Fn() -> Retention + Send + 'static,
        clock: Clock,
    ) -> io::Result<(Self, Recorder)> {
        Self::go_on(open, retention, clock, None)
    }

    /// The same, with what [`crate::resume`] made of the recording so far.
    pub fn go_on(
        open: Open,
        retention: impl Fn() -> Retention + Send + 'static,
        clock: Clock,
        resumed: Option<Deriver>,
    ) -> io::Result<(Self, Recorder)> {
        Self::start_with(BATCHES_MAX, open, Box::new(retention), clock, resumed, |_| {})
    }

    /// The same for what can wait: the store is open when this returns, or [`HistoryStatus::trouble`] says why not, and the
    /// recorder waits for room instead of dropping anything. Whoever hands over keeps
    /// batches short, since [`PATIENT_BATCHES_MAX`] of them wait.
    pub fn start_patient(
        open: Open,
        retention: impl Fn() -> Retention + Send + 'static,
        clock: Clock,
    ) -> io::Result<(Self, Recorder)> {
        let ready = |writer: &mut Writer| writer.store_all();
        Self::start_with(PATIENT_BATCHES_MAX, open, Box::new(retention), clock, None, ready)
            .map(|(historian, recorder)| (historian, recorder.patient()))
    }

    fn start_with(
        batches_max: usize,
        open: Open,
        retention: Box<dyn Fn() -> Retention + Send>,
        clock: Clock,
        resumed: Option<Deriver>,
        ready: impl FnOnce(&mut Writer),
    ) -> io::Result<(Self, Recorder)> {
        let (sender, receiver) = mpsc::sync_channel(batches_max);
        let (between, handle) = (Arc::new(Between::default()), HistoryHandle::default());
        let mut writer = Writer::new(open, retention, clock, (Arc::clone(&between), handle.clone()), resumed)
            .map_err(io::Error::other)?;
        ready(&mut writer);
        let thread = std::thread::Builder::new().name("historian".to_owned()).spawn(move || writer.run(&receiver))?;
        Ok((Self(thread), Recorder::new(sender, between, handle)))
    }

    /// Waits until everything that was handed over is stored, or given up. Only after the recorder is dropped.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the historian failed");
        }
    }
}
