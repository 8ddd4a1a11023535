//! What pages are rendered from: the hub, as far as the visibility scope of whoever asks reaches.

use std::sync::Arc;

use lockscope_page::ports::{InitialView, Source};
use lockscope_wire::{
    Board, BoardQuery, Body, ConfigStatus, LockPage, LockQuery, PROTOCOL, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, View, Waits,
};

use tokio::runtime::{Handle, RuntimeFlavor};

use feed::{Hub, Known, Projected, VisibilityScope};

/// The hub for somebody of one scope.
pub(super) struct PageSource {
    hub: Arc<Hub>,
    scope: VisibilityScope,
}

impl PageSource {
    pub(super) fn new(hub: Arc<Hub>, scope: VisibilityScope) -> Self {
        Self { hub, scope }
    }

    /// A first view for a page. When no channel can be had the page still gets its rows, and number 0, from which the
    /// live socket starts afresh.
    fn first_or_look(&self, view: View) -> ((u64, Known), Body) {
        let first = || self.hub.first(view.clone(), &self.scope).unwrap_or_else(|_| (0, self.hub.glance(&view, &self.scope)));
        let (seq, Projected { body, known }) = aside(first);
        ((seq, known), body)
    }

    fn first_of<T>(&self, (seq, known): (u64, Known), value: T) -> InitialView<T> {
        InitialView { epoch: self.hub.epoch(), seq, server_time_ms: self.hub.now_ms(), known_at_ms: known.at_ms, value }
    }

    /// Never: a view's body is of the view's kind.
    fn none_of<T>(&self, value: T) -> InitialView<T> {
        self.first_of((0, Known { at_ms: 0, is_live: false }), value)
    }
}

impl Source for PageSource {
    fn board(&self, query: &BoardQuery) -> InitialView<Board> {
        match self.first_or_look(View::Board(query.clone())) {
            (at, Body::Board(board)) => self.first_of(at, board),
            _ => self.none_of(Board::default()),
        }
    }

    fn lock(&self, query: &LockQuery) -> InitialView<Option<LockPage>> {
        match self.first_or_look(View::Lock(query.clone())) {
            (at, Body::Lock(page)) => self.first_of(at, page.map(|page| *page)),
            _ => self.none_of(None),
        }
    }

    fn status(&self) -> InitialView<Status> {
        match self.first_or_look(View::Status {}) {
            (at, Body::Status(status)) => self.first_of(at, status),
            _ => self.none_of(empty_status()),
        }
    }

    fn waits(&self) -> InitialView<Waits> {
        match self.first_or_look(View::Waits {}) {
            (at, Body::Waits(waits)) => self.first_of(at, *waits),
            _ => self.none_of(Waits::default()),
        }
    }

    fn sessions(&self, query: &SessionsQuery) -> InitialView<Sessions> {
        match self.first_or_look(View::Sessions(query.clone())) {
            (at, Body::Sessions(sessions)) => self.first_of(at, sessions),
            _ => self.none_of(Sessions::default()),
        }
    }

    fn session(&self, query: &SessionQuery) -> InitialView<Option<SessionPage>> {
        match self.first_or_look(View::Session(query.clone())) {
            (at, Body::Session(page)) => self.first_of(at, page.map(|page| *page)),
            _ => self.none_of(None),
        }
    }
}

/// Does what takes a while so that others of the runtime's thread go on elsewhere, where there is an elsewhere.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    let may_block = Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if may_block { tokio::task::block_in_place(work) } else { work() }
}

fn empty_status() -> Status {
    Status {
        version: String::new(),
        protocol: PROTOCOL,
        seq: 0,
        read_only: true,
        started_at_ms: 0,
        config: ConfigStatus::default(),
        ensembles: Vec::new(),
    }
}
