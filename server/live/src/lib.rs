//! From the model to many viewers: one channel for each distinct view of each
//! distinct scope, sequence numbers, deltas encoded once for all
//! who share the view, and the rule for viewers that fall behind. Subscribers pull, so a slow one costs one frame of
//! memory and holds nobody back. Knows neither sockets nor ZooKeeper.

mod about;
mod budget;
mod channel;
mod client_message;
mod current;
pub mod engine;
mod ensembles;
mod frames;
mod hub;
pub mod json;
mod known;
mod owner;
mod pace;
pub mod project;
mod projector;
pub mod pump;
mod query;
mod revisions;
mod settled;
mod sources;
mod still;
mod subscription;
mod view;

use lockscope_view::{
    Board, BoardQuery, Body, Epoch, EventsQuery, FleetTile, LabQuery, LabRun, Lately, LockOrders, LockPage, LockQuery,
    QueueMap, QueueMapQuery, Scope, SessionPage, SessionQuery, SessionTimeout, Sessions, SessionsQuery, Status, View,
    WINDOW_ROWS_MAX, Waits, WaitsQuery, Window,
};

pub use about::About;
pub use budget::{BYTES_MAX, OWNER_BYTES_MAX, TIGHT_BYTES};
pub use client_message::{ClientMessage, FrameError};
pub use current::Current;
pub use ensembles::{Ensemble, Ensembles, StillModel};
pub use frames::{Encoding, encode, parse_client};
pub use hub::{Hub, Sizes};
pub use known::{Known, Live, ProjectedView};
pub use owner::Owner;
pub use project::{FoundLocks, LineView, NAMES_MAX, NameTest, RecordedHabits, time_to_lock};
pub use projector::Projector;
pub use query::ModelQuery;
pub use revisions::Revisions;
pub use sources::{ConfigState, HistorySource, LabSource};
pub use subscription::Subscription;
pub use view::{FILTER_CHARS_MAX, PATH_CHARS_MAX, absolute_or_none, normalise};

/// Distinct views kept at once; one more is refused.
pub const CHANNELS_MAX: usize = 2_048;
/// Views nobody looks at that are kept for those who come back; beyond it the longest unused go first.
pub const IDLE_CHANNELS_MAX: usize = 128;
/// How long a view nobody looks at is kept.
pub const IDLE_MS: u64 = 30_000;
/// Deltas kept for each view; the oldest go first.
pub const RING_DELTAS_MAX: usize = 256;
/// Encoded bytes of those deltas, both encodings together; the oldest go first, the newest always stays.
pub const RING_BYTES_MAX: usize = 256 * 1024;
/// Views are projected anew after this time even when the model did not change: order and sparkline follow the clock.
pub const REFRESH_EVERY_MS: u64 = 1_000;
/// How often the pump looks at the clock while the model says nothing: what is shown may have become too old meanwhile.
pub const LOOK_EVERY_MS: u64 = 500;
/// Projecting rests for this many times as long as it took: it never takes more than a fifth of the time.
pub const REST_FACTOR: u32 = 4;

/// Each kind of view as the model shows it now, with nothing in it that the scope hides. One look is consistent in
/// itself.
pub trait Views {
    fn board(&self, query: &BoardQuery, scope: &Scope) -> ProjectedView<Board>;
    /// One lock; None when there is none at that path.
    fn lock(&self, query: &LockQuery, scope: &Scope) -> ProjectedView<Option<Box<LockPage>>>;
    fn status(&self, scope: &Scope) -> ProjectedView<Status>;
    fn waits(&self, query: &WaitsQuery, scope: &Scope) -> ProjectedView<Box<Waits>>;
    fn sessions(&self, query: &SessionsQuery, scope: &Scope) -> ProjectedView<Sessions>;
    /// One session; None when nothing is known of it.
    fn session(&self, query: &SessionQuery, scope: &Scope) -> ProjectedView<Option<Box<SessionPage>>>;
    /// A run of the lab; None when there is none of that name.
    fn lab(&self, query: &LabQuery, scope: &Scope) -> ProjectedView<Option<Box<LabRun>>>;
    fn events(&self, query: &EventsQuery, scope: &Scope) -> ProjectedView<Lately>;
    /// A lock's whole queue in little; None when there is no lock at that path.
    fn queue_map(&self, query: &QueueMapQuery, scope: &Scope) -> ProjectedView<Option<Box<QueueMap>>>;
}

