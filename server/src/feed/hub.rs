//! All channels, and the two ways in: subscriptions for live sockets, single looks for pages and scripts. Knows no socket.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use app::ports::{First, Source};
use app::wire::{
    Board, BoardQuery, Body, Epoch, LockPage, LockQuery, PROTOCOL, ServerFrame, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, View,
    Waits,
};
use bytes::Bytes;
use tokio::sync::Notify;

use super::channel::{Channel, lock};
use super::frames::{Encoding, encode};
use super::{CHANNELS_MAX, FeedError, IDLE_CHANNELS_MAX, IDLE_MS, Projection, Subscription, normalise};
use crate::clock::{self, Clock};

/// Every view that is looked at, or was a moment ago.
pub struct Hub {
    epoch: Epoch,
    clock: Clock,
    projection: Arc<dyn Projection>,
    channels: Mutex<HashMap<View, Arc<Channel>>>,
    /// Number of a new channel's first state: above every number a dropped channel ever gave out, so that nobody
    /// resumes in a channel that shares no history with theirs.
    floor: AtomicU64,
    /// When a script last looked at a lock.
    lock_looked_at: Mutex<Option<Instant>>,
    /// Wakes the pump when a view needs a look although the model did not change.
    kick: Notify,
}

/// How full the hub is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Views somebody looks at.
    pub watched: usize,
    /// Views kept for those who come back.
    pub idle: usize,
}

impl Hub {
    /// A hub; `epoch` is random for each run.
    pub fn new(projection: Arc<dyn Projection>, clock: Clock, epoch: Epoch) -> Arc<Self> {
        Arc::new(Self {
            epoch,
            clock,
            projection,
            channels: Mutex::new(HashMap::new()),
            floor: AtomicU64::new(1),
            lock_looked_at: Mutex::new(None),
            kick: Notify::new(),
        })
    }

    /// The epoch.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The server's clock.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The model's side.
    pub fn projection(&self) -> &dyn Projection {
        &*self.projection
    }

    /// First frame of a socket.
    ///
    /// # Errors
    /// When it can't be encoded.
    pub fn hello(&self, encoding: Encoding) -> Result<Bytes, FeedError> {
        encode(&ServerFrame::Hello { protocol: PROTOCOL, epoch: self.epoch, server_time_ms: self.now_ms() }, encoding)
    }

    /// A heartbeat.
    ///
    /// # Errors
    /// When it can't be encoded.
    pub fn heartbeat(&self, encoding: Encoding) -> Result<Bytes, FeedError> {
        encode(&ServerFrame::Heartbeat { seq: self.projection.revision(), server_time_ms: self.now_ms() }, encoding)
    }

    /// Joins a view, from the start or after a state the viewer already has. `waker` is notified of each new state.
    ///
    /// # Errors
    /// When the view can't be, or too many are open.
    pub fn subscribe(self: &Arc<Self>, view: View, after: Option<(Epoch, u64)>, waker: Arc<Notify>) -> Result<Subscription, FeedError> {
        let channel = self.channel(normalise(view)?)?;
        let subscription = Subscription::new(self.clone(), channel, waker, after);
        // The pump passes over views nobody looks at: it may have missed the latest change of this one.
        self.kick();
        Ok(subscription)
    }

    /// One look at a view as a page renders it: with the number to go on from.
    ///
    /// # Errors
    /// As [`Hub::subscribe`].
    pub fn first(&self, view: View) -> Result<(u64, Body), FeedError> {
        let channel = self.channel(normalise(view)?)?;
        channel.touch(clock::instant());
        Ok(channel.newest())
    }

    /// One look at a view that leaves no trace, with the model's revision; for scripts.
    ///
    /// # Errors
    /// When the view can't be.
    pub fn look(&self, view: View) -> Result<(u64, Body), FeedError> {
        let view = normalise(view)?;
        if matches!(view, View::Lock(_)) {
            *lock(&self.lock_looked_at) = Some(clock::instant());
        }
        Ok((self.projection.revision(), self.projection.project(&view)))
    }

    /// Whether somebody looks at a lock, or did a moment ago.
    pub fn looks_at_lock(&self) -> bool {
        let recent = Duration::from_millis(IDLE_MS);
        let looked = lock(&self.lock_looked_at).is_some_and(|at| clock::instant().saturating_duration_since(at) < recent);
        looked || lock(&self.channels).keys().any(|view| matches!(view, View::Lock(_)))
    }

    /// How full it is.
    pub fn sizes(&self) -> Sizes {
        let channels = lock(&self.channels);
        let idle = channels.values().filter(|channel| channel.idle_since().is_some()).count();
        Sizes { watched: channels.len() - idle, idle }
    }

