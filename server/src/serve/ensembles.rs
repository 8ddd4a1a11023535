//! The ensembles that are served: each has an observer, a model on a thread of its own, and a recording where there is a
//! history.

use std::future::Future;
use std::sync::Arc;

use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::alerting::AlertParts;
use super::recording::{self, Filling, Recording};
use crate::config::Config;
use crate::error::RunError;
use feed::Ensemble;
use feed::engine::Engine;
use feed::project::EnsembleInfo;
use history::historian::{Historian, HistoryHandle};
use http::metrics::Metrics;
use release::EnsembleHandle;
use runtime::clock::Clock;
use runtime::shutdown::CancellationToken;
use runtime::task_thread::TaskThread;
use zookeeper::members::Demand;
use zookeeper::{BATCHES_MAX, ReleaseClient};

/// What an observer is handed.
#[derive(Clone, Debug)]
pub struct ObserverContext {
    /// The server's clock.
    pub clock: Clock,
    /// What somebody wants to know beyond the state of locks.
    pub demand: watch::Receiver<Demand>,
    /// Where it counts what it asks.
    pub counts: Arc<zookeeper::RequestCounts>,
    /// The thread of the ensemble's engine: what it observes need not change threads.
    pub thread: TaskThread,
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

/// One ensemble to be served: what it is called, what is watched there, and who watches.
pub struct ServedEnsemble<O> {
    /// Its name and where it is.
    pub info: EnsembleInfo,
    /// Watched roots.
    pub roots: Vec<String>,
    /// Who watches.
    pub observer: O,
    /// Who acts, when somebody orders it.
    pub release_client: ReleaseClient,
    /// Closed when whoever fills its history first is done; None where nobody does.
    pub filling: Option<Filling>,
}

/// What was started of all ensembles, in their order.
#[derive(Default)]
pub(super) struct RunningEnsembles {
    pub(super) engines: Vec<Engine<Observatory>>,
    pub(super) observers: Vec<JoinHandle<()>>,
    pub(super) projected: Vec<Ensemble>,
    pub(super) handles: Vec<EnsembleHandle>,
    /// Where changed settings go.
    pub(super) models: Vec<mpsc::WeakSender<Vec<Observation>>>,
    pub(super) historians: Vec<Historian>,
    /// What the past is shown from.
    pub(super) histories: Vec<(EnsembleInfo, Option<HistoryHandle>)>,
}

impl RunningEnsembles {
    pub(super) fn start<O: Observer>(
        config: &Config,
        ensembles: impl Iterator<Item = (ServedEnsemble<O>, Option<Recording>)>,
        (clock, stop): (&Clock, &CancellationToken),
        demand: &watch::Receiver<Demand>,
        metrics: &mut Metrics,
        alerting: &AlertParts,
    ) -> Result<Self, RunError> {
        let mut running = Self::default();
        for (ServedEnsemble { info, roots, observer, release_client, filling: _ }, recording) in ensembles {
            let (sink, inbox) = mpsc::channel(BATCHES_MAX);
            running.models.push(sink.downgrade());
            let settings = Settings {
                roots,
                configured: config.locks.clone(),
                limits: config.lints.clone(),
                ..Settings::default()
            };
            let thread = TaskThread::start("ensemble")
                .map_err(|error| RunError::Internal(format!("no thread for an ensemble: {error}")))?;
            let (log, known, history) = match recording {
                Some(Recording { handle, log, historian, model }) => {
                    running.historians.push(historian);
                    (Some(log), model, Some(handle))
                }
                None => (None, None, None),
            };
            running.histories.push((info.clone(), history));
            let now = TimeMs(clock.now_ms());
            let model = match known {
                Some(known) => recording::restarted(known, settings, now),
                None => Observatory::new(settings, now),
            };
            let log = Some(alerting.follow(&info.name, log, now));
            let engine = Engine::start_recorded(model, inbox, clock.clone(), stop.clone(), &thread, log);
            let counts = Arc::<zookeeper::RequestCounts>::default();
            metrics.zookeeper.push((info.name.clone(), counts.clone()));
            let (context, receiver) =
                (ObserverContext { clock: clock.clone(), demand: demand.clone(), counts, thread }, stop.clone());
            running.observers.push(tokio::spawn(async move { observer.observe(context, sink, receiver).await }));
            running.handles.push(EnsembleHandle {
                info: info.clone(),
                reader: engine.reader.clone(),
                acting: release_client,
                clock: clock.clone(),
            });
            running.projected.push(Ensemble { info, reader: engine.reader.clone() });
            running.engines.push(engine);
        }
        Ok(running)
    }
}
