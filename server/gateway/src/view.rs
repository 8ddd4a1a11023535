//! One view as an owner sends it: its newest state, and up to when that is known to be true. Pure: instants are arguments.
//!
//! No clock of another machine is believed. A frame says how old its view was when it was sent, by the owner's clock alone;
//! when that was is bounded by our own: after the last ping that was answered before the frame came.

use std::mem::discriminant;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feed::{ReplicaFrame, VisibilityScope, calls_live};
use lockscope_wire::{Body, BodyPatch, Epoch, View, encode_frame};

/// Bytes of differences after which a view is measured anew, at least.
const MEASURED_EVERY_BYTES: usize = 16 * 1024;

/// What distinguishes a subscription.
pub(crate) type Key = (View, VisibilityScope);

/// One subscription.
#[derive(Debug)]
pub(crate) struct RemoteView {
    pub(crate) id: u32,
    at: Option<(Epoch, u64)>,
    awaits_snapshot: bool,
    pub(crate) body: Option<Arc<Body>>,
    /// The body calls something live.
    pub(crate) is_live: bool,
    pub(crate) known: Option<Instant>,
    /// Since when it is not live although its body says so, ms since the epoch.
    pub(crate) lost_at_ms: Option<i64>,
    /// Why the owner refuses it.
    pub(crate) refusal: Option<String>,
    /// When somebody looked first.
    pub(crate) since: Instant,
    /// When somebody looked last.
    pub(crate) touched: Instant,
    /// Moves with whatever changes what is shown.
    pub(crate) revision: u64,
    /// About what it takes: its encoded bytes when it was measured last, and of what came since.
    pub(crate) bytes: usize,
    /// Those of what came since.
    came_bytes: usize,
}

/// When a frame was sent: no earlier than an instant of ours, and by the owner's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentAt {
    pub(crate) after: Instant,
    pub(crate) server_time_ms: i64,
}

impl SentAt {
    /// An instant of the owner's, on our clock: never later than it was.
    fn ours(self, known_at_ms: i64) -> Instant {
        let age_ms = self.server_time_ms.saturating_sub(known_at_ms).max(0).unsigned_abs();
        self.after.checked_sub(Duration::from_millis(age_ms)).unwrap_or(self.after)
    }
}

impl RemoteView {
    pub(crate) fn new(id: u32, now: Instant) -> Self {
        Self {
            id,
            at: None,
            awaits_snapshot: true,
            body: None,
            is_live: false,
            known: None,
            lost_at_ms: None,
            refusal: None,
            since: now,
            touched: now,
            revision: 0,
            bytes: 0,
            came_bytes: 0,
        }
    }

    /// Whether it may make room for another view: nobody looked for `busy`, or for `glance` where nobody ever looked for as
    /// long as one who stays does.
    pub(crate) fn is_free(&self, now: Instant, busy: Duration, glance: Duration) -> bool {
        let idle = now.saturating_duration_since(self.touched);
        let is_glance = self.touched.saturating_duration_since(self.since) < glance;
        idle > if is_glance { glance } else { busy }
    }

    /// What asks for it, going on from what is known.
    pub(crate) fn ask(&mut self, (view, scope): &Key) -> ReplicaFrame {
        let after = self.at.filter(|_| self.body.is_some());
        self.awaits_snapshot = after.is_none();
        ReplicaFrame::Subscribe { id: self.id, view: view.clone(), scope: scope.clone(), after }
    }

    /// Whether a body can be an answer to what was asked.
    pub(crate) fn answers(view: &View, body: &Body) -> bool {
        match (view, body) {
            (View::Board(_), Body::Board(_))
            | (View::Lock(_), Body::Lock(_))
            | (View::Status {}, Body::Status(_))
            | (View::Waits(_), Body::Waits(_))
            | (View::Sessions(_), Body::Sessions(_))
            | (View::Session(_), Body::Session(_))
            | (View::Lab(_), Body::Lab(_))
            | (View::Events(_), Body::Events(_))
            | (View::QueueMap(_), Body::QueueMap(_)) => true,
            (
                View::Board(_)
                | View::Lock(_)
                | View::Status {}
                | View::Waits(_)
                | View::Sessions(_)
                | View::Session(_)
                | View::Lab(_)
                | View::Events(_)
                | View::QueueMap(_),
                _,
            ) => false,
        }
    }

    /// The owner refuses it.
    pub(crate) fn refuse(&mut self, why: String) {
        self.refusal = Some(why);
        self.revision += 1;
    }

    /// A whole state.
    pub(crate) fn take_snapshot(&mut self, at: (Epoch, u64), body: Body, known_at_ms: i64, sent: SentAt, bytes: usize) {
        self.at = Some(at);
        self.awaits_snapshot = false;
        self.is_live = calls_live(&body);
        self.body = Some(Arc::new(body));
        self.known = Some(sent.ours(known_at_ms));
        (self.lost_at_ms, self.refusal) = (None, None);
        (self.bytes, self.came_bytes) = (bytes, 0);
        self.revision += 1;
    }

    /// Counts a difference. Differences replace what was there, so that their sum says nothing after a while: by then what
    /// there is is measured.
    fn count(&mut self, bytes: usize) {
        self.came_bytes += bytes;
        self.bytes += bytes;
        if self.came_bytes > MEASURED_EVERY_BYTES.max(self.bytes / 2) {
            let measured = self.body.as_deref().and_then(encode_frame).map_or(self.bytes, |encoded| encoded.len());
            (self.bytes, self.came_bytes) = (measured, 0);
        }
    }