    /// The channels somebody looks at.
    pub(super) fn watched(&self) -> Vec<Arc<Channel>> {
        lock(&self.channels).values().filter(|channel| channel.idle_since().is_none()).cloned().collect()
    }

    /// Forgets views nobody has looked at for a while.
    pub(super) fn forget_idle(&self, now: Instant) {
        let mut channels = lock(&self.channels);
        let expired =
            |channel: &Channel| channel.idle_since().is_some_and(|since| now.saturating_duration_since(since) > Duration::from_millis(IDLE_MS));
        let mut idle: Vec<(Instant, View)> = Vec::new();
        channels.retain(|view, channel| {
            // A second holder of the channel is a subscription about to begin.
            if Arc::strong_count(channel) > 1 {
                return true;
            }
            if expired(channel) {
                self.raise_floor(channel);
                return false;
            }
            idle.extend(channel.idle_since().map(|since| (since, view.clone())));
            true
        });
        let too_many = idle.len().saturating_sub(IDLE_CHANNELS_MAX);
        idle.sort_by_key(|(since, _)| *since);
        for (_, view) in idle.iter().take(too_many) {
            if let Some(channel) = channels.remove(view) {
                self.raise_floor(&channel);
            }
        }
    }

    /// Makes the pump pass once more.
    pub(super) fn kick(&self) {
        self.kick.notify_one();
    }

    /// Waits for a kick.
    pub(super) async fn kicked(&self) {
        self.kick.notified().await;
    }

    fn raise_floor(&self, dropped: &Channel) {
        self.floor.fetch_max(dropped.seq().saturating_add(1), Ordering::Relaxed);
    }

    fn channel(&self, view: View) -> Result<Arc<Channel>, FeedError> {
        let now = clock::instant();
        let known = lock(&self.channels).get(&view).cloned();
        if let Some(channel) = known {
            channel.refresh(self.projection(), now)?;
            return Ok(channel);
        }
        if lock(&self.channels).len() >= CHANNELS_MAX {
            self.forget_idle(now);
        }
        // Projected outside the lock: others go on meanwhile. If two make the same view, the first one in stays.
        let made = Arc::new(Channel::new(view.clone(), self.floor.load(Ordering::Relaxed), self.projection(), now));
        let mut channels = lock(&self.channels);
        if channels.len() >= CHANNELS_MAX && !channels.contains_key(&view) {
            return Err(FeedError::TooManyViews);
        }
        Ok(channels.entry(view).or_insert(made).clone())
    }

    /// A first view for a page. When no channel can be had the page still gets its rows, and number 0, from which the
    /// live socket starts afresh.
    fn first_or_look(&self, view: View) -> (u64, Body) {
        self.first(view.clone()).unwrap_or_else(|_| (0, self.projection.project(&view)))
    }

    fn first_of<T>(&self, seq: u64, value: T) -> First<T> {
        First { epoch: self.epoch, seq, server_time_ms: self.now_ms(), value }
    }
}

impl Source for Hub {
    fn board(&self, query: &BoardQuery) -> First<Board> {
        match self.first_or_look(View::Board(query.clone())) {
            (seq, Body::Board(board)) => self.first_of(seq, board),
            _ => self.first_of(0, Board::default()),
        }
    }

    fn lock(&self, query: &LockQuery) -> First<Option<LockPage>> {
        match self.first_or_look(View::Lock(query.clone())) {
            (seq, Body::Lock(page)) => self.first_of(seq, page.map(|page| *page)),
            _ => self.first_of(0, None),
        }
    }

    fn status(&self) -> First<Status> {
        match self.first_or_look(View::Status {}) {
            (seq, Body::Status(status)) => self.first_of(seq, status),
            _ => self.first_of(0, empty_status()),
        }
    }

    fn waits(&self) -> First<Waits> {
        match self.first_or_look(View::Waits {}) {
            (seq, Body::Waits(waits)) => self.first_of(seq, *waits),
            _ => self.first_of(0, Waits::default()),
        }
    }

    fn sessions(&self, query: &SessionsQuery) -> First<Sessions> {
        match self.first_or_look(View::Sessions(query.clone())) {
            (seq, Body::Sessions(sessions)) => self.first_of(seq, sessions),
            _ => self.first_of(0, Sessions::default()),
        }
    }

    fn session(&self, query: &SessionQuery) -> First<Option<SessionPage>> {
        match self.first_or_look(View::Session(query.clone())) {
            (seq, Body::Session(page)) => self.first_of(seq, page.map(|page| *page)),
            _ => self.first_of(0, None),
        }
    }
}

fn empty_status() -> Status {
    Status { version: String::new(), protocol: PROTOCOL, seq: 0, read_only: true, started_at_ms: 0, ensembles: Vec::new() }
}
