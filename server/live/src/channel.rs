//! One view and its subscribers: its newest state, its sequence number, the last deltas, and whom to wake. All of it is
//! kept encoded, so that its size can be counted; it is decoded only to be compared with the next state.
//! Snapshot and delta come from one code path, [`Channel::refresh`]. Knows no socket.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use lockscope_view::{Body, Scope, View};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::budget::{Budget, Share};
use super::frames::{self, Encoding, compact_delta_tail, json_delta_tail, snapshot_tail};
use super::pace::{Load, Pace};
use super::{FeedError, Known, Owner, ProjectedView, Projection, REFRESH_EVERY_MS, RING_BYTES_MAX, RING_DELTAS_MAX};
use lockscope_runtime::clock::Clock;

/// One view, as those of one scope see it.
pub(super) struct Channel {
    view: View,
    scope: Scope,
    clock: Clock,
    /// Held while projecting, so that an older look never follows a newer one.
    projecting: Mutex<()>,
    state: Mutex<State>,
    watchers: Mutex<Watchers>,
}

struct State {
    /// The newest state, in the compact encoding.
    packed: Bytes,
    /// The same as JSON, once somebody wanted it.
    json: Option<Bytes>,
    /// The state that somebody wanted something of as JSON last.
    json_wanted: Option<u64>,
    /// Grows with each look that finds nothing else.
    known: Known,
    seq: u64,
    ring: VecDeque<Step>,
    ring_bytes: usize,
    revision: Vec<u64>,
    looked_at: Instant,
    pace: Pace,
    share: Share,
}

/// From `seq - 1` to `seq`.
struct Step {
    seq: u64,
    /// Of the state it leads to, when that was looked at.
    known: Known,
    packed: Bytes,
    /// While somebody wants that.
    json: Option<Bytes>,
}

struct Watchers {
    wakers: BTreeMap<u64, (Arc<Notify>, Owner)>,
    next_key: u64,
    idle_since: Instant,
}

/// What a subscriber at some sequence number needs next.
#[derive(Debug)]
pub(super) enum Next {
    UpToDate,
    /// The difference to this state.
    Delta {
        seq: u64,
        tail: Bytes,
    },
    Snapshot {
        seq: u64,
        known_at_ms: i64,
        tail: Bytes,
    },
    /// The way from its state to this one is no longer known.
    Lost,
}

impl Step {
    fn bytes(&self) -> usize {
        self.packed.len() + self.json.as_ref().map_or(0, Bytes::len)
    }
}

impl Channel {
    pub(super) fn new(
        key: (View, Scope),
        seq: u64,
        projection: &dyn Projection,
        now: Instant,
        (clock, budget): (Clock, &Budget),
    ) -> Result<Self, FeedError> {
        let (view, scope) = key;
        let revision = projection.view_revision(&view, &scope);
        let ProjectedView { body, known } = projection.project(&view, &scope).aged(clock.now_ms());
        let packed = snapshot_tail(&body, Encoding::Binary)?;
        let (ring, share) = (VecDeque::new(), budget.share());
        let pace = Pace::new(now, &view);
        let mut state = State {
            packed,
            json: None,
            json_wanted: None,
            known,
            seq,
            ring,
            ring_bytes: 0,
            revision,
            looked_at: now,
            pace,
            share,
        };
        state.count();
        let watchers = Watchers { wakers: BTreeMap::new(), next_key: 0, idle_since: now };
        Ok(Self {
            view,
            scope,
            clock,
            projecting: Mutex::new(()),
            state: Mutex::new(state),
            watchers: Mutex::new(watchers),
        })
    }

