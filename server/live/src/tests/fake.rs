//! A projection of made-up boards.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use lockscope_view::{BoardHead, ConfigStatus, PROTOCOL, RootBrief, RootState, Scope};
use tokio::sync::watch;

use crate::*;

/// A model that is a list of root names.
pub(super) struct Fake {
    pub(super) names: Mutex<Vec<String>>,
    pub(super) revision: watch::Sender<u64>,
    pub(super) projections: AtomicUsize,
    pub(super) known: Mutex<Known>,
}

impl Fake {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            names: Mutex::default(),
            revision: watch::channel(0).0,
            projections: AtomicUsize::new(0),
            known: Mutex::new(Known { at_ms: 5, is_live: true, is_past: false }),
        })
    }

    pub(super) fn set(&self, names: &[&str]) {
        *self.names.lock().unwrap() = names.iter().map(|name| (*name).to_owned()).collect();
        self.revision.send_modify(|revision| *revision += 1);
    }
}

impl Fake {
    fn show<T>(&self, body: T) -> ProjectedView<T> {
        self.projections.fetch_add(1, Ordering::Relaxed);
        ProjectedView { body, known: *self.known.lock().unwrap() }
    }
}

/// The board's roots are what it knows.
impl Views for Fake {
    fn board(&self, _query: &BoardQuery, _scope: &Scope) -> ProjectedView<Board> {
        let root = |path: &String| RootBrief {
            tag: None,
            path: path.clone(),
            state: RootState::Live,
            since_ms: 0,
            why: String::new(),
            locks: 0,
            help: String::new(),
        };
        let roots = self.names.lock().unwrap().iter().map(root).collect();
        self.show(Board { head: BoardHead { roots, ..BoardHead::default() }, ..Board::default() })
    }

    fn lock(&self, _query: &LockQuery, _scope: &Scope) -> ProjectedView<Option<Box<LockPage>>> {
        self.show(None)
    }

    fn status(&self, _scope: &Scope) -> ProjectedView<Status> {
        self.show(Status {
            version: String::new(),
            protocol: PROTOCOL,
            seq: 0,
            read_only: true,
            started_at_ms: 0,
            config: ConfigStatus::default(),
            ensembles: Vec::new(),
        })
    }

    fn waits(&self, _query: &WaitsQuery, _scope: &Scope) -> ProjectedView<Box<Waits>> {
        self.show(Box::default())
    }

    fn sessions(&self, _query: &SessionsQuery, _scope: &Scope) -> ProjectedView<Sessions> {
        self.show(Sessions::default())
    }

    fn session(&self, _query: &SessionQuery, _scope: &Scope) -> ProjectedView<Option<Box<SessionPage>>> {
        self.show(None)
    }

    fn lab(&self, _query: &LabQuery, _scope: &Scope) -> ProjectedView<Option<Box<LabRun>>> {
        self.show(None)
    }

    fn events(&self, _query: &EventsQuery, _scope: &Scope) -> ProjectedView<Lately> {
        self.show(Lately::default())
    }

    fn queue_map(&self, _query: &QueueMapQuery, _scope: &Scope) -> ProjectedView<Option<Box<QueueMap>>> {
        self.show(None)
    }
}

impl Projection for Fake {
    fn revisions(&self) -> Revisions {
        Revisions::of([self.revision.subscribe()])
    }

    fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    fn view_revision(&self, _view: &View, _sight: &Scope) -> Vec<u64> {
        vec![self.revision()]
    }

    fn known(&self, _view: &View, _sight: &Scope) -> Known {
        *self.known.lock().unwrap()
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn is_linked(&self) -> bool {
        true
    }
}
