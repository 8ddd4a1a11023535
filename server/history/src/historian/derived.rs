//! What is derived while it is recorded: made on the historian's thread, and written when there is time.

use std::time::{Duration, Instant};

use lockscope_core::observatory::{Checkpoint, Observatory};
use lockscope_core::settings::Settings;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_runtime::clock;

use super::limits::{MINUTES_FLUSH_MS, ROWS_FLUSH_MS};
use crate::derive::{Deriver, Event, MINUTE_MS, Tap, minute_of};
use crate::replay::ReplayError;
use crate::resume::{SET_BACK_MAX_MS, resume};
use crate::store::rows::{Fact, FactKind, FactQuery, MinuteQuery, ROWS_READ_MAX, Rows};
use crate::store::{Store, StoreError, is_all_generated};

/// Rows of each kind that wait for a store that fails. Overflow policy: the oldest are dropped.
pub const ROWS_WAITING_MAX: usize = 50_000;
/// Tries to derive what the process before did not write.
const TAKE_OVERS_MAX: u32 = 3;

/// Rows on their way.
#[derive(Debug)]
pub(super) struct Derived {
    deriver: Deriver,
    /// It knows everything there is.
    has_begun: bool,
    /// It goes on where the process before ended.
    is_resumed: bool,
    /// It has what the process before did not write.
    has_taken_over: bool,
    take_overs: u32,
    rows: Rows,
    rows_at: Instant,
    minutes_at: Instant,
}

impl Derived {
    /// `resumed`: what followed the recording up to its end.
    pub(super) fn new(now: Instant, resumed: Option<Deriver>) -> Self {
        let (has_taken_over, deriver) = (resumed.is_some(), resumed.unwrap_or_default());
        let is_resumed = deriver.now().is_some();
        Self {
            deriver,
            has_begun: false,
            is_resumed,
            has_taken_over,
            take_overs: 0,
            rows: Rows::default(),
            rows_at: now,
            minutes_at: now,
        }
    }

    /// Goes on with the rows of whoever recorded before, as a start does: what that one recorded, and wrote no rows of before
    /// it was killed, is derived and written now, before anything is recorded: whoever comes after this process looks for what
    /// is missing only a little way back.
    ///
    /// # Errors
    /// The store can't be read now; after [`TAKE_OVERS_MAX`] of these the last rows are given up, not the recording.
    pub(super) fn take_over(&mut self, now: (Instant, TimeMs), store: &dyn Store) -> Result<(), StoreError> {
        let (now, wall) = now;
        self.derive_missing(now, store)?;
        self.deriver.settle(wall);
        self.rows_at = now;
        if let Err(error) = self.write_due(now, Some(store)) {
            tracing::warn!(%error, "the last rows of whoever recorded before are written later");
        }
        Ok(())
    }

    fn derive_missing(&mut self, now: Instant, store: &dyn Store) -> Result<(), StoreError> {
        if self.has_taken_over || is_all_generated(store)? {
            return Ok(());
        }
        self.take_overs += 1;
        match resume(store) {
            Ok(resumed) => *self = Self::new(now, Some(resumed.deriver)),
            Err(ReplayError::NothingKept { .. }) => {}
            Err(ReplayError::Store(error)) if self.take_overs < TAKE_OVERS_MAX => return Err(error),
            Err(error) => tracing::warn!(%error, "the last rows of whoever recorded before may be missing"),
        }
        Ok(())
    }

    /// Events are missing: a checkpoint is needed before others can be taken in.
    pub(super) fn lose(&mut self) {
        self.has_begun = false;
    }

