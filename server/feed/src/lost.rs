//! A view that came from elsewhere and is cut off: what is shown of it stays, and says since when it is not live and why.
//! Pure.

use lockscope_wire::{AsOf, Body, EnsembleStatus, Link, Proof, RootBrief, RootState};

use super::Live as _;

/// Whether a view calls itself, or a part of itself, live.
pub fn calls_live(body: &Body) -> bool {
    let mut stale = body.clone();
    stale.make_stale(0);
    stale != *body
}

/// Takes back that anything of a view is live: it is as of an instant (ms since the epoch), for this reason.
pub fn lose(body: &mut Body, known_at_ms: i64, why: &str) {
    body.make_stale(known_at_ms);
    match body {
        Body::Board(board) => {
            of_as_of(&mut board.head.as_of, known_at_ms, why);
            board.head.roots.iter_mut().for_each(|root| of_root(root, known_at_ms, why));
        }
        Body::Lock(page) => {
            if let Some(page) = page {
                of_as_of(&mut page.head.as_of, known_at_ms, why);
            }
        }
        Body::Waits(waits) => of_as_of(&mut waits.as_of, known_at_ms, why),
        Body::Sessions(sessions) => of_as_of(&mut sessions.head.as_of, known_at_ms, why),
        Body::Session(page) => {
            if let Some(page) = page {
                of_as_of(&mut page.as_of, known_at_ms, why);
            }
        }
        Body::Status(status) => status.ensembles.iter_mut().for_each(|one| of_ensemble(one, known_at_ms, why)),
        Body::Lab(_) | Body::Events(_) | Body::QueueMap(_) => {}
    }
}

/// Whatever it was: nobody sees it at present. What was stale before is stale since then.
fn of_as_of(as_of: &mut AsOf, known_at_ms: i64, why: &str) {
    if as_of.state != RootState::Stale {
        (as_of.state, as_of.since_ms) = (RootState::Stale, known_at_ms);
    }
    why.clone_into(&mut as_of.why);
}

fn of_root(root: &mut RootBrief, known_at_ms: i64, why: &str) {
    if root.state != RootState::Stale {
        (root.state, root.since_ms) = (RootState::Stale, known_at_ms);
    }
    why.clone_into(&mut root.why);
}

fn of_ensemble(ensemble: &mut EnsembleStatus, known_at_ms: i64, why: &str) {
    if !matches!(ensemble.link, Link::Stale | Link::Lost) {
        (ensemble.link, ensemble.since_ms) = (Link::Stale, known_at_ms);
    }
    why.clone_into(&mut ensemble.why);
    for root in &mut ensemble.roots {
        if root.state != RootState::Stale {
            (root.state, root.since_ms) = (RootState::Stale, known_at_ms);
        }
        why.clone_into(&mut root.why);
    }
}

/// The less trustworthy of two speaks for both, and neither ensemble is named.
pub fn worse(one: AsOf, other: AsOf) -> AsOf {
    use super::project::trust;
    let worst = if (trust(&other), other.since_ms) < (trust(&one), one.since_ms) { other } else { one };
    AsOf { ensemble: None, proof: Proof::default(), ..worst }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockscope_wire::{Board, BoardHead, Window};

    fn board(state: RootState, since_ms: i64) -> Body {
        let as_of = AsOf { state, since_ms, ..AsOf::default() };
        Body::Board(Board { head: BoardHead { as_of, ..BoardHead::default() }, window: Window::default() })
    }

    #[test]
    fn what_is_lost_says_so_whatever_it_was() {
        for (state, since_ms, expected) in
            [(RootState::Live, 5, 9), (RootState::Syncing, 5, 9), (RootState::Stale, 5, 5)]
        {
            let mut body = board(state, since_ms);
            assert_eq!(calls_live(&body), state == RootState::Live);
            lose(&mut body, 9, "a was cut off");
            let Body::Board(board) = &body else { unreachable!() };
            let as_of = &board.head.as_of;
            assert_eq!((as_of.state, as_of.since_ms, &*as_of.why), (RootState::Stale, expected, "a was cut off"));
            assert!(!calls_live(&body));
        }
    }

    #[test]
    fn the_worse_of_two_speaks() {
        let of = |state, since_ms| AsOf { state, since_ms, ..AsOf::default() };
        let (live, stale) = (of(RootState::Live, 1), of(RootState::Stale, 7));
        assert_eq!(worse(live.clone(), stale.clone()).state, RootState::Stale);
        assert_eq!(worse(stale, live).since_ms, 7);
    }
}
