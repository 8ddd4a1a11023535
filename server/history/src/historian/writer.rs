//! The historian's thread.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use lockscope_core::observation::Observation;
use lockscope_core::observatory::Checkpoint;
use lockscope_core::time::TimeMs;
use lockscope_runtime::backoff::{Backoff, BackoffError};
use lockscope_runtime::clock::{self, Clock};

use super::Open;
use super::derived::Derived;
use super::limits::{FLUSH_MS, FLUSH_TICKS_MS};
use super::progress::{Loss, STORE_BYTES, Since, is_cut_off, sum_bytes};
use super::recorder::{Between, Message};
use super::retention_schedule::RetentionSchedule;
use super::status::{HistoryHandle, HistoryState, HistoryStatus};
use crate::codec::{Chunk, ChunkKind, Encoder};
use crate::derive::Deriver;
use crate::payloads::without_payloads;
use crate::replay;
use crate::store::{Gap, GapReason, Retention, Store, StoreError, generated_before, reason_before};

/// Bytes of chunks that wait for a store that fails. Overflow policy: dropped, counted, and a gap.
pub const BACKLOG_BYTES_MAX: usize = 32 << 20;

/// Pauses between two tries of a store that fails.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_CAP: Duration = Duration::from_secs(10);
/// The same while another server records: whoever comes after it shall come soon.
const IN_USE_RETRY_CAP: Duration = Duration::from_secs(1);
/// How often the totals are looked at.
const STATUS_PAUSE: Duration = Duration::from_secs(2);

pub(super) struct Writer {
    open: Open,
    retention: RetentionSchedule,
    clock: Clock,
    between: Arc<Between>,
    handle: HistoryHandle,
    store: Option<Arc<dyn Store>>,
    encoder: Encoder,
    /// Chunks that are complete and not stored.
    complete: Vec<Chunk>,
    /// Gaps that are not stored.
    gaps: Vec<Gap>,
    /// The last that is stored, by number, and until when all that happened is stored.
    stored: (u64, Option<TimeMs>),
    /// When the last question was sent that was answered.
    proven_at: Option<TimeMs>,
    /// Nothing is recorded before the next checkpoint.
    loss: Option<Loss>,
    since: Since,
    /// When what was handed over last is to be stored.
    flush_at: Option<Instant>,
    /// Observations that are not stored.
    unstored: u64,
    backoff: Backoff,
    retry_at: Option<Instant>,
    status_at: Instant,
    rate: (Instant, u64),
    derived: Derived,
}

