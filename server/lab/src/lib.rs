//! The lab: real sessions contend for one lock in several ways of waiting, and what that costs is measured. Owns runs,
//! their sandboxes and their figures; must not know HTTP, `live`, the model or the page.

mod client;
mod counts;
pub mod csv;
mod fault;
mod figures;
mod lag;
mod limits;
mod live_stats;
pub mod members;
mod notes;
pub mod relay;
mod run;
mod run_store;
pub mod sandbox;
mod service;
mod strategy;
mod strategy_run;
mod summary;
pub mod table;
mod tally;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lockscope_view::{FaultOrder, LabBrief, LabOrder, LabRun, LabRuns, ThrownFault};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::watch;

use self::run::Run;
use self::run_store::RunStore;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::tasks::spawn;
use lockscope_zookeeper::Credentials;

pub use run_store::{FILES_MAX, RUNS_MAX};
pub use service::{LabDenied, LabService, has_ended};

/// An ensemble that allows the lab.
#[derive(Clone, Debug)]
pub struct LabEnsemble {
    pub ensemble: String,
    /// Its connect string, without TLS: `host:port,host:port/chroot`.
    pub connect: String,
    pub credentials: Credentials,
    /// The directory below which runs get a directory each.
    pub root: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions a strategy, 2 to 500.
    pub clients_max: u32,
    /// Time that a run is counted, ms.
    pub duration_ms_max: u32,
    /// Longest hold and longest pause between rounds, ms.
    pub hold_ms_max: u32,
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
    #[error("the lab is off; allow it for an ensemble with `[lab]` in the configuration (see docs/lab.md)")]
    Off,
    #[error("run {0} is under way and there is one at a time; wait for its end or stop it")]
    Busy(String),
    /// What was asked for is outside the limits, or makes no sense.
    #[error("{0}")]
    Bad(String),
    #[error("there is no run {0}; it may have been dropped for newer ones")]
    Unknown(String),
    #[error("{0}")]
    NotNow(String),
}

/// The lab of this server; cheap to clone.
#[derive(Clone, Debug)]
pub struct Lab(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    places: Vec<LabEnsemble>,
    /// Runs begun at each.
    begun: Vec<AtomicU64>,
    limits: Mutex<Limits>,
    clock: Clock,
    shelf: RunStore,
    current: watch::Sender<Option<Arc<Run>>>,
    /// Held while a run is begun, so that there is one.
    starting: Mutex<()>,
    /// Counts changes of any run.
    changed: watch::Sender<u64>,
}