/// What the feed needs from the model.
pub trait Projection: Views + Send + Sync + 'static {
    /// Rises with every change of the model.
    fn revisions(&self) -> Revisions;
    /// Changes applied to the model so far.
    fn revision(&self) -> u64;
    /// Numbers that differ whenever the view may differ, the passing of time aside.
    fn view_revision(&self, view: &View, scope: &Scope) -> Vec<u64>;
    /// A view of any kind, as the body of a frame.
    fn project(&self, view: &View, scope: &Scope) -> ProjectedView<Body> {
        let projected = match view {
            View::Board(query) => self.board(query, scope).map(Body::Board),
            View::Lock(query) => self.lock(query, scope).map(Body::Lock),
            View::Status {} => self.status(scope).map(Body::Status),
            View::Waits(query) => self.waits(query, scope).map(Body::Waits),
            View::Sessions(query) => self.sessions(query, scope).map(Body::Sessions),
            View::Session(query) => self.session(query, scope).map(Body::Session),
            View::Lab(query) => self.lab(query, scope).map(Body::Lab),
            View::Events(query) => self.events(query, scope).map(Body::Events),
            View::QueueMap(query) => self.queue_map(query, scope).map(Body::QueueMap),
        };
        projected.map(settled::settled)
    }
    /// Up to when the view, as the model would show it now, is known to be true.
    fn known(&self, view: &View, scope: &Scope) -> Known;
    /// The ensembles that have what a view is about, where it is one thing and the view names no ensemble.
    fn ensembles_with(&self, _view: &View, _sight: &Scope) -> Vec<String> {
        Vec::new()
    }
    /// Whether every root left its first sync.
    fn is_ready(&self) -> bool;
    /// The numbers of each ensemble of which something may be seen.
    fn figures(&self, _sight: &Scope, _apart: &project::MetricSelection) -> Vec<project::Snapshot> {
        Vec::new()
    }
    /// What happened lately in each ensemble that is meant and of which something may be seen.
    fn events_after(&self, _sight: &Scope, _query: &EventsQuery, _after: Option<u64>) -> Vec<project::EventsView> {
        Vec::new()
    }
    /// The event log backwards, of each ensemble that is meant and of which something may be seen.
    fn happened(&self, _scope: &Scope, _query: &project::HappenedQuery) -> Vec<project::HappenedView> {
        Vec::new()
    }
    /// In which order sessions take locks, in the ensembles that are meant; None where there is none of that name.
    fn orders(&self, _scope: &Scope, ensemble: &str) -> Option<LockOrders> {
        ensemble.is_empty().then(LockOrders::default)
    }
    /// Who holds a lock and who stands in its line: the first so many, the last, and the one with this znode.
    fn line(&self, _scope: &Scope, _query: &LockQuery) -> Option<LineView> {
        None
    }
    /// Whether a session's time-out suits its client; None of one that owns nothing that may be seen.
    fn session_timeout(&self, _scope: &Scope, _query: &SessionQuery) -> Option<SessionTimeout> {
        None
    }
    /// The worst of the locks whose names fit, of all that may be seen.
    fn locks_named(&self, fits: &mut NameTest<'_>, rows_max: usize, scope: &Scope) -> FoundLocks {
        let query = BoardQuery { limit: WINDOW_ROWS_MAX, ..BoardQuery::default() };
        let Window { total, mut rows, .. } = self.board(&query, scope).body.window;
        let is_complete = rows.len() == total as usize;
        rows.retain(|row| fits(&row.path) == Some(true));
        rows.truncate(rows_max);
        FoundLocks { rows, is_complete }
    }
    /// The ensembles of which something may be seen, as tiles, in no order.
    fn fleet_tiles(&self, _scope: &Scope) -> Vec<FleetTile> {
        Vec::new()
    }
    /// Whether there are several of which something may be seen.
    fn has_fleet(&self, _scope: &Scope) -> bool {
        false
    }
    /// Whether a release of some lock seems to wake many.
    fn suspects_herd(&self) -> bool {
        false
    }
    /// Whether some lock's waiters show in the members' tables of watches alone.
    fn needs_tables(&self) -> bool {
        false
    }
    /// Whether there is a session now, with every ensemble.
    fn is_linked(&self) -> bool;
}

/// An epoch for a run of the feed: nobody's numbers of an earlier run are taken for this one's.
pub fn random_epoch() -> Epoch {
    Epoch(rand::random())
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    #[error(
        "{CHANNELS_MAX} different views are open and no more are kept; look at one that is open already, or try again later"
    )]
    TooManyViews,
    /// The views of one owner take too much, and there is little left.
    #[error("your views take more than {} MiB of memory, and little is left; end one, or look at fewer rows", OWNER_BYTES_MAX / 1024 / 1024)]
    ViewsTooLarge,
    /// The view is about one thing, and several ensembles have it.
    #[error("several ensembles have it: {}; name one with `ensemble`", .0.join(", "))]
    Ambiguous(Vec<String>),
    #[error("{0}")]
    BadView(String),
    /// A frame without an encoding.
    #[error("a frame could not be encoded: {0}")]
    Encoding(String),
}

#[cfg(test)]
mod tests;
