//! A minute of a lock while it is under way.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::coding;
use super::words::{verdict_name, verdict_of};
use crate::store::rows::Minute;

pub const MINUTE_MS: i64 = 60_000;
/// Holders of a minute of whom it is noted how long they held. Overflow policy: more are left out.
const HOLDERS_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MinuteSoFar {
    pub(super) arrivals: u32,
    pub(super) acquired: u32,
    pub(super) gave_up: u32,
    pub(super) waits: Histogram,
    pub(super) holds: Histogram,
    pub(super) depth_max: u32,
    pub(super) waiting_ms: i64,
    pub(super) worst: Verdict,
    held: Vec<(SessionId, i64)>,
    /// Until when it is known who held, of a row that this goes on with; the beginning of time elsewhere.
    pub(super) held_until: TimeMs,
    pub(super) is_active: bool,
    /// It changed since it was handed out.
    pub(super) is_news: bool,
}

impl MinuteSoFar {
    pub(super) fn new(verdict: Verdict, depth: u32) -> Self {
        Self {
            arrivals: 0,
            acquired: 0,
            gave_up: 0,
            waits: Histogram::default(),
            holds: Histogram::default(),
            depth_max: depth,
            waiting_ms: 0,
            worst: verdict,
            held: Vec::new(),
            held_until: TimeMs(i64::MIN),
            is_active: depth > 0,
            is_news: depth > 0,
        }
    }

    /// One that was handed out before, to go on with.
    pub(super) fn of(minute: &Minute) -> Self {
        Self {
            arrivals: minute.arrivals,
            acquired: minute.acquired,
            gave_up: minute.gave_up,
            waits: coding::histogram_of(&minute.waits),
            holds: coding::histogram_of(&minute.holds),
            depth_max: minute.depth_max,
            waiting_ms: minute.waiting_ms,
            worst: verdict_of(&minute.worst).unwrap_or(Verdict::Free),
            held: coding::top_of(&minute.top),
            held_until: TimeMs(i64::MIN),
            is_active: true,
            is_news: false,
        }
    }

    /// Raises what is less than in a row that was handed out before: that one may have seen what this one did not. Who held for
    /// how long stays.
    pub(super) fn at_least(&mut self, minute: &Minute) {
        let other = Self::of(minute);
        self.arrivals = self.arrivals.max(other.arrivals);
        self.acquired = self.acquired.max(other.acquired);
        self.gave_up = self.gave_up.max(other.gave_up);
        // Of the same durations one may have been a little off, so buckets say less than how many there are.
        let more = |one: &mut Histogram, other: Histogram| {
            if other.count() > one.count() {
                *one = other;
            }
        };
        more(&mut self.waits, other.waits);
        more(&mut self.holds, other.holds);
        self.depth_max = self.depth_max.max(other.depth_max);
        self.waiting_ms = self.waiting_ms.max(other.waiting_ms);
        self.worst = self.worst.max(other.worst);
        self.is_active = true;
    }

    pub(super) fn touch(&mut self) {
        (self.is_active, self.is_news) = (true, true);
    }

    pub(super) fn note_held(&mut self, session: Option<SessionId>, ms: i64) {
        let session = session.unwrap_or(SessionId(0));
        if ms <= 0 {
            return;
        }
        if let Some((_, held)) = self.held.iter_mut().find(|(of, _)| *of == session) {
            *held += ms;
        } else if self.held.len() < HOLDERS_MAX {
            self.held.push((session, ms));
        }
    }

    /// As a row. `holding` are those who hold still, each with for how long of it.
    pub(super) fn row(
        &self,
        lock: &str,
        at: TimeMs,
        holding: impl Iterator<Item = (Option<SessionId>, i64)>,
    ) -> Minute {
        let mut with = Self { held: self.held.clone(), ..Self::new(self.worst, 0) };
        holding.for_each(|(session, ms)| with.note_held(session, ms));
        Minute {
            lock: lock.into(),
            at,
            arrivals: self.arrivals,
            acquired: self.acquired,
            gave_up: self.gave_up,
            waits: coding::histogram_bytes(&self.waits),
            holds: coding::histogram_bytes(&self.holds),
            depth_max: self.depth_max,
            waiting_ms: self.waiting_ms,
            worst: verdict_name(self.worst).into(),
            top: coding::top_bytes(&with.held),
        }
    }
}
