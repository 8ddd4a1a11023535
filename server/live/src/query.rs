//! Queries as the hub answers them: limited in size, from the model.

use lockscope_view::{
    BoardQuery, EventsQuery, LabQuery, LockQuery, Query, QueueMapQuery, Scope, SessionQuery, SessionsQuery,
    StatusQuery, WaitsQuery,
};

use super::known::Live;
use super::view::Bounded;
use super::{ProjectedView, Projection};

pub trait ModelQuery: Query<Answer: Live> + Bounded {
    fn project(&self, projection: &dyn Projection, scope: &Scope) -> ProjectedView<Self::Answer>;
}

macro_rules! model_queries {
    ($($query:ident: $project:ident;)*) => {$(
        impl ModelQuery for $query {
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
    WaitsQuery: waits;
}

impl ModelQuery for StatusQuery {
    fn project(&self, projection: &dyn Projection, scope: &Scope) -> ProjectedView<Self::Answer> {
        projection.status(scope)
    }
}
