//! Queries as the hub answers them: limited in size, from the model.

use lockscope_view::{
    BoardQuery, EventsQuery, LabQuery, LockQuery, Query, QueueMapQuery, Scope, SessionQuery, SessionsQuery,
    StatusQuery, WaitsQuery,
};

use super::known::Live;
use super::view::Bounded as _;
use super::{FeedError, ProjectedView, Projection};

pub trait ModelQuery: Query<Answer: Live> {
    /// The same query, with its window within bounds.
    ///
    /// # Errors
    /// One sentence when a text is too long or a path is not absolute.
    fn normalised(self) -> Result<Self, FeedError>;

    fn project(&self, projection: &dyn Projection, scope: &Scope) -> ProjectedView<Self::Answer>;
}

macro_rules! model_queries {
    ($($query:ident: $project:ident;)*) => {$(
        impl ModelQuery for $query {
            fn normalised(self) -> Result<Self, FeedError> {
                self.within_bounds()
            }

            fn project(&self, projection: &dyn Projection, scope: &Scope) -> ProjectedView<Self::Answer> {
                projection.$project(self, scope)
            }
        }
    )*};
}

model_queries! {
    BoardQuery: board;
    LockQuery: lock;
    SessionsQuery: sessions;
    SessionQuery: session;
    LabQuery: lab;
    EventsQuery: events;
    QueueMapQuery: queue_map;
}

impl ModelQuery for StatusQuery {
    fn normalised(self) -> Result<Self, FeedError> {
        Ok(self)
    }

    fn project(&self, projection: &dyn Projection, scope: &Scope) -> ProjectedView<Self::Answer> {
        projection.status(scope)
    }
}

impl ModelQuery for WaitsQuery {
    fn normalised(self) -> Result<Self, FeedError> {
        Ok(self)
    }

    fn project(&self, projection: &dyn Projection, scope: &Scope) -> ProjectedView<Self::Answer> {
        projection.waits(self, scope)
    }
}
