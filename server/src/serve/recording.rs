//! The recording of each ensemble: what its engine applies goes to a historian, and what was recorded before the last stop
//! is where the model begins.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use history::derive::{Event, Tap};
use history::historian::{self, Historian, HistoryHandle};
use history::replay::ReplayError;
use history::resume::{Resumed, resume};
use history::store::{Retention, StoreError, is_all_generated};
use lockscope_core::change::Change;
use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use tokio::sync::watch;

use super::history_place::{OpenPlace, OpenStore};
use crate::config::History;
use crate::error::RunError;
use feed::engine::ObservationLog;
use feed::project::{EnsembleInfo, ForcedReleases};
use http::Payloads;
use runtime::clock::Clock;
use runtime::shared_list::SharedList;

/// Longest wait for what was recorded before; without it the model begins with nothing.
const REPLAY_MAX: Duration = Duration::from_secs(10);

/// The recording of one ensemble.
pub(super) struct Recording {
    /// What is known of it, and its store.
    pub(super) handle: HistoryHandle,
    /// Where the engine writes.
    pub(super) log: Box<dyn ObservationLog<Observatory>>,
    /// Ends once the engine is gone.
    pub(super) historian: Historian,
    /// The model as it was recorded last.
    pub(super) model: Option<Observatory>,
}

/// Closed when whoever fills a history first is done with it.
pub type Filling = mpsc::Receiver<()>;

/// How much is kept; changed as the settings are.
pub(crate) type RetentionHandle = watch::Sender<Retention>;

/// Starts to record ensembles.
pub(super) struct Recorder {
    place: OpenPlace,
    retention: watch::Receiver<Retention>,
    payloads: watch::Receiver<Payloads>,
    clock: Clock,
}

impl Recorder {
    /// As the settings say; None where there is no history. `payloads`: who is shown what znodes carry; where nobody is,
    /// it is not recorded either. `session_timeout`: of ZooKeeper's sessions; whoever stands still loses its turn to
    /// record so soon that another one records a second after that, though it asks once a second.
    ///
    /// # Errors
    /// There is no thread left.
    pub(super) fn new(
        history: Option<&History>,
        payloads: &watch::Receiver<Payloads>,
        clock: &Clock,
        session_timeout: Duration,
    ) -> Result<Option<(Self, RetentionHandle)>, RunError> {
        let Some(history) = history else { return Ok(None) };
        let (handle, retention) = watch::channel(history.retention);
        let place = OpenPlace::of(&history.place, Some(session_timeout * 9 / 10))
            .map_err(|error| RunError::Internal(format!("the history can't be opened: {error}")))?;
        Ok(Some((Self { place, retention, payloads: payloads.clone(), clock: clock.clone() }, handle)))
    }

    /// Starts to record one.
    ///
    /// # Errors
    /// There is no thread left.
    pub(super) async fn start(&self, of: (String, Option<Filling>)) -> Result<Recording, RunError> {
        start_one(self.place.clone(), of, self.retention.clone(), self.payloads.clone(), &self.clock).await
    }
}

async fn start_one(
    place: OpenPlace,
    (ensemble, filling): (String, Option<Filling>),
    retention: watch::Receiver<Retention>,
    payloads: watch::Receiver<Payloads>,
    clock: &Clock,
) -> Result<Recording, RunError> {
    let (of, name) = (place.clone(), ensemble.clone());
    let is_filled = filling.is_some();
    // What somebody else writes first was not observed.
    let known = tokio::task::spawn_blocking(move || if is_filled { (None, None) } else { open_and_replay(&of, &name) });
    let (store, resumed) = match tokio::time::timeout(REPLAY_MAX, known).await {
        Ok(Ok(known)) => known,
        Ok(Err(_)) | Err(_) => {
            tracing::warn!(
                "what was recorded of the ensemble {ensemble} was not read within {REPLAY_MAX:?}; its model begins with nothing"
            );
            (None, None)
        }
    };
    let lender = Lender::default();
    let open = opener(place, ensemble, store, filling, lender.clone());
    let (model, deriver) =
        resumed.map_or((None, None), |Resumed { observatory, deriver }| (Some(observatory), Some(deriver)));
    let (historian, recorder) = Historian::go_on(open, move || *retention.borrow(), clock.clone(), deriver)
        .map_err(|error| RunError::Internal(format!("no thread for the history: {error}")))?;
    // It is the only one who sets it.
    let _ = lender.set(recorder.handle());
    Ok(Recording { handle: recorder.handle(), log: Box::new(Log::new(recorder, payloads)), historian, model })
}

