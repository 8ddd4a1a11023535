//! What the page needs from its host while it is rendered on the server. In the browser the same data comes
//! over the live socket.

use lockscope_wire::{
    Board, BoardQuery, Epoch, LockPage, LockQuery, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, Waits,
    WaitsQuery,
};

/// A first view and where to go on from: the live socket resumes after (`epoch`, `seq`) of the same view.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InitialView<T> {
    /// The feed's epoch.
    pub epoch: Epoch,
    /// The view's sequence number.
    pub seq: u64,
    /// The server's clock, ms since the Unix epoch; ages in the first render are against this.
    pub server_time_ms: i64,
    /// The instant up to which the view is known to be true, as in a live frame.
    pub known_at_ms: i64,
    /// The view.
    pub value: T,
}

/// Read access to the live views.
pub trait Source: Send + Sync + 'static {
    /// The board for a query.
    fn board(&self, query: &BoardQuery) -> InitialView<Board>;
    /// One lock; `value` is None when there is no such lock.
    fn lock(&self, query: &LockQuery) -> InitialView<Option<Box<LockPage>>>;
    /// The server's own state.
    fn status(&self) -> InitialView<Status>;
    /// Who waits for whom.
    fn waits(&self, query: WaitsQuery) -> InitialView<Box<Waits>>;
    /// Every session that matches.
    fn sessions(&self, query: &SessionsQuery) -> InitialView<Sessions>;
    /// One session; `value` is None when nothing is known of it.
    fn session(&self, query: &SessionQuery) -> InitialView<Option<Box<SessionPage>>>;
}