    /// Looks at the model again if the view may differ and was not looked at too often; wakes everybody when it does
    /// differ. Gives the instant from which to look again when it may differ but was looked at too often.
    pub(super) fn refresh(&self, projection: &dyn Projection, now: Instant) -> Result<Option<Instant>, FeedError> {
        let _one_at_a_time = self.projecting.lock();
        // Asked for first: it then holds for whatever the model shows by the time that it is asked for its revision.
        let known = projection.known(&self.view, &self.scope);
        let revision = projection.view_revision(&self.view, &self.scope);
        {
            let viewers = self.watchers.lock().wakers.len();
            let mut state = self.state.lock();
            let may_differ = !state.confirm(known, &revision);
            let again_at = state.looked_at + Duration::from_millis(REFRESH_EVERY_MS);
            let load = Load { viewers, bytes: state.ring.back().map_or(0, |step| step.packed.len()) };
            let due = if may_differ { state.pace.due() } else { again_at };
            if now < due && !state.known.is_over(self.clock.now_ms()) {
                return Ok(may_differ.then_some(due));
            }
            if may_differ {
                state.pace.count(now, load);
            }
        }
        let projected = projection.project(&self.view, &self.scope).aged(self.clock.now_ms());
        let moved = self.state.lock().advance(projected, revision, now)?;
        if moved {
            for (waker, _) in self.watchers.lock().wakers.values() {
                waker.notify_one();
            }
        }
        Ok(None)
    }

    /// The newest state and its number.
    ///
    /// # Errors
    /// When it can't be decoded.
    pub(super) fn newest(&self) -> Result<(u64, ProjectedView<Body>), FeedError> {
        let (seq, packed, known) = {
            let state = self.state.lock();
            (state.seq, state.packed.clone(), state.known)
        };
        Ok((seq, ProjectedView { body: frames::unpack(&packed)?, known }))
    }

    pub(super) fn bytes(&self) -> usize {
        self.state.lock().share.bytes()
    }

    pub(super) fn looked_at(&self) -> Instant {
        self.state.lock().looked_at
    }

    pub(super) fn owners(&self) -> BTreeSet<Owner> {
        self.watchers.lock().wakers.values().map(|(_, owner)| owner.clone()).collect()
    }

    /// Up to when the state of this number is known to be true by now; None when it is not the newest any more.
    pub(super) fn known(&self, seq: u64, projection: &dyn Projection) -> Option<Known> {
        // While somebody looks at the model, what was known before has to do.
        let free = self.projecting.try_lock();
        if free.is_some() {
            let known = projection.known(&self.view, &self.scope);
            let revision = projection.view_revision(&self.view, &self.scope);
            self.state.lock().confirm(known, &revision);
        }
        drop(free);
        let state = self.state.lock();
        (state.seq == seq).then_some(state.known)
    }

    /// Looks again if what the newest state calls live is too old for that, as after a stop of the whole machine.
    pub(super) fn keep_true(&self, projection: &dyn Projection, now: Instant) -> Result<(), FeedError> {
        let known = self.state.lock().known;
        if known.is_over(self.clock.now_ms()) { self.refresh(projection, now).map(drop) } else { Ok(()) }
    }

    /// Number of the newest state.
    pub(super) fn seq(&self) -> u64 {
        self.state.lock().seq
    }

    /// What somebody who has seen state `seen` (None: nothing) needs next.
    pub(super) fn next(&self, seen: Option<u64>, encoding: Encoding) -> Result<Next, FeedError> {
        let mut state = self.state.lock();
        if encoding == Encoding::Json {
            state.json_wanted = Some(state.seq);
        }
        match seen {
            None => state.whole(encoding),
            Some(seen) if seen == state.seq => Ok(Next::UpToDate),
            Some(seen) => state.step_after(seen, encoding, self.clock.now_ms()),
        }
    }

    /// From now on `waker` is notified of every new state. Gives the key to leave with.
    pub(super) fn join(&self, waker: Arc<Notify>, owner: Owner) -> u64 {
        let mut watchers = self.watchers.lock();
        let key = watchers.next_key;
        watchers.next_key += 1;
        watchers.wakers.insert(key, (waker, owner));
        key
    }

