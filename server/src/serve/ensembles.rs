//! The ensembles that are served: each has an observer, a model, and a recording where there is a history. They come and
//! go while the server runs, and everything that shows them reads the lists that are kept here.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::{StreamExt as _, future, stream};
use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::alerting::AlertParts;
use super::recording::{self, Filling, Recorder, Recording};
use crate::config::{self, Config, ConfigError};
use crate::error::RunError;
use lockscope_history::historian::{Historian, HistoryHandle};
use lockscope_live::engine::{Engine, EngineError};
use lockscope_live::project::{EnsembleInfo, snoozes_observation};
use lockscope_live::{Ensemble, Ensembles};
use lockscope_release::{EnsembleHandle, ReleaseService};
use lockscope_runtime::TaskThreads;
use lockscope_runtime::clock::Clock;
use lockscope_runtime::shared_list::SharedList;
use lockscope_runtime::shutdown::{CancellationToken, DropGuard};
use lockscope_runtime::task_thread::TaskThread;
use lockscope_zookeeper::members::{Demand, SharedRounds};
use lockscope_zookeeper::{BATCHES_MAX, ReleaseClient, RequestCounts};

/// Recordings that are opened at once: each takes a thread for as long as what was recorded is read.
const OPENED_AT_ONCE: usize = 16;

/// How long the session to ZooKeeper gets to close.
pub const CLOSE_MAX: Duration = Duration::from_secs(3);

pub type MakeEnsemble<O> = fn(&Config, &config::Ensemble) -> Result<ServedEnsemble<O>, ConfigError>;

#[derive(Clone, Debug)]
pub struct ObserverContext {
    pub clock: Clock,
    /// What somebody wants to know beyond the state of locks.
    pub demand: watch::Receiver<Demand>,
    pub counts: Arc<RequestCounts>,
    /// The thread of the ensemble's engine: what it observes need not change threads.
    pub thread: TaskThread,
    /// Ensembles with the same members ask them once.
    pub rounds: SharedRounds,
}

/// What feeds the engine: an observer of a real ensemble, or a script in tests.
pub trait Observer: Send + 'static {
    /// Observes until `stop`, then closes its session.
    fn observe(
        self,
        context: ObserverContext,
        sink: mpsc::Sender<Vec<Observation>>,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send;
}

pub struct ServedEnsemble<O> {
    pub info: EnsembleInfo,
    pub roots: Vec<String>,
    pub observer: O,
    pub release_client: ReleaseClient,
    pub counts: Arc<RequestCounts>,
    /// Closed when whoever fills its history first is done; None where nobody does.
    pub filling: Option<Filling>,
}

/// Where a model takes observations in, by the name of its ensemble.
pub(crate) type Model = (String, mpsc::WeakSender<Vec<Observation>>);

#[derive(Clone, Default)]
pub(crate) struct EnsembleLists {
    pub(super) shown: Ensembles,
    pub(super) handles: SharedList<EnsembleHandle>,
    /// Where changed settings go.
    pub(crate) models: SharedList<Model>,
    pub(super) histories: SharedList<(EnsembleInfo, Option<HistoryHandle>)>,
    /// Each rises while its engine lives.
    pub(super) pulses: SharedList<(String, Arc<AtomicU64>)>,
    pub(super) counts: SharedList<(String, Arc<RequestCounts>)>,
}

struct Running {
    _stopper: DropGuard,
    observer: JoinHandle<()>,
    engine: JoinHandle<()>,
    historian: Option<Historian>,
}

#[derive(Clone)]
pub(crate) struct EnsembleRunner(Arc<Inner>);

struct Inner {
    clock: Clock,
    stop: CancellationToken,
    demand: watch::Receiver<Demand>,
    alerting: AlertParts,
    recorder: Option<Recorder>,
    threads: Mutex<TaskThreads>,
    rounds: SharedRounds,
    lists: EnsembleLists,
    running: Mutex<HashMap<String, Running>>,
    /// Told when an engine ends by itself.
    ended: mpsc::UnboundedSender<EngineError>,
    /// Made of the first ensembles; told of further ones.
    releases: Mutex<Option<ReleaseService>>,
}