impl Lab {
    /// A lab on these ensembles; none: it is off. Finished runs are kept in the directory `shelf`, and read from there
    /// now.
    pub fn new(places: Vec<LabEnsemble>, limits: Limits, shelf: Option<PathBuf>, clock: Clock) -> Self {
        let shelf = RunStore::open(shelf.as_deref());
        let (current, changed) = (watch::Sender::new(None), watch::Sender::new(0));
        let begun = places.iter().map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Inner {
            places,
            begun,
            limits: Mutex::new(limits),
            clock,
            shelf,
            current,
            starting: Mutex::new(()),
            changed,
        }))
    }

    fn limits(&self) -> Limits {
        *self.0.limits.lock()
    }

    /// Sets anew what no run may exceed, from the next on.
    pub fn set_limits(&self, limits: Limits) {
        *self.0.limits.lock() = limits;
        self.tell();
    }

    fn current(&self) -> Option<Arc<Run>> {
        self.0.current.borrow().clone()
    }

    fn current_named(&self, id: &str) -> Option<Arc<Run>> {
        self.current().filter(|run| run.id == id)
    }

    fn tell(&self) {
        self.0.changed.send_modify(|count| *count += 1);
    }

    /// A lab that no ensemble allows.
    pub fn off() -> Self {
        Self::new(Vec::new(), Limits::default(), None, Clock::system())
    }

    pub fn is_off(&self) -> bool {
        self.0.places.is_empty()
    }

    /// The directory below which an ensemble's runs get theirs; None where it does not allow the lab.
    pub fn root_of(&self, ensemble: &str) -> Option<&str> {
        self.0.places.iter().find(|place| place.ensemble == ensemble).map(|place| place.root.as_str())
    }

    /// Removes what runs of servers that died left behind. Called once at the start, beside everything else.
    pub async fn sweep(&self) {
        for place in &self.0.places {
            match sandbox::sweep(place).await {
                Ok(0) => {}
                Ok(count) => tracing::info!(
                    ensemble = place.ensemble,
                    count,
                    "removed runs of the lab that a server left behind"
                ),
                Err(why) => tracing::warn!(
                    ensemble = place.ensemble,
                    why,
                    "could not look for runs of the lab that were left behind"
                ),
            }
        }
    }

    /// What an order becomes: checked against the limits, with everything that was left open chosen. The place it would
    /// be carried out at comes with it.
    pub fn check(&self, order: LabOrder) -> Result<(LabOrder, LabEnsemble), LabRefusal> {
        // As many bits as a number of JavaScript holds.
        limits::check(order, &self.limits(), &self.0.places, rand::random::<u64>() >> 11)
    }

    /// Begins a run and gives its id at once; it goes on by itself.
    ///
    /// # Errors
    /// See [`LabRefusal`].
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn start(&self, order: LabOrder, by: &str) -> Result<String, LabRefusal> {
        let checked = self.check(order)?;
        let place = checked.1.ensemble.clone();
        let _starting = self.0.starting.lock();
        if let Some(run) = self.current() {
            return Err(LabRefusal::Busy(run.id.clone()));
        }
        let id = format!("{:016x}", rand::random::<u64>());
        let duration_max = Duration::from_millis(self.limits().duration_ms_max.into());
        let run = Arc::new(Run::new(id.clone(), checked, by, self.0.clock.clone(), duration_max));
        self.note_begun(&place);
        self.0.current.send_replace(Some(Arc::clone(&run)));
        let lab = self.clone();
        spawn("lab run", async move {
            let changed = {
                let lab = lab.clone();
                move || lab.tell()
            };
            if let Err(error) = tokio::spawn(Arc::clone(&run).carry_out(changed)).await {
                run.broke(&error.to_string());
            }
            run.show();
            let (lab_of_file, ended) = (lab.clone(), run.shown());
            // A panic there is no reason to refuse further runs.
            let _ = tokio::task::spawn_blocking(move || lab_of_file.0.shelf.keep(ended)).await;
            lab.0.current.send_replace(None);
            lab.tell();
        });
        self.tell();
        Ok(id)
    }

    fn note_begun(&self, ensemble: &str) {
        let at = self.0.places.iter().zip(&self.0.begun).find(|(place, _)| place.ensemble == ensemble);
        if let Some((_, count)) = at {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Each ensemble that allows the lab, with how many runs were begun there.
    pub fn begun(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0
            .places
            .iter()
            .zip(&self.0.begun)
            .map(|(place, count)| (place.ensemble.as_str(), count.load(Ordering::Relaxed)))
    }

    pub fn run(&self, id: &str) -> Option<Arc<LabRun>> {
        self.current_named(id).map(|run| run.shown()).or_else(|| self.0.shelf.get(id))
    }

    /// Every run that is kept, and what may be ordered.
    pub fn runs(&self) -> LabRuns {
        let current = self.current().map(|run| run.shown());
        let kept = self.0.shelf.all().into_iter().filter(|kept| current.as_ref().is_none_or(|run| run.id != kept.id));
        LabRuns {
            ensembles: self.0.places.iter().map(|place| place.ensemble.clone()).collect(),
            clients_max: self.limits().clients_max(),
            runs: current.clone().into_iter().chain(kept).map(|run| brief(&run)).collect(),
        }
    }

    /// Changes whenever a run did, at most 20 times a second.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Stops a run; what it made is removed. Of a run that has ended nothing is left to stop, and that is no error.
    pub fn stop(&self, id: &str, by: &str) -> Result<(), LabRefusal> {
        match self.current_named(id) {
            Some(run) => run.stop(&format!("stopped by {by}")),
            None if self.0.shelf.get(id).is_some() => {}
            None => return Err(LabRefusal::Unknown(id.to_owned())),
        }
        Ok(())
    }

    /// Throws a fault into a run.
    pub async fn throw(&self, id: &str, order: FaultOrder) -> Result<ThrownFault, LabRefusal> {
        match self.current_named(id) {
            Some(run) => fault::throw(&run, &order).await,
            None if self.0.shelf.get(id).is_some() => {
                Err(LabRefusal::NotNow(format!("run {id} has ended; begin another to throw faults into it")))
            }
            None => Err(LabRefusal::Unknown(id.to_owned())),
        }
    }

    /// Stops what runs and waits until it is cleared; false when that took too long.
    pub async fn close(&self, within: Duration) -> bool {
        if let Some(run) = self.current() {
            run.stop("the server ends");
        }
        let mut current = self.0.current.subscribe();
        tokio::time::timeout(within, current.wait_for(Option::is_none)).await.is_ok()
    }
}

fn brief(run: &LabRun) -> LabBrief {
    LabBrief {
        id: run.id.clone(),
        state: run.state,
        ensemble: run.ensemble.clone(),
        by: run.by.clone(),
        ordered_at_ms: run.ordered_at_ms,
        clients: run.order.clients,
        strategies: run.order.strategies.clone(),
        conclusion: run.conclusion.clone(),
    }
}
