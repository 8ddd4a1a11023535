//! Up to when a view is known to be true. Whether it may be called live follows from that and the clock alone; every hop on
//! the way to a screen can only make it older. Pure.

use lockscope_wire::{AsOf, Body, Link, LockRow, RootState, age_ms, is_fresh};

/// A view that waits for a newer one to be sent is passed over once so much of its time is gone: the rest is for the way.
const SENT_AGE_MAX_MS: i64 = 1_200;

/// Said of a view that was live when it was looked at, and too old when the look was done.
const SLOW: &str = "Lockscope is too busy to keep up";

/// Up to when a view is known to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// That instant; the earliest of all that the view calls live, or else of all that it shows.
    pub at_ms: i64,
    /// The view calls something live.
    pub is_live: bool,
}

/// A view as the model shows it at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// The view.
    pub body: Body,
    /// Up to when it is known to be true.
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

impl Projected {
    /// The same, as it may be shown by now: looking may have taken a while.
    pub(super) fn aged(self, now_ms: i64) -> Self {
        if !self.known.is_over(now_ms) {
            return self;
        }
        let Self { mut body, known } = self;
        doubt(&mut body, known.at_ms);
        Self { body, known: Known { is_live: false, ..known } }
    }
}

/// Takes back what a view calls live.
fn doubt(body: &mut Body, known_at_ms: i64) {
    let row = |row: &mut LockRow| {
        doubt_state(&mut row.state);
    };
    let as_of = |as_of: &mut AsOf| {
        if doubt_state(&mut as_of.state) {
            as_of.since_ms = known_at_ms;
            SLOW.clone_into(&mut as_of.why);
        }
    };
    match body {
        Body::Board(board) => {
            as_of(&mut board.head.as_of);
            for root in &mut board.head.roots {
                if doubt_state(&mut root.state) {
                    root.since_ms = known_at_ms;
                    SLOW.clone_into(&mut root.why);
                }
            }
            for found in &mut board.window.rows {
                row(found);
            }
        }
        Body::Lock(Some(page)) => {
            as_of(&mut page.head.as_of);
            row(&mut page.head.row);
        }
        Body::Waits(waits) => as_of(&mut waits.as_of),
        Body::Sessions(sessions) => as_of(&mut sessions.head.as_of),
        Body::Session(Some(page)) => as_of(&mut page.as_of),
        Body::Status(status) => {
            for ensemble in &mut status.ensembles {
                if matches!(ensemble.link, Link::Live) {
                    ensemble.link = Link::Stale;
                    ensemble.since_ms = known_at_ms;
                    SLOW.clone_into(&mut ensemble.why);
                }
                for root in &mut ensemble.roots {
                    if doubt_state(&mut root.state) {
                        root.since_ms = known_at_ms;
                        SLOW.clone_into(&mut root.why);
                    }
                }
            }
        }
        Body::Lock(None) | Body::Session(None) | Body::Lab(_) | Body::Events(_) => {}
    }
}

/// True when that changes it.
fn doubt_state(state: &mut RootState) -> bool {
    let is_live = state.is_current();
    if is_live {
        *state = RootState::Stale;
    }
    is_live
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::Board;

    fn board(state: RootState, at_ms: i64) -> Projected {
        let mut board = Board::default();
        board.head.as_of.state = state;
        Projected { body: Body::Board(board), known: Known { at_ms, is_live: state.is_current() } }
    }

    fn told(projected: &Projected) -> (RootState, i64) {
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
        assert_eq!(told(&board(RootState::Live, 9_000).aged(1_000)), (RootState::Stale, 9_000), "the clock was set back");
    }
}