impl Writer {
    pub(super) fn new(
        open: Open,
        retention: Box<dyn Fn() -> Retention + Send>,
        clock: Clock,
        (between, handle): (Arc<Between>, HistoryHandle),
        resumed: Option<Deriver>,
    ) -> Result<Self, BackoffError> {
        let backoff = Backoff::new(RETRY_FIRST, RETRY_CAP)?;
        let now = clock::instant();
        Ok(Self {
            open,
            retention: RetentionSchedule::new(retention, now),
            clock,
            between,
            handle,
            store: None,
            encoder: Encoder::new(1),
            complete: Vec::new(),
            gaps: Vec::new(),
            stored: (0, None),
            proven_at: None,
            loss: Some(Loss { after_seq: 0, from: None, why: GapReason::NotRunning }),
            since: Since::default(),
            flush_at: None,
            unstored: 0,
            backoff,
            retry_at: None,
            status_at: now,
            rate: (now, 0),
            derived: Derived::new(now, resumed),
        })
    }

    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let wait = self.due_at().saturating_duration_since(clock::instant());
            match messages.recv_timeout(wait) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.handle.begins(TimeMs(self.clock.now_ms()));
            self.do_what_is_due();
            self.handle.pauses(self.state());
        }
        self.retry_at = None;
        self.store_all();
        let finished = self.derived.finish(self.store.as_deref());
        finished.err().iter().for_each(|error| self.trouble(error));
        self.look_at_totals();
        self.handle.change(|status| status.state = HistoryState::Ended);
    }

    fn due_at(&self) -> Instant {
        let write_at = match self.retry_at {
            Some(at) => Some(at),
            None if self.store.is_none() => Some(clock::instant()),
            None => self.flush_at,
        };
        let due = [self.status_at, self.retention.at(), self.derived.due_at()].into_iter().chain(write_at);
        due.min().unwrap_or(self.status_at)
    }

    fn do_what_is_due(&mut self) {
        let now = clock::instant();
        if self.retry_at.is_none_or(|at| at <= now) {
            // What rows come from is stored before they are, so that they can be derived again.
            let is_due = self.flush_at.is_some_and(|at| at <= now || self.derived.due_at() <= now);
            let is_due = is_due || sum_bytes(&self.complete) >= STORE_BYTES;
            if self.store.is_none() || is_due || self.retry_at.is_some() {
                self.store_all();
            }
        }
        self.handle.take_forced().into_iter().for_each(|czxid| self.derived.forced(czxid));
        let written = self.derived.write_due(now, self.store.as_deref().filter(|_| self.retry_at.is_none()));
        written.err().iter().for_each(|error| self.trouble(error));
        if sum_bytes(&self.complete) > BACKLOG_BYTES_MAX {
            self.lose(GapReason::StoreFailed);
        }
        if let Some(retention) = self.retention.due(now)
            && let Some(store) = &self.store
        {
            let removed = store.retain(TimeMs(self.clock.now_ms()), retention);
            removed.err().iter().for_each(|error| self.trouble(error));
            self.status_at = now;
        }
        if self.status_at <= now {
            self.status_at = now + STATUS_PAUSE;
            self.look_at_totals();
        }
    }

    fn take(&mut self, message: Message) {
        self.between.messages.fetch_sub(1, Ordering::Relaxed);
        match message {
            Message::Applied { batch, events, bytes } => {
                self.between.bytes.fetch_sub(bytes, Ordering::Relaxed);
                self.derived.take(events, batch.last().map(|(now, _)| *now));
                let blank = |(now, observation)| (now, without_payloads(observation));
                let is_blank = self.between.hides_payloads.load(Ordering::Relaxed);
                self.record(&if is_blank { batch.into_iter().map(blank).collect() } else { batch });
            }
            Message::Checkpoint { now, checkpoint, lost } => {
                if let Some(why) = lost {
                    self.derived.lose();
                    self.lose(why);
                }
                self.checkpoint(now, &checkpoint);
            }
        }
    }

    fn record(&mut self, batch: &[(TimeMs, Observation)]) {
        let [.., (last, _)] = batch else { return };
        if let Some(loss) = &self.loss {
            // Before anything was kept nothing is lost: the first checkpoint that is kept has it.
            let is_opening = loss.from.is_none() && self.retry_at.is_none();
            return self.handle.change(|status| status.dropped += if is_opening { 0 } else { batch.len() as u64 });
        }
        let before = self.complete.len();
        for (at, (now, observation)) in batch.iter().enumerate() {
            // Also between two that are handed over at once: the process may have stood still before the second.
            self.gaps.extend(self.since.go_on(*now, self.encoder.last_seq()));
            if let Err(error) = self.encoder.push(*now, observation, &mut self.complete) {
                tracing::error!(%error, "an observation is not kept");
                let rest = (batch.len() - at) as u64;
                self.handle.change(|status| status.dropped += rest);
                return self.lose(GapReason::TooLarge);
            }
            if let Observation::Synced { sent_at } = observation {
                self.proven_at = Some(*sent_at);
            }
            self.unstored += 1;
        }
        self.since.observations += batch.len() as u64;
        self.since.bytes += self.complete.iter().skip(before).map(|chunk| chunk.body.len() as u64).sum::<u64>();
        let is_news = batch.iter().any(|(_, observation)| *observation != Observation::Tick);
        let by = clock::instant() + Duration::from_millis(if is_news { FLUSH_MS } else { FLUSH_TICKS_MS });
        self.flush_at = Some(self.flush_at.map_or(by, |at| at.min(by)));
        self.want_checkpoint(*last);
    }

    /// Asks for a checkpoint when one is due.
    fn want_checkpoint(&self, now: TimeMs) {
        if self.since.wants_checkpoint(now) {
            self.between.wants_checkpoint.store(true, Ordering::Relaxed);
        }
    }

    fn checkpoint(&mut self, now: TimeMs, checkpoint: &Checkpoint) {
        self.between.wants_checkpoint.store(false, Ordering::Relaxed);
        self.between.checkpoint_waits.store(false, Ordering::Relaxed);
        // A store that fails has no room for one; the next is asked for when it works.
        if self.loss.is_some() && self.store.is_none() {
            return;
        }
        self.derived.begin(now, checkpoint, self.store.as_deref());
        // A silence before a checkpoint that was asked for earlier is a gap as well.
        if self.loss.is_none() {
            self.gaps.extend(self.since.go_on(now, self.encoder.last_seq()));
        }
        let is_blank = self.between.hides_payloads.load(Ordering::Relaxed);
        let blank = |observation| if is_blank { without_payloads(observation) } else { observation };
        let chunks = match self.encoder.checkpoint(now, checkpoint.observations().map(blank)) {
            Ok(chunks) => chunks,
            Err(error) => {
                tracing::error!(%error, "a checkpoint is not kept");
                return self.lose(GapReason::TooLarge);
            }
        };
        if let Some(Loss { after_seq, from, why }) = self.loss.take()
            && let Some(from) = from
        {
            self.gaps.push(Gap { after_seq, from, to: now.max(from), why });
        }
        let checkpoint_bytes = chunks.iter().map(|chunk| chunk.body.len() as u64).sum();
        self.since = Since { at: now, last_at: now, checkpoint_bytes, ..Since::default() };
        self.complete.extend(chunks);
        self.handle.change(|status| {
            status.checkpoints_written += 1;
            status.checkpoint_bytes = checkpoint_bytes;
        });
        self.flush_at = Some(clock::instant());
    }

    /// What is not stored is dropped, and what follows up to the next checkpoint.
    fn lose(&mut self, why: GapReason) {
        // What was complete before may still be stored; it ends where the gap begins.
        self.complete.extend(self.encoder.forget());
        if why == GapReason::StoreFailed {
            self.complete.clear();
            self.gaps.clear();
            let dropped = std::mem::take(&mut self.unstored);
            self.handle.change(|status| status.dropped += dropped);
        }
        let (after_seq, from) = self.complete.last().map_or(self.stored, |chunk| self.complete_until(chunk));
        self.loss.get_or_insert(Loss { after_seq, from, why });
        self.flush_at = (!self.complete.is_empty()).then(clock::instant);
        if self.retry_at.is_none() {
            self.between.wants_checkpoint.store(true, Ordering::Relaxed);
        }
    }

    /// A chunk, and until when all that happened is in it and before it.
    fn complete_until(&self, last: &Chunk) -> (u64, Option<TimeMs>) {
        (last.seq, Some(replay::complete_at(last.last_at, self.proven_at)))
    }

    /// Stores everything there is, or tries to.
    pub(super) fn store_all(&mut self) {
        let began = clock::instant();
        let result = match self.store.clone() {
            Some(store) => self.append(&*store),
            None => self.open_store(),
        };
        let took_us = u64::try_from(clock::instant().duration_since(began).as_micros()).unwrap_or(u64::MAX);
        self.handle.change(|status| {
            status.write_us = (took_us, status.write_us.1.saturating_add(took_us));
            status.writes += 1;
        });
        match result {
            Ok(()) => self.is_stored(),
            Err(error) => {
                let wait = self.backoff.next(f64::from(took_us.to_le_bytes()[0]) / 256.0);
                let is_lost = matches!(error, StoreError::InUse(_) | StoreError::Restored(_));
                self.retry_at = Some(clock::instant() + if is_lost { wait.min(IN_USE_RETRY_CAP) } else { wait });
                if is_lost && self.store.is_some() {
                    self.stand_back();
                }
                self.trouble(&error);
            }
        }
    }

    /// Numbers of what is not stored may be taken by now: the store is opened anew, and rows begin behind those there.
    fn stand_back(&mut self) {
        self.lose(GapReason::StoreFailed);
        self.derived = Derived::new(clock::instant(), None);
        self.store = None;
    }

    fn open_store(&mut self) -> Result<(), StoreError> {
        let store = (self.open)()?;
        let coverage = store.coverage()?;
        self.encoder = Encoder::new(coverage.last_seq + 1);
        // The gap ends with it, and what follows it waits while what whoever recorded before left is read.
        self.between.wants_checkpoint.store(true, Ordering::Relaxed);
        let why = reason_before(&*store)?;
        let from = replay::complete_until(&*store)?;
        self.stored = (coverage.last_seq, from);
        self.loss = Some(Loss { after_seq: coverage.last_seq, from, why });
        self.derived.take_over((clock::instant(), TimeMs(self.clock.now_ms())), &*store)?;
        self.handle.opened(&store);
        self.store = Some(store);
        Ok(())
    }

    /// Stores what is complete, checkpoint by checkpoint, and what is under way. What was stored before an error is not
    /// stored again.
    fn append(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        let mut gaps = self.gaps.clone();
        // A gap that goes on is stored as far as it is known, also to see whether the store works.
        let going_on = self.loss.filter(|_| self.retry_at.is_some());
        if let Some(Loss { after_seq, from: Some(from), why }) = going_on {
            gaps.push(Gap { after_seq, from, to: TimeMs(self.clock.now_ms()).max(from), why });
        }
        loop {
            // A day ends before a checkpoint at most, and all of a day is stored or nothing.
            let begins = |chunk: &Chunk| chunk.kind == ChunkKind::Checkpoint { part: 0 };
            let next = self.complete.iter().skip(1).position(begins).map_or(self.complete.len(), |at| at + 1);
            let is_last = next == self.complete.len();
            let mut chunks = self.complete.get(..next).unwrap_or_default().to_vec();
            chunks.extend(self.encoder.so_far().filter(|_| is_last));
            store.append(&chunks, &gaps)?;
            gaps.clear();
            self.gaps.clear();
            if let Some(chunk) = chunks.last() {
                self.stored = self.complete_until(chunk);
            }
            self.rate.1 += self.complete.drain(..next).map(|chunk| chunk.body.len() as u64).sum::<u64>();
            if is_last {
                return Ok(());
            }
        }
    }

    fn is_stored(&mut self) {
        self.flush_at = None;
        self.backoff.reset();
        let was_failing = self.retry_at.take().is_some();
        let written = std::mem::take(&mut self.unstored);
        if self.loss.is_some() {
            self.between.wants_checkpoint.store(true, Ordering::Relaxed);
        }
        let state = self.state();
        self.handle.change(|status| {
            status.written += written;
            status.trouble = None;
            status.state = state;
        });
        if was_failing {
            tracing::info!("the history can be kept again");
        }
    }

    fn trouble(&self, error: &StoreError) {
        let HistoryStatus { trouble, mut is_standby, .. } = self.handle.status();
        is_standby &= matches!(error, StoreError::InUse(_));
        if trouble.is_none() && !is_standby {
            tracing::error!(%error, "the history can't be kept");
        }
        self.handle.change(|status| {
            let since = status.trouble.take().map_or_else(|| TimeMs(self.clock.now_ms()), |(_, since)| since);
            status.trouble = (!is_standby).then(|| (error.to_string().into(), since));
            status.state = self.state();
        });
    }

    fn state(&self) -> HistoryState {
        match (&self.store, self.retry_at, self.loss) {
            (None, _, _) => HistoryState::Opening,
            (Some(_), Some(_), _) => HistoryState::Failing,
            (Some(_), None, Some(_)) => HistoryState::Waiting,
            (Some(_), None, None) if self.between.is_losing.load(Ordering::Relaxed) => HistoryState::Waiting,
            (Some(_), None, None) => HistoryState::Recording,
        }
    }

    fn look_at_totals(&mut self) {
        let now = clock::instant();
        let seconds = now.duration_since(self.rate.0).as_secs_f64();
        let Some(store) = self.store.as_deref() else { return };
        let (Ok(coverage), Ok(generated)) = (store.coverage(), generated_before(store)) else { return };
        self.between.wants_checkpoint.fetch_or(is_cut_off(store), Ordering::Relaxed);
        let rate = if seconds > 0.0 { self.rate.1 as f64 / seconds } else { 0.0 };
        self.handle.change(|status| {
            status.coverage = coverage;
            status.generated_until = generated.map(|gap| gap.from);
            status.bytes_per_s = if status.bytes_per_s == 0.0 { rate } else { status.bytes_per_s * 0.9 + rate * 0.1 };
        });
        self.rate = (now, 0);
    }
}
