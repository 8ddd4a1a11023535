//! Up to when a view is known to be true. Whether it may be called live follows from that and the clock alone; every
//! hop on the way to a screen can only make it older. Pure.

use lockscope_view::{
    AsOf, Board, Body, LabRun, Lately, Link, LockPage, QueueMap, RootState, SessionPage, Sessions, Status, Waits,
    age_ms, is_fresh,
};

/// A view that waits for a newer one to be sent is passed over once so much of its time is gone: the rest is for the
/// way.
const SENT_AGE_MAX_MS: i64 = 1_200;

/// Said of a view that was live when it was looked at, and too old when the look was done.
pub(crate) const SLOW: &str = "Lockscope is too busy to keep up";

/// Up to when a view is known to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// That instant; the earliest of all that the view calls live, or else of all that it shows.
    pub at_ms: i64,
    /// The view calls something live.
    pub is_live: bool,
    /// It is a view of the past: as live as it was then.
    pub is_past: bool,
}

/// A view as the model shows it at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectedView<T> {
    pub body: T,
    pub known: Known,
}

impl Known {
    /// What calls itself live may not do so any more.
    pub fn is_over(&self, now_ms: i64) -> bool {
        self.is_live && !is_fresh(self.at_ms, now_ms)
    }

    /// What calls itself live is not sent when there is something newer.
    pub(super) fn is_fading(&self, now_ms: i64) -> bool {
        self.is_live && age_ms(self.at_ms, now_ms) > SENT_AGE_MAX_MS
    }
}

impl<T> ProjectedView<T> {
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> ProjectedView<U> {
        ProjectedView { body: make(self.body), known: self.known }
    }
}

/// A view that may call itself, or parts of itself, live.
pub trait Live {
    /// Takes that back: all is as of an earlier instant.
    fn make_stale(&mut self, known_at_ms: i64);
}

impl<T: Live> ProjectedView<T> {
    /// The same, as it may be shown by now: the look may have taken a while.
    pub(super) fn aged(self, now_ms: i64) -> Self {
        if !self.known.is_over(now_ms) {
            return self;
        }
        let Self { mut body, known } = self;
        body.make_stale(known.at_ms);
        Self { body, known: Known { is_live: false, ..known } }
    }
}

impl Live for Body {
    fn make_stale(&mut self, known_at_ms: i64) {
        match self {
            Self::Board(board) => board.make_stale(known_at_ms),
            Self::Lock(page) => page.make_stale(known_at_ms),
            Self::Status(status) => status.make_stale(known_at_ms),
            Self::Waits(waits) => waits.make_stale(known_at_ms),
            Self::Sessions(sessions) => sessions.make_stale(known_at_ms),
            Self::Session(page) => page.make_stale(known_at_ms),
            Self::Lab(run) => run.make_stale(known_at_ms),
            Self::Events(lately) => lately.make_stale(known_at_ms),
            Self::QueueMap(map) => map.make_stale(known_at_ms),
        }
    }
}

impl<T: Live> Live for Option<T> {
    fn make_stale(&mut self, known_at_ms: i64) {
        if let Some(view) = self {
            view.make_stale(known_at_ms);
        }
    }
}

impl<T: Live> Live for Box<T> {
    fn make_stale(&mut self, known_at_ms: i64) {
        T::make_stale(self, known_at_ms);
    }
}

impl Live for Board {
    fn make_stale(&mut self, known_at_ms: i64) {
        self.head.as_of.make_stale(known_at_ms);
        for root in &mut self.head.roots {
            root_stale((&mut root.state, &mut root.since_ms, &mut root.why), known_at_ms);
        }
        for row in &mut self.window.rows {
            state_stale(&mut row.state);
        }
    }
}

impl Live for LockPage {
    fn make_stale(&mut self, known_at_ms: i64) {
        self.head.as_of.make_stale(known_at_ms);
        state_stale(&mut self.head.row.state);
    }
}

impl Live for QueueMap {
    fn make_stale(&mut self, _known_at_ms: i64) {
        state_stale(&mut self.state);
    }
}

impl Live for Waits {
    fn make_stale(&mut self, known_at_ms: i64) {
        self.as_of.make_stale(known_at_ms);
    }
}

impl Live for Sessions {
    fn make_stale(&mut self, known_at_ms: i64) {
        self.head.as_of.make_stale(known_at_ms);
    }
}

impl Live for SessionPage {
    fn make_stale(&mut self, known_at_ms: i64) {
        self.as_of.make_stale(known_at_ms);
    }
}

impl Live for Status {
    fn make_stale(&mut self, known_at_ms: i64) {
        for ensemble in &mut self.ensembles {
            if matches!(ensemble.link, Link::Live) {
                ensemble.link = Link::Stale;
                ensemble.since_ms = known_at_ms;
                SLOW.clone_into(&mut ensemble.why);
            }
            for root in &mut ensemble.roots {
                root_stale((&mut root.state, &mut root.since_ms, &mut root.why), known_at_ms);
            }
        }
    }
}

impl Live for AsOf {
    fn make_stale(&mut self, known_at_ms: i64) {
        root_stale((&mut self.state, &mut self.since_ms, &mut self.why), known_at_ms);
    }
}

/// Neither calls anything live: a run is what the lab did, an event is what happened.
impl Live for LabRun {
    fn make_stale(&mut self, _known_at_ms: i64) {}
}
impl Live for Lately {
    fn make_stale(&mut self, _known_at_ms: i64) {}
}

fn root_stale((state, since_ms, why): (&mut RootState, &mut i64, &mut String), known_at_ms: i64) {
    if state_stale(state) {
        *since_ms = known_at_ms;
        SLOW.clone_into(why);
    }
}

/// True when that changes it.
fn state_stale(state: &mut RootState) -> bool {
    let is_live = state.is_current();
    if is_live {
        *state = RootState::Stale;
    }
    is_live
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(state: RootState, at_ms: i64) -> ProjectedView<Body> {
        let mut board = Board::default();
        board.head.as_of.state = state;
        ProjectedView { body: Body::Board(board), known: Known { at_ms, is_live: state.is_current(), is_past: false } }
    }

    fn told(projected: &ProjectedView<Body>) -> (RootState, i64) {
        match &projected.body {
            Body::Board(board) => (board.head.as_of.state, board.head.as_of.since_ms),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_took_too_long_to_look_at_is_not_live() {
        assert_eq!(told(&board(RootState::Live, 1_000).aged(3_000)), (RootState::Live, 0));
        let late = board(RootState::Partial, 1_000).aged(3_001);
        assert_eq!((told(&late), late.known.is_live), ((RootState::Stale, 1_000), false));
        assert_eq!(told(&board(RootState::Syncing, 1_000).aged(9_000)), (RootState::Syncing, 0), "says so itself");
        assert_eq!(
            told(&board(RootState::Live, 9_000).aged(1_000)),
            (RootState::Stale, 9_000),
            "the clock was set back"
        );
    }
}
