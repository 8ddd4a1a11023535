//! The lab: real sessions contend for one lock in several ways of waiting, and what that costs is measured. Owns runs, their
//! sandboxes and their figures; must not know HTTP, the feed, the model or the page.

pub mod members;
pub mod relay;
pub mod sandbox;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::wire::{FaultOrder, LabOrder, LabRun, LabRuns, ThrownFault};
use thiserror::Error;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::zookeeper::Credentials;

/// An ensemble that allows the lab.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its name.
    pub ensemble: String,
    /// Its connect string, without TLS: `host:port,host:port/chroot`.
    pub connect: String,
    /// As whom.
    pub credentials: Credentials,
    /// The directory below which runs get a directory each.
    pub root: String,
}

/// What no run may exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions a strategy, 2 to 500.
    pub clients_max: u32,
    /// Time that a run is counted, ms.
    pub duration_ms_max: u32,
    /// Longest hold and longest pause between rounds, ms.
    pub hold_ms_max: u32,
    /// Rounds.
    pub rounds_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { clients_max: 500, duration_ms_max: 600_000, hold_ms_max: 60_000, rounds_max: 1_000 }
    }
}

/// Why something was not done: one sentence with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LabRefusal {
    /// No ensemble allows it.
    #[error("the lab is off; allow it for an ensemble with `[lab]` in the configuration (see README, The lab)")]
    Off,
    /// Another run is under way.
    #[error("run {0} is under way and there is one at a time; wait for its end or stop it")]
    Busy(String),
    /// What was asked for is outside the limits, or makes no sense.
    #[error("{0}")]
    Bad(String),
    /// There is no such run.
    #[error("there is no run {0}; it may have been dropped for newer ones")]
    Unknown(String),
    /// The run is not in a state for it.
    #[error("{0}")]
    NotNow(String),
}

/// The lab of this server; cheap to clone.
#[derive(Clone, Debug)]
pub struct Lab(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    places: Vec<Place>,
    limits: Limits,
    clock: Clock,
    /// Where finished runs are kept; None: in memory only.
    shelf: Option<PathBuf>,
    /// Counts changes of any run.
    changed: watch::Sender<u64>,
}

impl Lab {
    /// A lab on these ensembles; none: it is off. Finished runs are kept in `shelf`.
    pub fn new(places: Vec<Place>, limits: Limits, shelf: Option<PathBuf>, clock: Clock) -> Self {
        Self(Arc::new(Inner { places, limits, clock, shelf, changed: watch::Sender::new(0) }))
    }

    /// Removes what runs of servers that died left behind. Called once at the start, beside everything else.
    pub async fn sweep(&self) {}

    /// What an order becomes: checked against the limits, with everything that was left open chosen. The place it would
    /// be carried out at comes with it.
    ///
    /// # Errors
    /// See [`LabRefusal`].
    pub fn check(&self, _order: LabOrder) -> Result<(LabOrder, Place), LabRefusal> {
        Err(LabRefusal::Off)
    }

    /// Begins a run and gives its id at once; it goes on by itself.
    ///
    /// # Errors
    /// See [`LabRefusal`].
    pub fn start(&self, _order: LabOrder, _by: &str) -> Result<String, LabRefusal> {
        Err(LabRefusal::Off)
    }

    /// A run as it is now.
    pub fn run(&self, _id: &str) -> Option<Arc<LabRun>> {
        None
    }

    /// Every run that is kept, and what may be ordered.
    pub fn runs(&self) -> LabRuns {
        LabRuns {
            ensembles: self.0.places.iter().map(|place| place.ensemble.clone()).collect(),
            clients_max: self.0.limits.clients_max,
            runs: Vec::new(),
        }
    }

    /// Changes whenever a run did, at most 20 times a second.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Stops a run; what it made is removed. Of a run that has ended nothing is left to stop, and that is no error.
    ///
    /// # Errors
    /// See [`LabRefusal`].
    pub fn stop(&self, id: &str, _by: &str) -> Result<(), LabRefusal> {
        Err(LabRefusal::Unknown(id.to_owned()))
    }

    /// Throws a fault into a run.
    ///
    /// # Errors
    /// See [`LabRefusal`].
    pub async fn throw(&self, id: &str, _order: FaultOrder) -> Result<ThrownFault, LabRefusal> {
        Err(LabRefusal::Unknown(id.to_owned()))
    }

    /// Stops what runs and waits until it is cleared; false when that took too long.
    pub async fn close(&self, _within: Duration) -> bool {
        true
    }
}
