//! The sender's side: hands over what was applied, and never waits. What can't be handed over is dropped, and with it
//! everything up to the next checkpoint, since what follows a loss can't be replayed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Checkpoint;
use lockscope_core::time::TimeMs;

use super::status::HistoryHandle;
use crate::codec::bytes_of;
use crate::derive::Event;
use crate::store::GapReason;

/// Batches that wait to be written. Overflow policy: dropped, counted, and a gap.
pub const BATCHES_MAX: usize = 4_096;
/// Batches that wait of one who waits for room. Overflow policy: it waits.
pub const PATIENT_BATCHES_MAX: usize = 16;
/// Bytes of observations that wait to be written. Overflow policy: as above.
pub const BATCHES_BYTES_MAX: usize = 64 << 20;

/// What is handed over.
pub(super) enum Message {
    /// What was applied, each with its instant, and what came of it.
    Applied { batch: Vec<(TimeMs, Observation)>, events: Vec<(TimeMs, Event)>, bytes: usize },
    /// The model as it is here. What was lost before it, if anything.
    Checkpoint { now: TimeMs, checkpoint: Box<Checkpoint>, lost: Option<GapReason> },
}

/// What both sides see.
#[derive(Debug, Default)]
pub(super) struct Between {
    /// The historian wants a checkpoint.
    pub(super) wants_checkpoint: AtomicBool,
    /// One was handed over and not taken yet.
    pub(super) checkpoint_waits: AtomicBool,
    /// Something was lost on the way, and no checkpoint was handed over since.
    pub(super) is_losing: AtomicBool,
    /// What znodes carry is not to be kept.
    pub(super) hides_payloads: AtomicBool,
    /// Messages that wait, and their bytes.
    pub(super) messages: AtomicUsize,
    pub(super) bytes: AtomicUsize,
}

/// The sender's side. One engine has it.
pub struct Recorder {
    sender: SyncSender<Message>,
    between: Arc<Between>,
    handle: HistoryHandle,
    /// Something was lost; nothing is handed over before a checkpoint is.
    lost: Option<GapReason>,
    /// A checkpoint was handed over; before, nothing can be replayed.
    has_begun: bool,
    /// It waits for room where there is none: for what is read of files, which can wait.
    is_patient: bool,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Recorder {
    pub(super) fn new(sender: SyncSender<Message>, between: Arc<Between>, handle: HistoryHandle) -> Self {
        Self { sender, between, handle, lost: None, has_begun: false, is_patient: false }
    }

    pub(super) fn patient(self) -> Self {
        Self { is_patient: true, ..self }
    }

    /// Whether a checkpoint is wanted; then it is to be handed over between two batches as soon as the model has no
    /// backlog. Not while much waits: it might find no room. Some loads of atomics.
    pub fn wants_checkpoint(&self) -> bool {
        let is_wanted = self.lost.is_some() || !self.has_begun || self.between.wants_checkpoint.load(Ordering::Relaxed);
        is_wanted
            && !self.between.checkpoint_waits.load(Ordering::Relaxed)
            && self.between.messages.load(Ordering::Relaxed) < BATCHES_MAX / 2
            && self.between.bytes.load(Ordering::Relaxed) < BATCHES_BYTES_MAX / 2
    }

    /// Hands over what was applied since the last call, in order, and what came of it. Never waits.
    pub fn record(&mut self, batch: Vec<(TimeMs, Observation)>, events: Vec<(TimeMs, Event)>) {
        if batch.is_empty() && events.is_empty() {
            return;
        }
        if self.lost.is_some() {
            return self.dropped(batch.len());
        }
        // What came before the first checkpoint is in it.
        if !self.has_begun {
            return;
        }
        let of_events: usize = events.iter().map(|(_, event)| event.bytes()).sum();
        let (len, bytes) =
            (batch.len(), of_events + batch.iter().map(|(_, observation)| bytes_of(observation)).sum::<usize>());
        let waiting = self.between.bytes.fetch_add(bytes, Ordering::Relaxed);
        let has_room = self.is_patient || waiting + bytes <= BATCHES_BYTES_MAX;
        let is_sent = has_room && self.send(Message::Applied { batch, events, bytes });
        if !is_sent {
            self.between.bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.lost = Some(GapReason::TooBusy);
            self.between.is_losing.store(true, Ordering::Relaxed);
            self.dropped(len);
        }
    }

    /// Hands over the model as it is here, after all that was recorded before. It is walked through on the historian's
    /// thread. False when there was no room: it is wanted still.
    pub fn checkpoint(&mut self, now: TimeMs, checkpoint: Checkpoint) -> bool {
        self.between.checkpoint_waits.store(true, Ordering::Relaxed);
        let is_sent = self.send(Message::Checkpoint { now, checkpoint: Box::new(checkpoint), lost: self.lost });
        if is_sent {
            (self.lost, self.has_begun) = (None, true);
            self.between.is_losing.store(false, Ordering::Relaxed);
        } else {
            self.between.checkpoint_waits.store(false, Ordering::Relaxed);
        }
        is_sent
    }

    /// Whether what znodes carry is left out from here on.
    pub fn hide_payloads(&self, is_hidden: bool) {
        self.between.hides_payloads.store(is_hidden, Ordering::Relaxed);
    }

    /// Read access for others.
    pub fn handle(&self) -> HistoryHandle {
        self.handle.clone()
    }

    fn send(&self, message: Message) -> bool {
        // Counted first: the other side may take it at once.
        self.between.messages.fetch_add(1, Ordering::Relaxed);
        let is_sent = if self.is_patient {
            self.sender.send(message).is_ok()
        } else {
            match self.sender.try_send(message) {
                Ok(()) => true,
                Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
            }
        };
        if !is_sent {
            self.between.messages.fetch_sub(1, Ordering::Relaxed);
        }
        is_sent
    }

    /// Something is missing from here on: a gap up to the next checkpoint.
    pub fn lose(&mut self, why: GapReason) {
        if self.has_begun {
            self.lost = Some(why);
            self.between.is_losing.store(true, Ordering::Relaxed);
        }
    }

    fn dropped(&self, observations: usize) {
        self.handle.change(|status| status.dropped += observations as u64);
    }
}
