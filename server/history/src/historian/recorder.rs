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

/// Observations that are gathered before they are handed over, unless a tick comes first: each time wakes the historian's
/// thread, and few events at a time would be woken for one by one. Overflow policy: they are handed over.
pub const GATHERED_MAX: usize = 512;

pub(super) enum Message {
    /// What was applied, each with its instant, and what came of it.
    Applied { batch: Vec<(TimeMs, Observation)>, events: Vec<(TimeMs, Event)>, bytes: usize },
    /// The model as it is here. What was lost before it, if anything.
    Checkpoint { now: TimeMs, checkpoint: Box<Checkpoint>, lost: Option<GapReason> },
}

/// What both sides see.
#[derive(Debug, Default)]
pub(super) struct Between {
    pub(super) wants_checkpoint: AtomicBool,
    /// One was handed over and not taken yet.
    pub(super) checkpoint_waits: AtomicBool,
    /// Something was lost on the way, and no checkpoint was handed over since.
    pub(super) is_losing: AtomicBool,
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
    /// What is gathered to be handed over at once.
    gathered: Vec<(TimeMs, Observation)>,
    gathered_events: Vec<(TimeMs, Event)>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Recorder {
    pub(super) fn new(sender: SyncSender<Message>, between: Arc<Between>, handle: HistoryHandle) -> Self {
        let (gathered, gathered_events) = (Vec::new(), Vec::new());
        Self { sender, between, handle, lost: None, has_begun: false, is_patient: false, gathered, gathered_events }
    }

    pub(super) fn patient(mut self) -> Self {
        self.is_patient = true;
        self
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

    /// Gathers what was applied since the last call, in order, and what came of it, and hands it over with the next tick or
    /// once there are [`GATHERED_MAX`]. For whoever records ticks; what is gathered is not lost with the recorder. Never waits.
    pub fn gather(&mut self, batch: &mut Vec<(TimeMs, Observation)>, events: &mut Vec<(TimeMs, Event)>) {
        let is_time = batch.iter().any(|(_, observation)| *observation == Observation::Tick);
        self.gathered.append(batch);
        self.gathered_events.append(events);
        if is_time || self.gathered.len() >= GATHERED_MAX {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let (batch, events) = (std::mem::take(&mut self.gathered), std::mem::take(&mut self.gathered_events));
        self.record_now(batch, events);
    }

    /// Hands over what was applied since the last call, in order, and what came of it. Never waits.
    pub fn record(&mut self, batch: Vec<(TimeMs, Observation)>, events: Vec<(TimeMs, Event)>) {
        self.hand_over();
        self.record_now(batch, events);
    }

    fn record_now(&mut self, batch: Vec<(TimeMs, Observation)>, events: Vec<(TimeMs, Event)>) {
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
        self.hand_over();
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

    pub fn hide_payloads(&mut self, is_hidden: bool) {
        if self.between.hides_payloads.load(Ordering::Relaxed) != is_hidden {
            self.hand_over();
        }
        self.between.hides_payloads.store(is_hidden, Ordering::Relaxed);
    }

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
        self.hand_over();
        if self.has_begun {
            self.lost = Some(why);
            self.between.is_losing.store(true, Ordering::Relaxed);
        }
    }

    fn dropped(&self, observations: usize) {
        self.handle.change(|status| status.dropped += observations as u64);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.hand_over();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use lockscope_core::observatory::{Observatory, Settings};

    use super::*;

    fn begun() -> (Recorder, Receiver<Message>) {
        let (sender, receiver) = sync_channel(16);
        let mut recorder = Recorder::new(sender, Arc::default(), HistoryHandle::default());
        let model = Observatory::new(Settings::default(), TimeMs(0));
        assert!(recorder.checkpoint(TimeMs(0), model.checkpoint().unwrap()));
        assert!(matches!(receiver.try_recv(), Ok(Message::Checkpoint { .. })));
        (recorder, receiver)
    }

    fn gather(recorder: &mut Recorder, at: i64, observation: Observation) {
        recorder.gather(&mut vec![(TimeMs(at), observation)], &mut Vec::new());
    }

    /// The instants of what was handed over, message by message.
    fn handed_over(receiver: &Receiver<Message>) -> Vec<Vec<i64>> {
        let instants = |message| match message {
            Message::Applied { batch, .. } => batch.into_iter().map(|(at, _)| at.0).collect(),
            Message::Checkpoint { now, .. } => vec![-now.0],
        };
        receiver.try_iter().map(instants).collect()
    }

    #[test]
    fn what_is_gathered_is_handed_over_with_a_tick_or_when_there_is_much() {
        let (mut recorder, receiver) = begun();
        gather(&mut recorder, 1, Observation::Asked);
        gather(&mut recorder, 2, Observation::Answered);
        assert!(handed_over(&receiver).is_empty());
        gather(&mut recorder, 3, Observation::Tick);
        assert_eq!(handed_over(&receiver), [[1, 2, 3]]);
        (0..GATHERED_MAX as i64 - 1).for_each(|at| gather(&mut recorder, 4 + at, Observation::Asked));
        assert!(handed_over(&receiver).is_empty());
        gather(&mut recorder, 1_000, Observation::Asked);
        assert_eq!(handed_over(&receiver).iter().map(Vec::len).collect::<Vec<_>>(), [GATHERED_MAX]);
    }

    #[test]
    fn what_is_gathered_comes_before_all_that_follows_and_is_not_lost_in_the_end() {
        let (mut recorder, receiver) = begun();
        gather(&mut recorder, 1, Observation::Asked);
        recorder.record(vec![(TimeMs(2), Observation::Asked)], Vec::new());
        gather(&mut recorder, 3, Observation::Asked);
        recorder.hide_payloads(true);
        gather(&mut recorder, 4, Observation::Asked);
        let model = Observatory::new(Settings::default(), TimeMs(0));
        recorder.checkpoint(TimeMs(5), model.checkpoint().unwrap());
        gather(&mut recorder, 6, Observation::Asked);
        recorder.lose(GapReason::Damaged);
        recorder.checkpoint(TimeMs(7), model.checkpoint().unwrap());
        gather(&mut recorder, 8, Observation::Asked);
        drop(recorder);
        assert_eq!(handed_over(&receiver), [[1], [2], [3], [4], [-5], [6], [-7], [8]]);
    }
}
