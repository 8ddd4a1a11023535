//! One subscriber's position in one view: a cursor that is pulled, never pushed to. Knows no socket.

use std::sync::Arc;

use bytes::Bytes;
use lockscope_view::{Epoch, KnownView, Scope, ServerFrame, View};
use tokio::sync::Notify;

use super::channel::{Channel, Next};
use super::frames::{self, Encoding, SnapshotHead, encode};
use super::{FeedError, Hub, Owner, normalise};
use lockscope_runtime::clock;

/// A viewer's place. Dropping it leaves the view.
pub struct Subscription {
    hub: Arc<Hub>,
    channel: Arc<Channel>,
    key: u64,
    seen: Option<u64>,
}

impl Hub {
    /// Joins a view, from the start or after a state the viewer already has. `waker` is notified of each new state.
    ///
    /// # Errors
    /// When the view can't be, or too many are open.
    pub fn subscribe(
        self: &Arc<Self>,
        view: View,
        scope: &Scope,
        after: Option<(Epoch, u64)>,
        waker: Arc<Notify>,
    ) -> Result<Subscription, FeedError> {
        self.subscribe_for(&Owner::default(), view, scope, after, waker)
    }

    /// The same for somebody, whose share of memory and time it uses.
    ///
    /// # Errors
    /// As [`Hub::subscribe`], and when their views take too much.
    pub fn subscribe_for(
        self: &Arc<Self>,
        owner: &Owner,
        view: View,
        scope: &Scope,
        after: Option<(Epoch, u64)>,
        waker: Arc<Notify>,
    ) -> Result<Subscription, FeedError> {
        if self.is_over_share(owner) {
            return Err(FeedError::ViewsTooLarge);
        }
        let channel = self.channel(normalise(view)?, scope)?;
        let key = channel.join(waker, owner.clone());
        // Another epoch's numbers mean nothing here: the viewer gets a reset and the whole.
        let seen = after.map(|(of, seq)| if of == self.epoch() { seq } else { u64::MAX });
        // The pump passes over views nobody looks at: it may have missed the latest change of this one.
        self.kick();
        Ok(Subscription { hub: self.clone(), channel, key, seen })
    }
}

impl Subscription {
    /// The frame to send next, or None when the viewer is up to date. A viewer that fell behind what is kept is
    /// notified so and gets the newest state whole: that is the conflation.
    ///
    /// # Errors
    /// When a frame can't be encoded.
    pub fn next(&mut self, id: u32, encoding: Encoding) -> Result<Option<Bytes>, FeedError> {
        self.channel.keep_true(self.hub.projection(), clock::instant())?;
        match self.channel.next(self.seen, encoding)? {
            Next::UpToDate => Ok(None),
            Next::Delta { seq, tail } => {
                self.seen = Some(seq);
                frames::delta(id, self.hub.now_ms(), &tail, encoding).map(Some)
            }
            Next::Snapshot { seq, known_at_ms, tail } => {
                self.seen = Some(seq);
                let head =
                    SnapshotHead { id, epoch: self.hub.epoch(), seq, server_time_ms: self.hub.now_ms(), known_at_ms };
                frames::snapshot(head, &tail, encoding).map(Some)
            }
            Next::Lost => {
                // A number of another epoch is no falling behind.
                if self.seen != Some(u64::MAX) {
                    self.hub.note_conflated();
                }
                self.seen = None;
                let why = "the changes since your last state are no longer kept; the whole view follows".to_owned();
                encode(&ServerFrame::Resync { id, why }, encoding).map(Some)
            }
        }
    }

    /// Up to when the state that was sent last is known to be true by now; None when there is a newer one, or when it
    /// calls live what is too old for that: it is not confirmed once more as it is.
    pub fn known(&self, id: u32) -> Option<KnownView> {
        let seq = self.seen?;
        let known = self.channel.known(seq, self.hub.projection()).filter(|known| !known.is_over(self.hub.now_ms()))?;
        Some(KnownView { id, seq, known_at_ms: known.at_ms })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.channel.leave(self.key, clock::instant());
    }
}
