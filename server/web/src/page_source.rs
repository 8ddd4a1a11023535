//! What pages are rendered from: the hub, as far as the visibility scope of whoever asks reaches.

use std::sync::Arc;

use lockscope_page::ports::{InitialView, Source};
use lockscope_view::{
    Board, BoardQuery, LockOrders, LockPage, LockQuery, Scope, SessionPage, SessionQuery, Sessions, SessionsQuery,
    Status, StatusQuery, Waits, WaitsQuery,
};
use tokio::runtime::{Handle, RuntimeFlavor};

use lockscope_live::{Hub, ModelQuery, ProjectedView};

/// The hub for somebody of one scope.
pub(super) struct PageSource {
    hub: Arc<Hub>,
    scope: Scope,
}

impl PageSource {
    pub(super) fn new(hub: Arc<Hub>, scope: Scope) -> Self {
        Self { hub, scope }
    }

    /// A first view for a page. When no channel can be had the page still gets its rows, and number 0, from which the
    /// live socket starts afresh.
    fn initial<Q: ModelQuery>(&self, query: &Q) -> InitialView<Q::Answer> {
        let first =
            || self.hub.first(query.clone(), &self.scope).unwrap_or_else(|_| (0, self.hub.glance(query, &self.scope)));
        let (seq, ProjectedView { body, known }) = aside(first);
        InitialView {
            epoch: self.hub.epoch(),
            seq,
            server_time_ms: self.hub.now_ms(),
            known_at_ms: known.at_ms,
            value: body,
        }
    }
}

impl Source for PageSource {
    fn board(&self, query: &BoardQuery) -> InitialView<Board> {
        self.initial(query)
    }

    fn lock(&self, query: &LockQuery) -> InitialView<Option<Box<LockPage>>> {
        self.initial(query)
    }

    fn status(&self) -> InitialView<Status> {
        self.initial(&StatusQuery)
    }

    fn waits(&self, query: WaitsQuery) -> InitialView<Box<Waits>> {
        self.initial(&query)
    }

    fn orders(&self) -> LockOrders {
        aside(|| self.hub.projection().orders(&self.scope, "")).unwrap_or_default()
    }

    fn sessions(&self, query: &SessionsQuery) -> InitialView<Sessions> {
        self.initial(query)
    }

    fn session(&self, query: &SessionQuery) -> InitialView<Option<Box<SessionPage>>> {
        self.initial(query)
    }
}

/// Does what takes a while so that others of the runtime's thread go on elsewhere, where there is an elsewhere.
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let may_block = Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if may_block { tokio::task::block_in_place(work) } else { work() }
}
