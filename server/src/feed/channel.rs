//! One view and everybody who looks at it: its newest body, its sequence number, the last deltas, and whom to wake.
//! Snapshot and delta come from one code path, [`Channel::refresh`]. Knows no socket.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use app::wire::{Body, DeltaBody, View};
use bytes::Bytes;
use tokio::sync::Notify;

use super::frames::{Encoding, delta_tail, snapshot_tail};
use super::{FeedError, Known, PROJECT_EVERY_MS, Projected, Projection, REFRESH_EVERY_MS, RING_BYTES_MAX, RING_DELTAS_MAX, Sight};
use crate::clock::Clock;

/// One view, as those of one sight see it.
pub(super) struct Channel {
    view: View,
    sight: Sight,
    clock: Clock,
    /// Held while projecting, so that an older look never follows a newer one.
    projecting: Mutex<()>,
    state: Mutex<State>,
    watchers: Mutex<Watchers>,
}

struct State {
    body: Body,
    /// Grows with each look that finds nothing else.
    known: Known,
    seq: u64,
    snapshot: Tails,
    ring: VecDeque<Step>,
    ring_bytes: usize,
    revision: Vec<u64>,
    looked_at: Instant,
}

/// From `seq - 1` to `seq`.
struct Step {
    seq: u64,
    /// Of the state it leads to, when that was looked at.
    known: Known,
    delta: DeltaBody,
    tails: Tails,
}

/// Made at the first wish, once for everybody.
#[derive(Default)]
struct Tails {
    json: Option<Bytes>,
    binary: Option<Bytes>,
}

struct Watchers {
    wakers: BTreeMap<u64, Arc<Notify>>,
    next_key: u64,
    idle_since: Instant,
}

/// What a subscriber at some sequence number needs next.
#[derive(Debug)]
pub(super) enum Next {
    /// Nothing.
    UpToDate,
    /// The difference to this state.
    Delta { seq: u64, tail: Bytes },
    /// The whole of this state.
    Snapshot { seq: u64, known_at_ms: i64, tail: Bytes },
    /// The way from its state to this one is no longer known.
    Lost,
}

impl Tails {
    fn slot(&mut self, encoding: Encoding) -> &mut Option<Bytes> {
        match encoding {
            Encoding::Json => &mut self.json,
            Encoding::Binary => &mut self.binary,
        }
    }

    fn bytes(&self) -> usize {
        self.json.as_ref().map_or(0, Bytes::len) + self.binary.as_ref().map_or(0, Bytes::len)
    }

    /// The tail, and how many bytes were added to make it.
    fn get(&mut self, encoding: Encoding, make: impl FnOnce() -> Result<Bytes, FeedError>) -> Result<(Bytes, usize), FeedError> {
        let slot = self.slot(encoding);
        if let Some(tail) = slot {
            return Ok((tail.clone(), 0));
        }
        let tail = make()?;
        *slot = Some(tail.clone());
        let added = tail.len();
        Ok((tail, added))
    }
}

impl Channel {
    /// A channel with its first state, numbered `seq`.
    pub(super) fn new(view: View, sight: Sight, seq: u64, projection: &dyn Projection, now: Instant, clock: Clock) -> Self {
        let revision = projection.view_revision(&view, &sight);
        let Projected { body, known } = projection.project(&view, &sight).as_of(clock.now_ms());
        let state = State { body, known, seq, snapshot: Tails::default(), ring: VecDeque::new(), ring_bytes: 0, revision, looked_at: now };
        let watchers = Watchers { wakers: BTreeMap::new(), next_key: 0, idle_since: now };
        Self { view, sight, clock, projecting: Mutex::new(()), state: Mutex::new(state), watchers: Mutex::new(watchers) }
    }

    /// Looks at the model again if the view may differ and the last look is not too recent; wakes everybody when it
    /// does differ. True when it may differ but was looked at too recently: look again soon.
    pub(super) fn refresh(&self, projection: &dyn Projection, now: Instant) -> Result<bool, FeedError> {
        let _one_at_a_time = lock(&self.projecting);
        // Asked for first: it then holds for whatever the model shows by the time that it is asked for its revision.
        let known = projection.known(&self.view, &self.sight);
        let revision = projection.view_revision(&self.view, &self.sight);
        {
            let mut state = lock(&self.state);
            let age = now.saturating_duration_since(state.looked_at);
            let is_dirty = !state.confirm(known, &revision);
            let due = if is_dirty { PROJECT_EVERY_MS } else { REFRESH_EVERY_MS };
            if age < Duration::from_millis(due) && !state.known.is_over(self.clock.now_ms()) {
                return Ok(is_dirty);
            }
        }
        let projected = projection.project(&self.view, &self.sight).as_of(self.clock.now_ms());
        let moved = lock(&self.state).advance(projected, revision, now)?;
        if moved {
            for waker in lock(&self.watchers).wakers.values() {
                waker.notify_one();
            }
        }
        Ok(false)
    }

    /// The newest state and its number.
    pub(super) fn newest(&self) -> (u64, Projected) {
        let state = lock(&self.state);
        (state.seq, Projected { body: state.body.clone(), known: state.known })
    }

