//! What pages are rendered from: the hub, seen with the eyes of whoever asks.

use std::sync::Arc;

use app::ports::{First, Source};
use app::wire::{
    Board, BoardQuery, Body, ConfigStatus, LockPage, LockQuery, PROTOCOL, SessionPage, SessionQuery, Sessions, SessionsQuery, Status, View, Waits,
};

use super::{Hub, Sight};

/// The hub for somebody of one sight.
pub struct Seen {
    hub: Arc<Hub>,
    sight: Sight,
}

impl Seen {
    pub(super) fn new(hub: Arc<Hub>, sight: Sight) -> Self {
        Self { hub, sight }
    }

    /// A first view for a page. When no channel can be had the page still gets its rows, and number 0, from which the
    /// live socket starts afresh.
    fn first_or_look(&self, view: View) -> (u64, Body) {
        self.hub.first(view.clone(), &self.sight).unwrap_or_else(|_| (0, self.hub.projection().project(&view, &self.sight)))
    }

    fn first_of<T>(&self, seq: u64, value: T) -> First<T> {
        First { epoch: self.hub.epoch(), seq, server_time_ms: self.hub.now_ms(), value }
    }
}

impl Source for Seen {
    fn board(&self, query: &BoardQuery) -> First<Board> {
        match self.first_or_look(View::Board(query.clone())) {
            (seq, Body::Board(board)) => self.first_of(seq, board),
            _ => self.first_of(0, Board::default()),
        }
    }

    fn lock(&self, query: &LockQuery) -> First<Option<LockPage>> {
        match self.first_or_look(View::Lock(query.clone())) {
            (seq, Body::Lock(page)) => self.first_of(seq, page.map(|page| *page)),
            _ => self.first_of(0, None),
        }
    }

    fn status(&self) -> First<Status> {
        match self.first_or_look(View::Status {}) {
            (seq, Body::Status(status)) => self.first_of(seq, status),
            _ => self.first_of(0, empty_status()),
        }
    }

    fn waits(&self) -> First<Waits> {
        match self.first_or_look(View::Waits {}) {
            (seq, Body::Waits(waits)) => self.first_of(seq, *waits),
            _ => self.first_of(0, Waits::default()),
        }
    }

    fn sessions(&self, query: &SessionsQuery) -> First<Sessions> {
        match self.first_or_look(View::Sessions(query.clone())) {
            (seq, Body::Sessions(sessions)) => self.first_of(seq, sessions),
            _ => self.first_of(0, Sessions::default()),
        }
    }

    fn session(&self, query: &SessionQuery) -> First<Option<SessionPage>> {
        match self.first_or_look(View::Session(query.clone())) {
            (seq, Body::Session(page)) => self.first_of(seq, page.map(|page| *page)),
            _ => self.first_of(0, None),
        }
    }
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
