//! Ties each query to what answers it, so that whoever asks for one kind of view can't be handed another.

use super::{
    Board, BoardQuery, Body, EventsQuery, LabQuery, LabRun, Lately, LockPage, LockQuery, QueueMap, QueueMapQuery,
    SessionPage, SessionQuery, Sessions, SessionsQuery, Status, View, Waits, WaitsQuery,
};

/// Asks for the server's own state.
#[derive(Clone, Copy, Debug)]
pub struct StatusQuery;

/// A query for one kind of view.
pub trait Query: Clone {
    /// What answers it.
    type Answer;

    /// The view that a subscription to it looks at.
    fn view(self) -> View;

    /// The answer as the body of a frame.
    fn body(answer: Self::Answer) -> Body;

    /// The answer within a body; None when the body is of another kind.
    fn answer(body: Body) -> Option<Self::Answer>;
}

macro_rules! queries {
    ($($kind:ident: $query:ty => $answer:ty, $view:expr;)*) => {$(
        impl Query for $query {
            type Answer = $answer;

            fn view(self) -> View {
                let view: fn(Self) -> View = $view;
                view(self)
            }

            fn body(answer: Self::Answer) -> Body {
                Body::$kind(answer)
            }

            fn answer(body: Body) -> Option<Self::Answer> {
                if let Body::$kind(answer) = body { Some(answer) } else { None }
            }
        }
    )*};
}

queries! {
    Board: BoardQuery => Board, View::Board;
    Lock: LockQuery => Option<Box<LockPage>>, View::Lock;
    Status: StatusQuery => Status, |_| View::Status {};
    Waits: WaitsQuery => Box<Waits>, View::Waits;
    Sessions: SessionsQuery => Sessions, View::Sessions;
    Session: SessionQuery => Option<Box<SessionPage>>, View::Session;
    Lab: LabQuery => Option<Box<LabRun>>, View::Lab;
    Events: EventsQuery => Lately, View::Events;
    QueueMap: QueueMapQuery => Option<Box<QueueMap>>, View::QueueMap;
}
