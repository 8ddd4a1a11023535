//! Events of the root itself. Each is proved by reading the root (see `trust`): until then nothing below it counts as
//! known. A root whose events are not believed is read in full soon after each, and no more than a fifth of the time.

use super::super::outbox::Outbox;
use super::super::request::Epoch;
use super::super::translate::NodeEvent;
use super::super::watch::{Input, State, Why, is_watched};
use super::RootWatch;
use super::trust::Distrust;

/// Ticks from one full read to the next for each tick that the last one took.
const REST_A_TICK: u32 = 4;

/// So often in a row the link may go before the watch is set; then the watch is taken for the cause: some servers close
/// the connection of whoever asks for what they do not know.
const LOSSES_MAX: u8 = 5;
/// Ticks after which it is tried again, in case it was something else: a minute, and each time twice as many, up to ten.
const WATCH_AGAIN_TICKS: u32 = 240;
const WATCH_AGAIN_TICKS_MAX: u32 = 2_400;

/// How often the link went before the watch was set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WatchLosses {
    count: u8,
    /// The tick of the last.
    at: u32,
    tries: u8,
}

/// When a root that is not followed is read again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hurry {
    /// Something happened that the last read may not show.
    is_due: bool,
    /// In ticks.
    read_began: u32,
    read_ended: u32,
}

impl Hurry {
    /// Everything is read from here on.
    pub(super) fn begin(&mut self, tick: u32) {
        (self.is_due, self.read_began, self.read_ended) = (false, tick, tick);
    }

    pub(super) fn end(&mut self, tick: u32) {
        self.read_ended = tick;
    }

    fn is_over(&self, tick: u32) -> bool {
        let took = self.read_ended.wrapping_sub(self.read_began);
        self.is_due && tick.wrapping_sub(self.read_ended) > took.saturating_mul(REST_A_TICK)
    }
}

impl RootWatch {
    /// The watch is set.
    pub(in super::super) fn armed(&mut self, epoch: Epoch, out: &mut Outbox) {
        if epoch == self.epoch {
            // Of one that is not believed it still says that there is something to read.
            let is_believed = self.trust.distrust().is_none();
            self.input(if is_believed { Input::Armed } else { Input::Refused }, out);
        }
    }

    /// The link went, or the watch was answered.
    pub(super) fn count_loss(&mut self, input: Input) {
        match (self.state, input) {
            (State::Arming { .. }, Input::Disconnected) => {
                let count = self.losses.count.saturating_add(1);
                self.losses = WatchLosses { count, at: self.ticks, ..self.losses };
            }
            (State::Arming { .. }, Input::Armed | Input::Refused) if !self.is_watch_fatal() => {
                self.losses = WatchLosses::default();
            }
            _ => {}
        }
    }

    /// Asking for a watch costs the connection.
    pub(super) fn is_watch_fatal(&self) -> bool {
        self.losses.count >= LOSSES_MAX
    }

    /// Time passed: the watch may be tried again.
    pub(super) fn tick_losses(&mut self, out: &mut Outbox) {
        let again = WATCH_AGAIN_TICKS.checked_shl(self.losses.tries.into()).unwrap_or(u32::MAX);
        let is_due = self.ticks.wrapping_sub(self.losses.at) >= again.min(WATCH_AGAIN_TICKS_MAX);
        if self.is_watch_fatal() && is_due && matches!(self.state, State::Polling { .. }) {
            self.losses.count = LOSSES_MAX - 1;
            self.losses.tries = self.losses.tries.saturating_add(1).min(8);
            self.input(Input::Connected(Why::Retry), out);
        }
    }

    /// What an event says is not followed: it says that there is something to read.
    pub(super) fn is_unfollowed(&self) -> bool {
        !is_watched(self.state)
    }

    /// Something happened to a root that is not followed.
    pub(super) fn hurry(&mut self) {
        self.hurry.is_due = true;
    }

    pub(super) fn tick_hurry(&mut self, out: &mut Outbox) {
        if matches!(self.state, State::Polling { .. }) && self.hurry.is_over(self.ticks) {
            self.input(Input::Hurried, out);
        }
    }

    pub(super) fn root_event(&mut self, event: NodeEvent, out: &mut Outbox) {
        let is_syncing = matches!(self.state, State::Syncing { .. });
        if !self.trust.has_read() || !(is_syncing || self.state == State::Live) {
            // All that is below it is read after it.
            return self.event_of_unread_root(&event, out);
        }
        if self.is_comparing {
            // It was read before the gap, so nothing proves what happened to it since.
            return self.read_anew(out);
        }
        match event {
            NodeEvent::Changed(path) => {
                self.trust.claim_change();
                self.changed(&path, out);
            }
            NodeEvent::Created(_) => self.replaced(Why::RootCreated, out),
            NodeEvent::Deleted(_) => self.replaced(Why::RootDeleted, out),
        }
    }

    fn event_of_unread_root(&mut self, event: &NodeEvent, out: &mut Outbox) {
        match event {
            NodeEvent::Created(path) => {
                self.reads.touch(path);
                self.input(Input::RootCreated, out);
            }
            NodeEvent::Deleted(path) => {
                self.reads.touch(path);
                self.input(Input::RootDeleted, out);
            }
            NodeEvent::Changed(path) => self.reads.touch(path),
        }
    }

    fn replaced(&mut self, why: Why, out: &mut Outbox) {
        let mut trust = self.trust;
        trust.claim_replacement();
        self.input(Input::Untrusted(why), out);
        self.trust = trust;
    }

    /// The events of this root's watch are wrong, or those of another root of this ensemble.
    pub(in super::super) fn disbelieve(&mut self, why: Distrust, out: &mut Outbox) {
        if self.trust.lose(why) {
            tracing::warn!(root = %self.path, why = why.text(), "watch events are not believed");
            self.input(Input::Distrusted, out);
        }
    }

    pub(in super::super) fn distrust(&self) -> Option<Distrust> {
        self.trust.distrust()
    }
}
