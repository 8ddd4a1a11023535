//! All channels, and the two kinds of access: subscriptions for live sockets, single reads for pages and scripts. Knows
//! no socket.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use lockscope_view::{Epoch, KnownView, PROTOCOL, Scope, ServerFrame, View};
use tokio::sync::Notify;

use super::budget::Budget;
use super::channel::Channel;
use super::frames::{Encoding, encode};
use super::{CHANNELS_MAX, FeedError, IDLE_CHANNELS_MAX, IDLE_MS, ModelQuery, Owner, ProjectedView, Projection};
use lockscope_runtime::clock::{self, Clock};

type Key = (View, Scope);

/// One key for all who are shown the same: of the audit log a lock's page alone has something.
fn key_of(view: View, scope: &Scope) -> Key {
    let has_records = scope.records() && matches!(view, View::Lock(_));
    (view, scope.clone().with_records(has_records))
}

/// Every view that is looked at, or was a moment ago.
pub struct Hub {
    epoch: Epoch,
    clock: Clock,
    projection: Arc<dyn Projection>,
    channels: Mutex<HashMap<Key, Arc<Channel>>>,
    budget: Budget,
    /// Number of a new channel's first state: above every number a dropped channel ever gave out, so that nobody
    /// resumes in a channel that shares no history with theirs.
    floor: AtomicU64,
    /// Times a viewer that fell behind was given the newest state instead of each step to it.
    conflated: AtomicU64,
    /// When a script last looked at a lock.
    lock_looked_at: Mutex<Option<Instant>>,
    /// Wakes the pump when a view needs a look although the model did not change.
    kick: Notify,
}

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
        Self::with_budget(projection, clock, epoch, Budget::default())
    }

    pub(super) fn with_budget(
        projection: Arc<dyn Projection>,
        clock: Clock,
        epoch: Epoch,
        budget: Budget,
    ) -> Arc<Self> {
        Arc::new(Self {
            epoch,
            clock,
            projection,
            channels: Mutex::new(HashMap::new()),
            budget,
            floor: AtomicU64::new(1),
            conflated: AtomicU64::new(0),
            lock_looked_at: Mutex::new(None),
            kick: Notify::new(),
        })
    }

    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub fn projection(&self) -> &dyn Projection {
        &*self.projection
    }

    /// First frame of a socket.
    pub fn hello(&self, encoding: Encoding) -> Result<Bytes, FeedError> {
        encode(&ServerFrame::Hello { protocol: PROTOCOL, epoch: self.epoch, server_time_ms: self.now_ms() }, encoding)
    }

    /// A heartbeat, with what is known by now of the views that were sent.
    pub fn heartbeat(&self, views: Vec<KnownView>, encoding: Encoding) -> Result<Bytes, FeedError> {
        encode(
            &ServerFrame::Heartbeat { seq: self.projection.revision(), server_time_ms: self.now_ms(), views },
            encoding,
        )
    }

    /// Whether the views that somebody looks at take more than their share where there is little room.
    pub(super) fn is_over_share(&self, owner: &Owner) -> bool {
        let watched = || self.watched().into_iter().filter(|channel| channel.owners().contains(owner));
        self.budget.is_tight() && watched().map(|channel| channel.bytes()).sum::<usize>() > self.budget.owner_max()
    }

    pub fn bytes(&self) -> usize {
        self.budget.used()
    }

    /// One look at a view as a page renders it: with the number to go on from.
    pub fn first<Q: ModelQuery>(&self, query: Q, scope: &Scope) -> Result<(u64, ProjectedView<Q::Answer>), FeedError> {
        let query = query.within_bounds()?;
        let view = query.clone().view();
        // Where there is little room nothing is kept for somebody who may never come to look on.
        if self.budget.is_tight() && !self.channels.lock().contains_key(&key_of(view.clone(), scope)) {
            return Err(FeedError::TooManyViews);
        }
        let channel = self.channel(view, scope)?;
        channel.touch(clock::instant());
        let (seq, ProjectedView { body, known }) = channel.newest()?;
        match Q::answer(body) {
            Some(body) => Ok((seq, ProjectedView { body, known })),
            None => Ok((0, self.glance(&query, scope))),
        }
    }

    /// One look at a view that leaves no trace, with the model's revision; for scripts.
    ///
    /// # Errors
    /// When the view can't be.
    pub fn look<Q: ModelQuery>(&self, query: Q, scope: &Scope) -> Result<(u64, ProjectedView<Q::Answer>), FeedError> {
        let query = query.within_bounds()?;
        let view = query.clone().view();
        self.refuse_ambiguous(&view, scope)?;
        if matches!(view, View::Lock(_)) {
            *self.lock_looked_at.lock() = Some(clock::instant());
        }
        Ok((self.projection.revision(), self.glance(&query, scope)))
    }

    /// A view that leaves no trace. Number 0 goes with it: whoever goes on from it starts afresh.
    pub fn glance<Q: ModelQuery>(&self, query: &Q, scope: &Scope) -> ProjectedView<Q::Answer> {
        query.project(self.projection(), scope).aged(self.now_ms())
    }

    /// Whether somebody looks at a lock, or did a moment ago.
    pub fn looks_at_lock(&self) -> bool {
        let recent = Duration::from_millis(IDLE_MS);
        let looked =
            self.lock_looked_at.lock().is_some_and(|at| clock::instant().saturating_duration_since(at) < recent);
        looked || self.channels.lock().keys().any(|(view, _)| matches!(view, View::Lock(_)))
    }

    /// Times a viewer that fell behind was given the newest state instead of each step to it.
    pub fn conflated(&self) -> u64 {
        self.conflated.load(Ordering::Relaxed)
    }

    pub(super) fn note_conflated(&self) {
        self.conflated.fetch_add(1, Ordering::Relaxed);
    }

    pub fn sizes(&self) -> Sizes {
        let channels = self.channels.lock();
        let idle = channels.values().filter(|channel| channel.idle_since().is_some()).count();
        Sizes { watched: channels.len() - idle, idle }
    }

    pub(super) fn watched(&self) -> Vec<Arc<Channel>> {
        self.channels.lock().values().filter(|channel| channel.idle_since().is_none()).cloned().collect()
    }

    pub(super) fn forget_idle(&self, now: Instant) {
        let mut channels = self.channels.lock();
        let expired = |channel: &Channel| {
            channel
                .idle_since()
                .is_some_and(|since| now.saturating_duration_since(since) > Duration::from_millis(IDLE_MS))
        };
        let mut idle: Vec<(Instant, Key)> = Vec::new();
        channels.retain(|key, channel| {
            // A second holder of the channel is a subscription about to begin.
            if Arc::strong_count(channel) > 1 {
                return true;
            }
            if expired(channel) {
                self.raise_floor(channel);
                return false;
            }
            idle.extend(channel.idle_since().map(|since| (since, key.clone())));
            true
        });
        let idle_max = if self.budget.is_tight() { 0 } else { IDLE_CHANNELS_MAX };
        let too_many = idle.len().saturating_sub(idle_max);
        idle.sort_by_key(|(since, _)| *since);
        for (_, key) in idle.iter().take(too_many) {
            if let Some(channel) = channels.remove(key) {
                self.raise_floor(&channel);
            }
        }
    }

    /// Makes the pump pass once more.
    pub(super) fn kick(&self) {
        self.kick.notify_one();
    }

    pub(super) async fn kicked(&self) {
        self.kick.notified().await;
    }

    fn raise_floor(&self, dropped: &Channel) {
        self.floor.fetch_max(dropped.seq().saturating_add(1), Ordering::Relaxed);
    }

    /// Never one of several for the one that was meant, and never nothing for what is not known.
    pub(super) fn refuse_ambiguous(&self, view: &View, scope: &Scope) -> Result<(), FeedError> {
        let names = self.projection.ensembles_with(view, scope);
        if names.len() > 1 { Err(FeedError::Ambiguous(names)) } else { Ok(()) }
    }

    pub(super) fn channel(&self, view: View, scope: &Scope) -> Result<Arc<Channel>, FeedError> {
        self.refuse_ambiguous(&view, scope)?;
        let now = clock::instant();
        let key = key_of(view, scope);
        let known = self.channels.lock().get(&key).cloned();
        if let Some(channel) = known {
            channel.refresh(self.projection(), now)?;
            return Ok(channel);
        }
        if self.budget.is_tight() || self.channels.lock().len() >= CHANNELS_MAX {
            self.forget_idle(now);
        }
        if self.budget.is_used_up() {
            return Err(FeedError::TooManyViews);
        }
        // Projected outside the lock: others go on meanwhile. If two make the same view, the first one in stays.
        let floor = self.floor.load(Ordering::Relaxed);
        let made =
            Arc::new(Channel::new(key.clone(), floor, self.projection(), now, (self.clock.clone(), &self.budget))?);
        let mut channels = self.channels.lock();
        if channels.len() >= CHANNELS_MAX && !channels.contains_key(&key) {
            return Err(FeedError::TooManyViews);
        }
        Ok(channels.entry(key).or_insert(made).clone())
    }
}