    /// Begins with a model, or goes on with it after a loss. A copy of it is made for the time being.
    pub(super) fn begin(&mut self, now: TimeMs, checkpoint: &Checkpoint, store: Option<&dyn Store>) {
        if self.has_begun {
            return;
        }
        if self.deriver.now().is_some_and(|known| now < known - SET_BACK_MAX_MS) {
            let ended = self.deriver.end_all();
            if let Err(error) = self.write(ended, store) {
                tracing::warn!(%error, "what was known before the clock was set back is written later");
            }
            self.is_resumed = false;
        }
        if let Some(store) = store.filter(|_| !self.is_resumed)
            && let Err(error) = self.resume(now, store)
        {
            tracing::warn!(%error, "the minute that was under way begins anew");
        }
        let mut model = Observatory::new(Settings::default(), now);
        checkpoint.observations().for_each(|part| drop(model.apply(now, part)));
        let mut events = Vec::new();
        Tap::default().all(&model, now, &mut events);
        self.deriver.begin(now, events);
        self.has_begun = true;
    }

    fn resume(&mut self, now: TimeMs, store: &dyn Store) -> Result<(), StoreError> {
        let minute = minute_of(now);
        let range = minute..minute + MINUTE_MS;
        let minutes = store.minutes(&MinuteQuery { range, limit: ROWS_READ_MAX, ..MinuteQuery::default() })?;
        let facts = store.facts(&FactQuery { limit: 1, ..FactQuery::default() })?;
        self.deriver.resume(minutes, facts.first().map_or(0, |fact| fact.number));
        Ok(())
    }

    pub(super) fn take(&mut self, events: Vec<(TimeMs, Event)>, until: Option<TimeMs>) {
        if !self.has_begun {
            return;
        }
        events.into_iter().for_each(|(at, event)| self.deriver.take(at, event));
        until.into_iter().for_each(|now| self.deriver.advance(now));
    }

    pub(super) fn forced(&mut self, czxid: Zxid) {
        self.deriver.forced(czxid);
    }

    pub(super) fn due_at(&self) -> Instant {
        self.rows_at.min(self.minutes_at)
    }

    pub(super) fn write_due(&mut self, now: Instant, store: Option<&dyn Store>) -> Result<(), StoreError> {
        if self.minutes_at <= now {
            self.minutes_at = now + Duration::from_millis(MINUTES_FLUSH_MS);
            self.rows.minutes.extend(self.deriver.under_way());
        }
        if self.rows_at > now {
            return Ok(());
        }
        self.rows_at = now + Duration::from_millis(ROWS_FLUSH_MS);
        let complete = self.deriver.complete();
        self.write(complete, store)
    }

    /// Writes everything: the last of the process.
    pub(super) fn finish(&mut self, store: Option<&dyn Store>) -> Result<(), StoreError> {
        let last = self.deriver.finish();
        self.write(last, store)
    }

    fn write(&mut self, more: Rows, store: Option<&dyn Store>) -> Result<(), StoreError> {
        let Rows { spans, minutes, mut facts } = more;
        // What a killed process did not write is derived again; that it was a release, it may have written.
        facts.retain(|fact| fact.kind != FactKind::Release || !store.is_some_and(|store| is_known(store, fact)));
        self.rows.spans.extend(spans);
        self.rows.minutes.extend(minutes);
        self.rows.facts.extend(facts);
        if let Some(store) = store.filter(|_| self.rows != Rows::default()) {
            let written = store.write_rows(&self.rows);
            if let Err(error) = written {
                self.rows_at = clock::instant() + Duration::from_millis(MINUTES_FLUSH_MS);
                self.shed();
                return Err(error);
            }
            self.rows = Rows::default();
        }
        self.shed();
        Ok(())
    }

    fn shed(&mut self) {
        fn newest<T>(rows: &mut Vec<T>) {
            rows.drain(..rows.len().saturating_sub(ROWS_WAITING_MAX));
        }
        newest(&mut self.rows.spans);
        newest(&mut self.rows.minutes);
        newest(&mut self.rows.facts);
    }
}

/// Whether a release is stored already.
fn is_known(store: &dyn Store, release: &Fact) -> bool {
    let (range, lock, kind) = (release.at..release.at + 1, release.lock.clone(), Some(release.kind));
    let told = store.facts(&FactQuery { range, lock, kind, limit: 1, ..FactQuery::default() });
    told.is_ok_and(|told| !told.is_empty())
}
