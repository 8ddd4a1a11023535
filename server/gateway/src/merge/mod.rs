//! One view of the parts that several replicas have of it. Pure.

mod board;
mod sessions;

use feed::worse;
use lockscope_wire::{Body, Lately, Status, View, WINDOW_ROWS_MAX, Waits};

/// The view that each replica is asked for, so that the window that is wanted can be made of all.
pub(crate) fn part_of(view: &View) -> View {
    match view {
        View::Board(query) => {
            let limit = query.offset.saturating_add(query.limit).min(WINDOW_ROWS_MAX);
            View::Board(lockscope_wire::BoardQuery { offset: 0, limit, ..query.clone() })
        }
        View::Sessions(query) => {
            let limit = query.offset.saturating_add(query.limit).min(WINDOW_ROWS_MAX);
            View::Sessions(lockscope_wire::SessionsQuery { offset: 0, limit, ..query.clone() })
        }
        other => other.clone(),
    }
}

/// Whether the window reaches further than what replicas send.
pub(crate) fn is_too_deep(view: &View) -> bool {
    let reaches = |offset: u32, limit: u32| offset > 0 && offset.saturating_add(limit) > WINDOW_ROWS_MAX;
    match view {
        View::Board(query) => reaches(query.offset, query.limit),
        View::Sessions(query) => reaches(query.offset, query.limit),
        _ => false,
    }
}

/// Makes one of several. `first` is of this replica where it has a part; it speaks where only one can.
pub(crate) fn merged(view: &View, first: Body, others: Vec<Body>, now_ms: i64) -> Body {
    if others.is_empty() {
        return first;
    }
    others.into_iter().fold(Merging::new(view, first), |merging, other| merging.with(other)).done(now_ms)
}

struct Merging<'a> {
    view: &'a View,
    body: Body,
}

impl<'a> Merging<'a> {
    fn new(view: &'a View, body: Body) -> Self {
        Self { view, body }
    }

    fn with(self, other: Body) -> Self {
        let body = match (self.body, other) {
            (Body::Board(one), Body::Board(other)) => Body::Board(board::joined(one, other)),
            (Body::Sessions(one), Body::Sessions(other)) => Body::Sessions(sessions::joined(one, other)),
            (Body::Waits(one), Body::Waits(other)) => Body::Waits(Box::new(waits(*one, *other))),
            (Body::Status(one), Body::Status(other)) => Body::Status(status(one, other)),
            (Body::Events(one), Body::Events(other)) => Body::Events(lately(one, other)),
            // One thing is in one place: who asks is told before where it is in several.
            (Body::Lock(None), other @ Body::Lock(_))
            | (Body::Session(None), other @ Body::Session(_))
            | (Body::QueueMap(None), other @ Body::QueueMap(_)) => other,
            (one, _) => one,
        };
        Self { body, ..self }
    }

    fn done(self, now_ms: i64) -> Body {
        match (self.view, self.body) {
            (View::Board(query), Body::Board(board)) => Body::Board(board::finished(board, query, now_ms)),
            (View::Sessions(query), Body::Sessions(sessions)) => Body::Sessions(sessions::finished(sessions, query)),
            (_, body) => body,
        }
    }
}

fn waits(mut one: Waits, other: Waits) -> Waits {
    one.as_of = worse(one.as_of, other.as_of);
    one.nodes.extend(other.nodes);
    one.edges.extend(other.edges);
    one.cycles.extend(other.cycles);
    one.tree.extend(other.tree);
    for (sum, more) in [
        (&mut one.left_out, other.left_out),
        (&mut one.locks, other.locks),
        (&mut one.contended, other.contended),
        (&mut one.waiting, other.waiting),
        (&mut one.blocking, other.blocking),
        (&mut one.edges_left_out, other.edges_left_out),
        (&mut one.roots_left_out, other.roots_left_out),
    ] {
        *sum = sum.saturating_add(more);
    }
    one
}

/// What is about a server is about this one.
fn status(one: Status, other: Status) -> Status {
    let ensembles = one.ensembles.into_iter().chain(other.ensembles).collect();
    Status { ensembles, seq: one.seq.saturating_add(other.seq), ..one }
}

fn lately(one: Lately, other: Lately) -> Lately {
    Lately { ensembles: one.ensembles.into_iter().chain(other.ensembles).collect() }
}