    pub(super) fn leave(&self, key: u64, now: Instant) {
        let mut watchers = self.watchers.lock();
        watchers.wakers.remove(&key);
        if watchers.wakers.is_empty() {
            watchers.idle_since = now;
        }
    }

    /// Marks a view that nobody subscribes to as used.
    pub(super) fn touch(&self, now: Instant) {
        self.watchers.lock().idle_since = now;
    }

    /// Since when nobody looks; None while somebody does.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let watchers = self.watchers.lock();
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
    fn advance(&mut self, projected: ProjectedView<Body>, revision: Vec<u64>, now: Instant) -> Result<bool, FeedError> {
        let ProjectedView { body, known } = projected;
        self.known = known;
        self.revision = revision;
        self.looked_at = now;
        let packed = snapshot_tail(&body, Encoding::Binary)?;
        if packed == self.packed {
            return Ok(false);
        }
        let before: Body = frames::unpack(&self.packed)?;
        let Some(patch) = before.patch_to(&body) else { return Ok(false) };
        let seq = self.seq + 1;
        let wants_json = self.json_wanted.is_some_and(|wanted| seq - wanted <= RING_DELTAS_MAX as u64);
        let delta = if wants_json { before.diff(&body) } else { None };
        let json = delta.map(|delta| json_delta_tail(seq, known.at_ms, &delta)).transpose()?;
        let step = Step { seq, known, packed: compact_delta_tail(seq, known.at_ms, &patch)?, json };
        (self.seq, self.packed, self.json) = (seq, packed, None);
        self.ring_bytes += step.bytes();
        self.ring.push_back(step);
        self.trim();
        Ok(true)
    }

    fn count(&mut self) {
        self.share.set(self.packed.len() + self.json.as_ref().map_or(0, Bytes::len) + self.ring_bytes);
    }

    fn trim(&mut self) {
        // Whoever has what came before the newest step is given that step, however little room there is.
        let is_tight = self.share.budget().is_tight();
        let is_over = |ring: &VecDeque<Step>, bytes: usize| {
            ring.len() > RING_DELTAS_MAX || (ring.len() > 1 && (is_tight || bytes > RING_BYTES_MAX))
        };
        while is_over(&self.ring, self.ring_bytes) {
            let Some(step) = self.ring.pop_front() else { break };
            self.ring_bytes -= step.bytes();
        }
        self.count();
    }

    fn whole(&mut self, encoding: Encoding) -> Result<Next, FeedError> {
        let tail = match (encoding, &self.json) {
            (Encoding::Binary, _) => self.packed.clone(),
            (Encoding::Json, Some(json)) => json.clone(),
            (Encoding::Json, None) => {
                let json = snapshot_tail(&frames::unpack(&self.packed)?, Encoding::Json)?;
                // Where there is little room it is made anew for each.
                self.json = Some(json.clone()).filter(|_| !self.share.budget().is_tight());
                self.count();
                json
            }
        };
        Ok(Next::Snapshot { seq: self.seq, known_at_ms: self.known.at_ms, tail })
    }

    fn step_after(&self, seen: u64, encoding: Encoding, now_ms: i64) -> Result<Next, FeedError> {
        let newest = self.seq;
        let first = self.ring.front().map(|step| step.seq);
        let at =
            first.and_then(|first| seen.checked_add(1)?.checked_sub(first)).and_then(|at| usize::try_from(at).ok());
        let Some(step) = at.and_then(|at| self.ring.get(at)) else { return Ok(Next::Lost) };
        let seq = step.seq;
        // Nothing is called live that no longer is by the time it is read.
        if step.known.is_over(now_ms) || (seq != newest && step.known.is_fading(now_ms)) {
            return Ok(Next::Lost);
        }
        Ok(match (encoding, &step.json) {
            (Encoding::Binary, _) => Next::Delta { seq, tail: step.packed.clone() },
            (Encoding::Json, Some(json)) => Next::Delta { seq, tail: json.clone() },
            // It was made while nobody wanted that.
            (Encoding::Json, None) => Next::Lost,
        })
    }
}
