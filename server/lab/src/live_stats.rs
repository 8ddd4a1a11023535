//! The figures of one lane, shared by its clients and those who look on.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use super::relay::Meter;
use super::tally::{Progress, Seat, Tally};
use lockscope_runtime::clock;

/// One lane's figures.
#[derive(Debug)]
pub(super) struct LiveStats {
    begin: Instant,
    tally: Mutex<Tally>,
    progress: watch::Sender<Progress>,
    /// Counts what its clients send and get.
    pub(super) meter: Arc<Meter>,
}

impl LiveStats {
    /// See [`Tally::new`].
    pub(super) fn new(clients: u32, wakes_all: bool) -> Self {
        let tally = Tally::new(clients, wakes_all);
        let progress = watch::Sender::new(tally.progress());
        Self { begin: clock::instant(), tally: Mutex::new(tally), progress, meter: Arc::default() }
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock()
    }

    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Microseconds since the lane began.
    pub(super) fn now_us(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub(super) fn note<T>(&self, note: impl FnOnce(&mut Tally, u64) -> T) -> T {
        let now_us = self.now_us();
        let mut tally = self.tally();
        let noted = note(&mut tally, now_us);
        let now = tally.progress();
        // Under the lock, so that an older state never follows a newer one.
        self.progress.send_if_modified(|told| std::mem::replace(told, now) != now);
        noted
    }
}

/// What one client reports of itself.
#[derive(Clone, Debug)]
pub(super) struct EventSink {
    pub(super) board: Arc<LiveStats>,
    /// Who, from 0.
    pub(super) client: u32,
}

impl EventSink {
    pub(super) fn sits(&self, seat: Seat) {
        self.board.note(|tally, _| tally.sit(self.client, seat));
    }

    /// It comes for a round.
    pub(super) fn comes(&self) {
        self.board.note(|tally, now_us| tally.comes(self.client, now_us));
    }

    /// It has a numbered znode in the queue.
    pub(super) fn came(&self, number: i64) {
        self.board.note(|tally, _| tally.came(self.client, u64::try_from(number).ok()));
    }

    /// It waits, and its watch is set.
    pub(super) fn queued(&self) {
        self.board.note(|tally, _| tally.queued(self.client));
    }

    pub(super) fn woken(&self) {
        self.board.note(|tally, _| tally.woken(self.client));
    }

    pub(super) fn holds(&self) {
        self.board.note(|tally, now_us| tally.holds(self.client, now_us));
    }

    /// It deletes its znode now.
    pub(super) fn releases(&self) {
        let events = self.board.meter.snapshot().events;
        self.board.note(|tally, now_us| tally.releases(self.client, now_us, events));
    }

    /// Another one got the lock while it held.
    pub(super) fn broken(&self) {
        self.board.note(|tally, _| tally.broken += 1);
    }
}
