//! The recording of each ensemble: what its engine applies goes to a historian, and what was recorded before the last stop
//! is where the model begins.

use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use lockscope_core::change::Change;
use lockscope_core::observation::{Observation, RootId, is_other_history};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use lockscope_core::verdict::duration;
use lockscope_core::znode::Zxid;
use lockscope_history::derive::{Event, Tap};
use lockscope_history::historian::{self, Historian, HistoryHandle};
use lockscope_history::replay::ReplayError;
use lockscope_history::resume::{Resumed, resume};
use lockscope_history::store::{GapReason, Retention, Store, StoreError, is_all_generated};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::history_place::{OpenPlace, OpenStore};
use crate::config::History;
use crate::error::RunError;
use lockscope_live::engine::ObservationLog;
use lockscope_live::project::{EnsembleInfo, ForcedReleases};
use lockscope_runtime::clock::{self, Clock};
use lockscope_runtime::shared_list::SharedList;
use lockscope_web::Payloads;

/// Longest wait for what was recorded before; without it the model begins with nothing.
const REPLAY_MAX: Duration = Duration::from_secs(10);

/// A server that records adds something within a second; one that adds nothing for so long does not record.
const SILENCE_MAX: Duration = Duration::from_secs(30);

pub(super) struct Recording {
    pub(super) handle: HistoryHandle,
    pub(super) log: Box<dyn ObservationLog<Observatory>>,
    /// Ends once the engine is gone.
    pub(super) historian: Historian,
    /// The model as it was recorded last.
    pub(super) model: Option<Observatory>,
}

/// Closed when whoever fills a history first is done with it.
pub type Filling = mpsc::Receiver<()>;

pub(crate) type RetentionHandle = watch::Sender<Retention>;

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
) -> lockscope_history::historian::Open {
    let (opened, filling, newest) = (Mutex::new(opened), Mutex::new(filling), Mutex::new(None));
    Box::new(move || -> Result<OpenStore, StoreError> {
        if let Some(filling) = filling.lock().take() {
            // What is observed meanwhile waits with the recorder. Nothing is sent: it ends when the sender is dropped.
            let _ = filling.recv();
        }
        let opened = opened.lock().take();
        let Some(opened) = opened else {
            let mut own = place.open(&ensemble);
            let Some(handle) = lender.get() else { return own };
            let mut is_standby = false;
            if let Err(StoreError::InUse(at)) = &mut own
                && place.is_shared()
            {
                if handle.store().is_none()
                    && let Some(store) = place.open_to_read(&ensemble)?
                {
                    handle.lend(&store);
                }
                let mut newest = newest.lock();
                let why = handle.store().and_then(|store| silence(&*store, &mut newest, clock::instant()));
                is_standby = why.is_none();
                at.extend(why.map(|why| format!(": {why}")));
            }
            handle.stands_by(is_standby);
            return own;
        };
        Ok(opened)
    })
}

/// What a recording ends with, and since when nothing was added to it.
type Newest = Option<((u64, Option<TimeMs>), Instant)>;

/// Why whoever has the lock of a recording is not believed to record; None while something was added lately.
fn silence(store: &dyn Store, newest: &mut Newest, now: Instant) -> Option<String> {
    let coverage = store.coverage().ok()?;
    let seen = (coverage.last_seq, coverage.to);
    let (_, since) = newest.take_if(|(last, _)| *last == seen).unwrap_or((seen, now));
    *newest = Some((seen, since));
    if now.duration_since(since) < SILENCE_MAX {
        return None;
    }
    let who = store.held_by().unwrap_or_else(|| "somebody".to_owned());
    let silent_ms = i64::try_from(now.duration_since(since).as_millis()).unwrap_or(i64::MAX);
    Some(format!("{who} holds the lock of this recording, and nothing was recorded for {}", duration(silent_ms)))
}

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
        // Every root is read anew then; the first speaks for all.
        if let Some(Observation::SyncBegan { root: RootId(0), why }) = cause
            && is_other_history(why)
        {
            self.recorder.lose(GapReason::Restored);
        }
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

#[cfg(test)]
mod tests {
    use lockscope_history::codec::{Chunk, ChunkKind};
    use lockscope_history::store::sqlite::SqliteStore;

    use super::*;

    #[test]
    fn a_standby_is_well_while_chunks_come() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path(), "prod").unwrap();
        let chunk = |seq: u64, last_at: i64| Chunk {
            seq,
            first_at: TimeMs(1_795_600_000_000),
            last_at: TimeMs(last_at),
            zxid: Zxid(1),
            kind: ChunkKind::Checkpoint { part: 0 },
            crc: 0,
            body: [].into(),
        };
        let (began, mut newest) = (clock::instant(), None);
        let mut look = |seconds: u64| silence(&store, &mut newest, began + Duration::from_secs(seconds));
        assert_eq!((look(0), look(29)), (None, None));
        assert!(look(30).unwrap().ends_with(" holds the lock of this recording, and nothing was recorded for 30.0 s"));
        store.append(&[chunk(1, 1_795_600_001_000)], &[]).unwrap();
        assert_eq!((look(31), look(60)), (None, None));
        // The same chunk, which has grown.
        store.append(&[chunk(1, 1_795_600_002_000)], &[]).unwrap();
        assert_eq!((look(61), look(90)), (None, None));
        assert!(look(91).unwrap().ends_with(" nothing was recorded for 30.0 s"));
    }
}
