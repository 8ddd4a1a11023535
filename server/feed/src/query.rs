//! Ties each query to what answers it, so that a caller who asks for one kind of view can't be handed another.

use lockscope_wire::{
    Board, BoardQuery, Body, EventsQuery, LabQuery, LabRun, Lately, LockPage, LockQuery, SessionPage, SessionQuery, Sessions, SessionsQuery, Status,
    View, Waits,
};

use super::known::Live;
use super::view::Bounded as _;
use super::{FeedError, Projected, Projection, VisibilityScope};

/// Asks for the server's own state.
#[derive(Clone, Copy, Debug)]
pub struct StatusQuery;

/// Asks who waits for whom.
#[derive(Clone, Copy, Debug)]
pub struct WaitsQuery;

/// A query for one kind of view.
pub trait Query: Clone {
    /// What answers it.
    type Answer: Live;

    /// The same query, with its window within bounds.
    ///
    /// # Errors
    /// One sentence when a text is too long or a path is not absolute.
    fn normalised(self) -> Result<Self, FeedError>;

    /// The view that a subscription to it looks at.
    fn view(self) -> View;

    /// The answer as the body of a frame.
    fn body(answer: Self::Answer) -> Body;

    /// The answer within a body; None when the body is of another kind.
    fn answer(body: Body) -> Option<Self::Answer>;

    /// The answer as the model shows it now.
    fn project(&self, projection: &dyn Projection, scope: &VisibilityScope) -> Projected<Self::Answer>;
}

macro_rules! queries {
    ($($kind:ident: $query:ident => $answer:ty, $project:ident;)*) => {$(
        impl Query for $query {
            type Answer = $answer;

            fn normalised(self) -> Result<Self, FeedError> {
                self.within_bounds()
            }

            fn view(self) -> View {
                View::$kind(self)
            }

            fn body(answer: Self::Answer) -> Body {
                Body::$kind(answer)
            }

            fn answer(body: Body) -> Option<Self::Answer> {
                if let Body::$kind(answer) = body { Some(answer) } else { None }
            }

            fn project(&self, projection: &dyn Projection, scope: &VisibilityScope) -> Projected<Self::Answer> {
                projection.$project(self, scope)
            }
        }
    )*};
}

queries! {
    Board: BoardQuery => Board, board;
    Lock: LockQuery => Option<Box<LockPage>>, lock;
    Sessions: SessionsQuery => Sessions, sessions;
    Session: SessionQuery => Option<Box<SessionPage>>, session;
    Lab: LabQuery => Option<Box<LabRun>>, lab;
    Events: EventsQuery => Lately, events;
}

impl Query for StatusQuery {
    type Answer = Status;

    fn normalised(self) -> Result<Self, FeedError> {
        Ok(self)
    }

    fn view(self) -> View {
        View::Status {}
    }

    fn body(answer: Status) -> Body {
        Body::Status(answer)
    }

    fn answer(body: Body) -> Option<Status> {
        if let Body::Status(status) = body { Some(status) } else { None }
    }

    fn project(&self, projection: &dyn Projection, scope: &VisibilityScope) -> Projected<Status> {
        projection.status(scope)
    }
}

impl Query for WaitsQuery {
    type Answer = Box<Waits>;

    fn normalised(self) -> Result<Self, FeedError> {
        Ok(self)
    }

    fn view(self) -> View {
        View::Waits {}
    }

    fn body(answer: Box<Waits>) -> Body {
        Body::Waits(answer)
    }

    fn answer(body: Body) -> Option<Box<Waits>> {
        if let Body::Waits(waits) = body { Some(waits) } else { None }
    }

    fn project(&self, projection: &dyn Projection, scope: &VisibilityScope) -> Projected<Box<Waits>> {
        projection.waits(scope)
    }
}
