//! The feed's view of the model: the reader, what the model does not know about itself, and the clock. Hands every look to
//! `feed::project`.

use app::domain::change::Change;
use app::domain::finding::Code;
use app::domain::observation::{Observation, RootId};
use app::domain::observatory::Observatory;
use app::domain::time::TimeMs;
use app::wire::{Body, PROTOCOL, Status, View};
use tokio::sync::watch;

use crate::clock::Clock;
use crate::engine::{Model, Reader};
use crate::feed::Projection;
use crate::feed::project::{EnsembleInfo, Look};

/// What the model does not know.
#[derive(Clone, Debug)]
pub struct About {
    /// The ensemble.
    pub ensemble: EnsembleInfo,
    /// Version of the server.
    pub version: String,
    /// When it started.
    pub started_at_ms: i64,
}

/// Projects one observatory.
pub struct Projector {
    reader: Reader<Observatory>,
    about: About,
    clock: Clock,
}

impl Projector {
    /// Over a reader.
    pub fn new(reader: Reader<Observatory>, about: About, clock: Clock) -> Self {
        Self { reader, about, clock }
    }

    fn look<T>(&self, look: impl FnOnce(Look<'_>) -> T) -> T {
        let now = TimeMs(self.clock.now_ms());
        self.reader.read(|observatory| look(Look { observatory, ensemble: &self.about.ensemble, now }))
    }

    fn status(&self, look: Look<'_>) -> Status {
        Status {
            version: self.about.version.clone(),
            protocol: PROTOCOL,
            seq: look.observatory.revision(),
            read_only: true,
            started_at_ms: self.about.started_at_ms,
            ensembles: vec![look.ensemble_status()],
        }
    }
}

impl Model for Observatory {
    fn apply(&mut self, now: TimeMs, observation: Observation) -> Vec<Change> {
        Self::apply(self, now, observation)
    }

    fn revision(&self) -> u64 {
        Self::revision(self)
    }
}

impl Projection for Projector {
    fn revisions(&self) -> watch::Receiver<u64> {
        self.reader.revisions()
    }

    fn revision(&self) -> u64 {
        self.reader.revision()
    }

    fn view_revision(&self, view: &View) -> Vec<u64> {
        match view {
            View::Board(_) | View::Status {} | View::Waits {} | View::Sessions(_) | View::Session(_) => vec![self.reader.revision()],
            View::Lock(query) => self.look(|look| lock_revision(look, &query.path)),
        }
    }

    fn project(&self, view: &View) -> Body {
        self.look(|look| match view {
            View::Board(query) => Body::Board(look.board(query)),
            View::Lock(query) => Body::Lock(look.lock(query)),
            View::Status {} => Body::Status(self.status(look)),
            View::Waits {} => Body::Waits(Box::new(look.waits())),
            View::Sessions(query) => Body::Sessions(look.sessions(query)),
            View::Session(query) => Body::Session(look.session(query)),
        })
    }

    fn is_ready(&self) -> bool {
        self.reader.read(Observatory::is_ready)
    }

    fn suspects_herd(&self) -> bool {
        self.reader.read(|observatory| observatory.locks().any(|lock| lock.findings.iter().any(|finding| finding.code == Code::Herd)))
    }

    fn is_linked(&self) -> bool {
        self.reader.read(|observatory| observatory.session().is_some())
    }
}

/// The lock's own revision, the last round of questions to the members, and since when link and root are in their
/// states: a lock page shows all of them.
fn lock_revision(look: Look<'_>, path: &str) -> Vec<u64> {
    let observatory = look.observatory;
    let root = observatory.root_of(path).unwrap_or(RootId(u32::MAX));
    let since = [observatory.link().1, observatory.root_state(root).1].map(|at| at.0.cast_unsigned());
    let mut revision = vec![look.lock_revision(path).unwrap_or(u64::MAX), observatory.book().rounds()];
    revision.extend(since);
    revision
}