/// Tells each recording which of its znodes somebody deleted through Lockscope. Never ends.
pub(super) fn note_forced(
    forced: ForcedReleases,
    histories: SharedList<(EnsembleInfo, Option<HistoryHandle>)>,
) -> impl Future<Output = ()> {
    forced.follow(move |release| {
        let histories = histories.now();
        let of = histories.iter().find(|(info, _)| info.name == release.ensemble);
        if let Some(handle) = of.and_then(|(_, handle)| handle.as_ref()) {
            handle.forced(Zxid(release.czxid.0));
        }
    })
}

/// Waits until all that was applied is stored, at most for so long.
pub(super) async fn end(historians: Vec<Historian>, within: Duration) {
    if historians.is_empty() {
        return;
    }
    let all = tokio::task::spawn_blocking(|| historians.into_iter().for_each(Historian::join));
    if tokio::time::timeout(within, all).await.is_err() {
        tracing::warn!("the history was not stored to its end within {within:?}");
    }
}

/// The model goes on with what was recorded: what happened since is a gap in its view.
pub(super) fn restarted(mut model: Observatory, settings: Settings, now: TimeMs) -> Observatory {
    model.apply(now, Observation::Restarted(Box::new(settings)));
    model
}

/// To whom a store is lent that another server writes.
type Lender = Arc<OnceLock<HistoryHandle>>;

fn open_and_replay(place: &OpenPlace, ensemble: &str) -> (Option<OpenStore>, Option<Resumed>) {
    let store = match place.open(ensemble) {
        Ok(store) => store,
        // The historian tries again, and says what is wrong.
        Err(_) => return (None, None),
    };
    match is_all_generated(&*store) {
        // Nobody observed it: the live model knows nothing of it.
        Ok(true) => return (Some(store), None),
        Ok(false) => {}
        Err(error) => tracing::warn!("the history of the ensemble {ensemble} can't be read: {error}"),
    }
    match resume(&*store) {
        Ok(resumed) => (Some(store), Some(resumed)),
        Err(ReplayError::NothingKept { .. }) => (Some(store), None),
        Err(error) => {
            tracing::warn!("the model of the ensemble {ensemble} begins with nothing: {error}");
            (Some(store), None)
        }
    }
}

/// Opens the store for the historian: first the one that is open already, and not before it is filled.
fn opener(
    place: OpenPlace,
    ensemble: String,
    opened: Option<OpenStore>,
    filling: Option<Filling>,
    lender: Lender,
) -> history::historian::Open {
    let (opened, filling) = (Mutex::new(opened), Mutex::new(filling));
    Box::new(move || -> Result<OpenStore, StoreError> {
        if let Some(filling) = filling.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // What is observed meanwhile waits with the recorder. Nothing is sent: it ends when the sender is dropped.
            let _ = filling.recv();
        }
        let opened = opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(opened) = opened else {
            let own = place.open(&ensemble);
            if let Some(handle) = lender.get() {
                handle.stands_by(place.is_shared() && matches!(own, Err(StoreError::InUse(_))));
            }
            if let (Err(StoreError::InUse(_)), Some(handle)) = (&own, lender.get())
                && handle.store().is_none()
                && let Some(store) = place.open_to_read(&ensemble)?
            {
                handle.lend(&store);
            }
            return own;
        };
        Ok(opened)
    })
}

/// A recorder as the engine sees it.
struct Log {
    recorder: historian::Recorder,
    payloads: watch::Receiver<Payloads>,
    tap: Tap,
    /// What happened and was not handed over.
    events: Vec<(TimeMs, Event)>,
}

impl Log {
    fn new(recorder: historian::Recorder, payloads: watch::Receiver<Payloads>) -> Self {
        Self { recorder, payloads, tap: Tap::default(), events: Vec::new() }
    }
}

impl ObservationLog<Observatory> for Log {
    fn record(&mut self, mut batch: Vec<(TimeMs, Observation)>) {
        self.recorder.hide_payloads(*self.payloads.borrow() == Payloads::Nobody);
        self.recorder.gather(&mut batch, &mut self.events);
    }

    fn changed(&mut self, now: TimeMs, model: &Observatory, cause: Option<&Observation>, changes: &[Change]) {
        self.tap.look(model, now, cause, changes, &mut self.events);
    }

    fn wants_checkpoint(&self) -> bool {
        self.recorder.wants_checkpoint()
    }

    fn checkpoint(&mut self, now: TimeMs, model: &Observatory) {
        if let Some(checkpoint) = model.checkpoint() {
            // What led to it comes before it.
            self.recorder.record(Vec::new(), std::mem::take(&mut self.events));
            self.recorder.checkpoint(now, checkpoint);
        }
    }
}