    /// Up to when the state of this number is known to be true by now; None when it is not the newest any more.
    pub(super) fn known(&self, seq: u64, projection: &dyn Projection) -> Option<Known> {
        // While somebody looks at the model, what was known before has to do.
        let free = match self.projecting.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if free.is_some() {
            let known = projection.known(&self.view, &self.sight);
            let revision = projection.view_revision(&self.view, &self.sight);
            lock(&self.state).confirm(known, &revision);
        }
        drop(free);
        let state = lock(&self.state);
        (state.seq == seq).then_some(state.known)
    }

    /// Looks again if what the newest state calls live is too old for that, as after a stop of the whole machine.
    pub(super) fn keep_true(&self, projection: &dyn Projection, now: Instant) -> Result<(), FeedError> {
        let known = lock(&self.state).known;
        if known.is_over(self.clock.now_ms()) { self.refresh(projection, now).map(drop) } else { Ok(()) }
    }

    /// Number of the newest state.
    pub(super) fn seq(&self) -> u64 {
        lock(&self.state).seq
    }

    /// What somebody who has seen state `seen` (None: nothing) needs next.
    pub(super) fn next(&self, seen: Option<u64>, encoding: Encoding) -> Result<Next, FeedError> {
        let mut state = lock(&self.state);
        match seen {
            None => state.whole(encoding),
            Some(seen) if seen == state.seq => Ok(Next::UpToDate),
            Some(seen) => state.step_after(seen, encoding, self.clock.now_ms()),
        }
    }

    /// From now on `waker` is notified of every new state. Gives the key to leave with.
    pub(super) fn join(&self, waker: Arc<Notify>) -> u64 {
        let mut watchers = lock(&self.watchers);
        let key = watchers.next_key;
        watchers.next_key += 1;
        watchers.wakers.insert(key, waker);
        key
    }

    /// Ends what [`Channel::join`] began.
    pub(super) fn leave(&self, key: u64, now: Instant) {
        let mut watchers = lock(&self.watchers);
        watchers.wakers.remove(&key);
        if watchers.wakers.is_empty() {
            watchers.idle_since = now;
        }
    }

    /// Marks a view that nobody subscribes to as used.
    pub(super) fn touch(&self, now: Instant) {
        lock(&self.watchers).idle_since = now;
    }

    /// Since when nobody looks; None while somebody does.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let watchers = lock(&self.watchers);
        watchers.wakers.is_empty().then_some(watchers.idle_since)
    }
}

impl State {
    /// Takes in up to when the model knows what it shows. False when it may show something else than this.
    fn confirm(&mut self, known: Known, revision: &[u64]) -> bool {
        let is_same = revision == self.revision && known.is_live == self.known.is_live;
        if is_same {
            self.known = known;
        }
        is_same
    }

    /// Moves to the next state; false when it is the same.
    fn advance(&mut self, projected: Projected, revision: Vec<u64>, now: Instant) -> Result<bool, FeedError> {
        let Projected { body, known } = projected;
        self.known = known;
        self.revision = revision;
        self.looked_at = now;
        let Some(delta) = self.body.diff(&body) else { return Ok(false) };
        self.seq += 1;
        self.body = body;
        self.snapshot = Tails::default();
        let mut step = Step { seq: self.seq, known, delta, tails: Tails::default() };
        // The compact form is made at once: its size is what the ring's bound is measured in.
        let (_, added) = step.tails.get(Encoding::Binary, || delta_tail(step.seq, step.known.at_ms, &step.delta, Encoding::Binary))?;
        self.ring_bytes += added;
        self.ring.push_back(step);
        self.trim();
        Ok(true)
    }

    fn trim(&mut self) {
        while self.ring.len() > RING_DELTAS_MAX || (self.ring_bytes > RING_BYTES_MAX && self.ring.len() > 1) {
            let Some(step) = self.ring.pop_front() else { return };
            self.ring_bytes -= step.tails.bytes();
        }
    }

    fn whole(&mut self, encoding: Encoding) -> Result<Next, FeedError> {
        let (tail, _) = self.snapshot.get(encoding, || snapshot_tail(&self.body, encoding))?;
        Ok(Next::Snapshot { seq: self.seq, known_at_ms: self.known.at_ms, tail })
    }

    fn step_after(&mut self, seen: u64, encoding: Encoding, now_ms: i64) -> Result<Next, FeedError> {
        let newest = self.seq;
        let first = self.ring.front().map(|step| step.seq);
        let at = first.and_then(|first| seen.checked_add(1)?.checked_sub(first)).and_then(|at| usize::try_from(at).ok());
        let Some(step) = at.and_then(|at| self.ring.get_mut(at)) else { return Ok(Next::Lost) };
        let seq = step.seq;
        // Nobody is told that something is live which by the time it is read no longer is.
        if step.known.is_over(now_ms) || (seq != newest && step.known.is_fading(now_ms)) {
            return Ok(Next::Lost);
        }
        let (tail, added) = step.tails.get(encoding, || delta_tail(seq, step.known.at_ms, &step.delta, encoding))?;
        self.ring_bytes += added;
        self.trim();
        Ok(Next::Delta { seq, tail })
    }
}

/// A lock whose holder panicked still guards consistent data here: every change is a whole assignment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
