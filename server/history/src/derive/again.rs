//! How what is derived goes on: where another process ended, in the middle of a recording, and behind a clock that was set back.

use lockscope_core::time::TimeMs;

use super::lock::LockState;
use super::minute::MinuteSoFar;
use super::{Deriver, Event, minute_of};
use crate::store::rows::{Minute, Rows};

impl Deriver {
    /// Goes on where rows were written before: minutes that may be under way still, and the number of the newest fact.
    pub fn resume(&mut self, minutes: Vec<Minute>, last_fact: u64) {
        self.last_fact = self.last_fact.max(last_fact);
        self.resumed = minutes.into_iter().map(|minute| (minute.lock.clone(), minute)).collect();
    }

    /// Begins with everything there is in the middle of a recording, as if all of it had been seen to come. What lies before
    /// in the minute is not known.
    pub fn recall(&mut self, now: TimeMs, events: Vec<(TimeMs, Event)>) {
        let (last_fact, told) = (self.last_fact, self.rows.facts.len());
        self.begin(now, events);
        // That was told when it was recorded.
        self.rows.facts.truncate(told);
        self.last_fact = last_fact;
        self.locks.values_mut().for_each(LockState::begin_minute);
    }

    pub(crate) fn put_back(&mut self, rows: Rows) {
        self.rows = rows;
    }

    /// Lives that ended long enough ago are told, though nothing more was taken in.
    pub fn settle(&mut self, now: TimeMs) {
        self.ended.settle(now, &mut self.rows.spans);
    }

    /// Facts have numbers behind this one from now on.
    pub(crate) fn number_after(&mut self, number: u64) {
        self.last_fact = self.last_fact.max(number);
    }

    /// A row that is written of a minute: if it is under way, it comes to no less.
    pub(crate) fn at_least(&mut self, written: &Minute) {
        if self.now.is_none_or(|now| minute_of(now) != written.at) {
            return;
        }
        match self.locks.get_mut(&*written.lock) {
            Some(lock) => lock.at_least(written),
            None => _ = self.resumed.insert(written.lock.clone(), written.clone()),
        }
    }

    /// Ends everything, and forgets it: the clock was set back, and what is known would lie ahead of what comes. Whoever is
    /// there is found anew.
    pub(crate) fn end_all(&mut self) -> Rows {
        let rows = self.finish();
        *self = Self { last_fact: self.last_fact, ..Self::default() };
        rows
    }
}

/// A row of a minute that comes to no less than one that was written of it before.
pub(crate) fn no_less(minute: Minute, written: &Minute) -> Minute {
    let mut so_far = MinuteSoFar::of(&minute);
    so_far.at_least(written);
    so_far.row(&minute.lock, minute.at, std::iter::empty())
}