impl EnsembleRunner {
    /// Nothing runs yet. `recorder`: where the past is kept.
    pub(super) fn new(
        (clock, stop): (Clock, CancellationToken),
        demand: watch::Receiver<Demand>,
        alerting: AlertParts,
        recorder: Option<Recorder>,
    ) -> (Self, mpsc::UnboundedReceiver<EngineError>) {
        let (ended, ends) = mpsc::unbounded_channel();
        let runner = Self(Arc::new(Inner {
            clock,
            stop,
            demand,
            alerting,
            recorder,
            threads: Mutex::new(TaskThreads::new("ensemble")),
            rounds: SharedRounds::default(),
            lists: EnsembleLists::default(),
            running: Mutex::default(),
            ended,
            releases: Mutex::default(),
        }));
        (runner, ends)
    }

    pub(crate) fn lists(&self) -> &EnsembleLists {
        &self.0.lists
    }

    pub(super) fn set_releases(&self, releases: ReleaseService) {
        *self.0.releases.lock() = Some(releases);
    }

    /// Starts some, in their order.
    ///
    /// # Errors
    /// The system gives no thread; those before it run.
    pub(crate) async fn start<O: Observer>(
        &self,
        config: &Config,
        mut ensembles: Vec<ServedEnsemble<O>>,
    ) -> Result<(), RunError> {
        let recorded: Vec<_> =
            ensembles.iter_mut().map(|ensemble| (ensemble.info.name.clone(), ensemble.filling.take())).collect();
        let recorder = self.0.recorder.as_ref();
        let open = |of| async move {
            match recorder {
                Some(recorder) => Some(recorder.start(of).await),
                None => None,
            }
        };
        let mut recordings = stream::iter(recorded).map(open).buffered(OPENED_AT_ONCE);
        for ensemble in ensembles {
            let recording = recordings.next().await.flatten().transpose()?;
            self.start_one(config, ensemble, recording)?;
        }
        Ok(())
    }

    fn start_one<O: Observer>(
        &self,
        config: &Config,
        ensemble: ServedEnsemble<O>,
        recording: Option<Recording>,
    ) -> Result<(), RunError> {
        let ServedEnsemble { info, roots, observer, release_client, counts, filling: _ } = ensemble;
        let Inner { clock, lists, alerting, .. } = &*self.0;
        let (sink, inbox) = mpsc::channel(BATCHES_MAX);
        let (configured, limits) = (config.locks.clone(), config.lints.clone());
        let settings = Settings { roots, configured, limits, ..Settings::default() };
        let thread = self.0.threads.lock().place();
        let thread = thread.map_err(|error| RunError::Internal(format!("no thread for an ensemble: {error}")))?;
        let (log, known, history, historian) = match recording {
            Some(Recording { handle, log, historian, model }) => (Some(log), model, Some(handle), Some(historian)),
            None => (None, None, None, None),
        };
        let now = TimeMs(clock.now_ms());
        let model = match known {
            Some(known) => recording::restarted(known, settings, now),
            None => Observatory::new(settings, now),
        };
        let log = Some(alerting.follow(&info.name, log, now));
        let stop = self.0.stop.child_token();
        let engine = Engine::start_recorded(model, inbox, clock.clone(), stop.clone(), &thread, log);
        let (reader, name) = (engine.reader.clone(), info.name.clone());
        // What is silenced is told to a model as everything else; those that are there already were told.
        let snoozes = snoozes_observation(&alerting.alerts.order_snoozes().borrow(), &name);
        if sink.try_send(vec![snoozes]).is_err() {
            return Err(RunError::Internal("an ensemble's engine takes nothing in".to_owned()));
        }
        lists.models.push((name.clone(), sink.downgrade()));
        lists.histories.push((info.clone(), history));
        lists.pulses.push((name.clone(), engine.pulse()));
        lists.counts.push((name.clone(), counts.clone()));
        let acting =
            EnsembleHandle { info: info.clone(), reader: reader.clone(), acting: release_client, clock: clock.clone() };
        match &*self.0.releases.lock() {
            Some(releases) => releases.add(acting),
            None => lists.handles.push(acting),
        }
        lists.shown.add(Ensemble { info, reader });
        let context = ObserverContext {
            clock: clock.clone(),
            demand: self.0.demand.clone(),
            counts,
            thread,
            rounds: self.0.rounds.clone(),
        };
        let observed = stop.clone();
        let running = Running {
            observer: tokio::spawn(async move { observer.observe(context, sink, observed).await }),
            engine: tokio::spawn(tell_end(engine, stop.clone(), self.0.ended.clone())),
            historian,
            _stopper: stop.drop_guard(),
        };
        self.running().insert(name, running);
        Ok(())
    }