    /// A difference; false where it does not follow what is known: the whole is to be asked for.
    #[must_use]
    pub(crate) fn take_delta(
        &mut self,
        seq: u64,
        patch: BodyPatch,
        known_at_ms: i64,
        sent: SentAt,
        bytes: usize,
    ) -> bool {
        if self.awaits_snapshot {
            return true;
        }
        let applied = match (&mut self.at, &mut self.body) {
            (Some((_, have)), Some(body)) if have.checked_add(1) == Some(seq) => {
                *have = seq;
                let is_other =
                    matches!(&patch, BodyPatch::Whole(whole) if discriminant(whole) != discriminant(&**body));
                !is_other && Arc::make_mut(body).apply_patch(patch)
            }
            _ => false,
        };
        if !applied {
            (self.at, self.awaits_snapshot) = (None, true);
            return false;
        }
        self.is_live = self.body.as_deref().is_some_and(calls_live);
        self.known = Some(sent.ours(known_at_ms));
        self.lost_at_ms = None;
        self.count(bytes);
        self.revision += 1;
        true
    }

    /// The state of a number is still true.
    pub(crate) fn confirm(&mut self, seq: u64, known_at_ms: i64, sent: SentAt) {
        let is_shown = !self.awaits_snapshot && self.at.is_some_and(|(_, have)| have == seq);
        if is_shown {
            let known = sent.ours(known_at_ms);
            self.known = Some(self.known.map_or(known, |before| before.max(known)));
        }
    }

    /// The whole follows.
    pub(crate) fn resync(&mut self) {
        self.awaits_snapshot = true;
    }

    /// Up to when it is known to be true, ms since the epoch by the clock that shows `now_ms` at `now`.
    pub(crate) fn known_at_ms(&self, now: Instant, now_ms: i64) -> Option<i64> {
        let age = now.saturating_duration_since(self.known?);
        Some(now_ms.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{AsOf, Board, BoardHead, RootState, Window};

    fn board(state: RootState) -> Body {
        let as_of = AsOf { state, ..AsOf::default() };
        Body::Board(Board { head: BoardHead { as_of, ..BoardHead::default() }, window: Window::default() })
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn age_is_the_owners_and_the_way_is_ours() {
        let start = Instant::now() + ms(100_000);
        let mut view = RemoteView::new(1, start);
        // The owner's clock is years away from ours, and its view was 300 ms old.
        let sent = SentAt { after: start, server_time_ms: 77_000 };
        view.take_snapshot((Epoch(1), 4), board(RootState::Live), 76_700, sent, 10);
        assert_eq!(view.known_at_ms(start + ms(500), 1_000_000), Some(999_200));
        // The owner's clock is set on by an hour: what was sent at an instant of ours is no younger for it.
        let set = SentAt { after: start + ms(400), server_time_ms: 3_677_400 };
        view.confirm(4, 3_677_390, set);
        assert_eq!(view.known_at_ms(start + ms(500), 1_000_000), Some(999_890));
        // A view of the future is as old as its frame.
        view.confirm(4, i64::MAX, SentAt { after: start + ms(450), server_time_ms: 0 });
        assert_eq!(view.known_at_ms(start + ms(500), 1_000_000), Some(999_950));
    }

    #[test]
    fn what_it_takes_is_what_there_is_however_long_it_changes() {
        let start = Instant::now() + ms(100_000);
        let sent = SentAt { after: start, server_time_ms: 0 };
        let mut view = RemoteView::new(1, start);
        view.take_snapshot((Epoch(1), 0), board(RootState::Live), 0, sent, 100);
        for seq in 1..=10_000 {
            assert!(view.take_delta(seq, BodyPatch::Whole(board(RootState::Live)), 0, sent, 250));
        }
        assert!(view.bytes < 2 * MEASURED_EVERY_BYTES, "{}", view.bytes);
    }

    #[test]
    fn who_looked_once_makes_room_sooner_than_who_stays() {
        let start = Instant::now();
        let (busy, glance) = (ms(3_000), ms(700));
        let mut view = RemoteView::new(1, start);
        view.touched = start + ms(400);
        assert!(!view.is_free(start + ms(1_000), busy, glance));
        assert!(view.is_free(start + ms(1_200), busy, glance));
        view.touched = start + ms(900);
        assert!(!view.is_free(start + ms(3_800), busy, glance));
        assert!(view.is_free(start + ms(4_000), busy, glance));
    }

    #[test]
    fn what_does_not_follow_is_asked_for_anew() {
        let start = Instant::now() + ms(100_000);
        let sent = SentAt { after: start, server_time_ms: 0 };
        let mut view = RemoteView::new(1, start);
        let key = (View::Status {}, VisibilityScope::ALL);
        assert!(matches!(view.ask(&key), ReplicaFrame::Subscribe { after: None, .. }));
        view.take_snapshot((Epoch(1), 4), board(RootState::Stale), 0, sent, 10);
        assert!(!view.is_live && matches!(view.ask(&key), ReplicaFrame::Subscribe { after: Some((Epoch(1), 4)), .. }));
        assert!(view.take_delta(5, BodyPatch::Whole(board(RootState::Live)), 0, sent, 5));
        assert!(view.is_live && view.bytes == 15);
        assert!(!view.take_delta(7, BodyPatch::Whole(board(RootState::Stale)), 0, sent, 5));
        assert!(view.take_delta(8, BodyPatch::Whole(board(RootState::Stale)), 0, sent, 5), "it waits for the whole");
        view.confirm(8, 1_000, sent);
        assert!(view.is_live && matches!(view.ask(&key), ReplicaFrame::Subscribe { after: None, .. }));
    }
}