    /// Ends some: they are shown no more at once; what was observed of them is stored within a bound.
    pub(crate) async fn end(&self, names: &[String], within: Duration) {
        let ended: Vec<Running> = names.iter().filter_map(|name| self.running().remove(name)).collect();
        let is_meant = |name: &str| names.iter().any(|ended| ended == name);
        let lists = &self.0.lists;
        names.iter().for_each(|name| lists.shown.remove(name));
        lists.models.take(|(name, _)| is_meant(name));
        lists.histories.take(|(info, _)| is_meant(&info.name));
        lists.pulses.take(|(name, _)| is_meant(name));
        lists.counts.take(|(name, _)| is_meant(name));
        if let Some(releases) = &*self.0.releases.lock() {
            names.iter().for_each(|name| releases.remove(name));
        }
        wait_for(ended, within).await;
    }

    /// Says anew what is known of one that goes on: its colour and its labels.
    pub(crate) fn describe(&self, info: &EnsembleInfo) {
        self.0.lists.shown.describe(info);
    }

    /// Resolves the alerts of ensembles that are served no more.
    pub(crate) fn end_alerts_elsewhere(&self, config: &Config) {
        let is_served = |name: &str| config.ensembles.iter().any(|ensemble| ensemble.name == name);
        self.0.alerting.alerts.end_elsewhere(is_served);
    }

    /// Ends all, after the server's own stop.
    pub(super) async fn close(&self, within: Duration) {
        let all = std::mem::take(&mut *self.running()).into_values().collect();
        wait_for(all, within).await;
    }

    fn running(&self) -> parking_lot::MutexGuard<'_, HashMap<String, Running>> {
        self.0.running.lock()
    }
}

/// Cancels them, and waits until models, recordings and sessions are at their end.
async fn wait_for(ended: Vec<Running>, within: Duration) {
    let (mut tasks, mut historians) = (Vec::new(), Vec::new());
    for Running { _stopper, observer, engine, historian } in ended {
        drop(_stopper);
        tasks.extend([observer, engine]);
        historians.extend(historian);
    }
    let stored = recording::end(historians, within);
    let (closed, ()) = tokio::join!(tokio::time::timeout(within, future::join_all(tasks)), stored);
    if closed.is_err() {
        tracing::warn!("a session to ZooKeeper did not close within {within:?}; it will expire");
    }
}

/// Tells when an engine ends before it was asked to; without it what is shown is no longer true.
async fn tell_end(mut engine: Engine<Observatory>, stop: CancellationToken, ended: mpsc::UnboundedSender<EngineError>) {
    let result = engine.ended().await;
    if !stop.is_cancelled() {
        // Nobody listens once the server ends.
        let _ = ended.send(result.err().unwrap_or_else(|| EngineError::Failed("it ended".to_owned())));
    }
}
