//! How the recording is, as plain values: for the status page and metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_runtime::clock;
use parking_lot::Mutex;

use crate::store::{Connections, Coverage, Store};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryState {
    /// It has no store yet.
    #[default]
    Opening,
    /// It waits for a checkpoint: nothing is recorded.
    Waiting,
    Recording,
    /// The store fails. What comes meanwhile is kept in memory, and dropped when that is too much.
    Failing,
    Ended,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryStatus {
    pub state: HistoryState,
    /// The kind of store; None before it is open.
    pub store: Option<&'static str>,
    /// What is kept, as of some seconds ago at most.
    pub coverage: Coverage,
    /// Bytes of chunks a second, over the last while.
    pub bytes_per_s: f64,
    /// Observations written since the start.
    pub written: u64,
    /// Observations dropped since the start.
    pub dropped: u64,
    /// Checkpoints written since the start.
    pub checkpoints_written: u64,
    /// Bytes of the newest checkpoint.
    pub checkpoint_bytes: u64,
    /// How long the last write to the store took, and all of them together, in microseconds.
    pub write_us: (u64, u64),
    /// Writes to the store that were tried.
    pub writes: u64,
    /// What happened to the store's connections; None where it has none.
    pub connections: Option<Connections>,
    /// Another server records the ensemble into the same database, and this one waits for its turn.
    pub is_standby: bool,
    /// Up to this moment what is kept was generated for a demonstration; None where all was observed.
    pub generated_until: Option<TimeMs>,
    /// What is wrong, and since when; None when all is well.
    pub trouble: Option<(Box<str>, TimeMs)>,
}

impl HistoryStatus {
    /// Why nothing is recorded now; empty when all is well.
    pub fn why(&self) -> String {
        match (&self.trouble, self.state) {
            (Some((trouble, _)), _) => trouble.to_string(),
            _ if self.is_standby => "another server records it".to_owned(),
            (None, HistoryState::Opening) => "the history is being opened".to_owned(),
            (None, HistoryState::Waiting) => "recording begins with the next checkpoint".to_owned(),
            (None, HistoryState::Failing) => "the history can't be written".to_owned(),
            (None, HistoryState::Ended) => "recording has ended".to_owned(),
            (None, HistoryState::Recording) => String::new(),
        }
    }
}

/// A store that takes longer to answer is trouble: nobody knows when it will.
pub const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Releases that wait to be noted. Overflow policy: further ones are told as what they look like.
const FORCED_MAX: usize = 1_000;

/// Read access; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct HistoryHandle(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    status: HistoryStatus,
    store: Option<Arc<dyn Store>>,
    /// Since when the historian is at work without a pause.
    busy_since: Option<(Instant, TimeMs)>,
    forced: Vec<Zxid>,
}

impl HistoryHandle {
    pub fn status(&self) -> HistoryStatus {
        let now = clock::instant();
        self.with(|shared| {
            let mut status = shared.status.clone();
            status.connections = shared.store.as_ref().and_then(|store| store.connections());
            if let Some((began, since)) = shared.busy_since
                && now.duration_since(began) >= ANSWER_MAX
                && status.trouble.is_none()
            {
                status.trouble = Some(("the store of the history does not answer".into(), since));
                if status.state == HistoryState::Recording {
                    status.state = HistoryState::Failing;
                }
            }
            status
        })
    }

    /// The store to read; None before it is open.
    pub fn store(&self) -> Option<Arc<dyn Store>> {
        self.with(|shared| shared.store.clone())
    }

    /// Lends a store that another server writes, so that it can be read until ours is open.
    pub fn lend(&self, store: &Arc<dyn Store>) {
        self.with(|shared| {
            shared.store.get_or_insert_with(|| Arc::clone(store));
        });
    }

    /// Another server records into the same place, which is no trouble; or it is not known to do so any more.
    pub fn stands_by(&self, stands_by: bool) {
        let was_standby = self.with(|shared| std::mem::replace(&mut shared.status.is_standby, stands_by));
        if stands_by && !was_standby {
            tracing::info!(
                "another server records this ensemble; this one reads what it keeps, and waits for its turn"
            );
        }
    }

    /// A znode was deleted by Lockscope itself, which is proven: its life ended so.
    pub fn forced(&self, czxid: Zxid) {
        self.with(|shared| {
            if shared.forced.len() < FORCED_MAX {
                shared.forced.push(czxid);
            }
        });
    }

    pub(super) fn take_forced(&self) -> Vec<Zxid> {
        self.with(|shared| std::mem::take(&mut shared.forced))
    }

    pub(super) fn opened(&self, store: &Arc<dyn Store>) {
        self.with(|shared| {
            shared.status.store = Some(store.kind());
            shared.store = Some(Arc::clone(store));
        });
    }

    /// The historian begins to work, and may have to wait for the store.
    pub(super) fn begins(&self, at: TimeMs) {
        let now = clock::instant();
        self.with(|shared| shared.busy_since = Some((now, at)));
    }

    pub(super) fn pauses(&self, state: HistoryState) {
        self.with(|shared| {
            shared.busy_since = None;
            shared.status.state = state;
        });
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut HistoryStatus)) {
        self.with(|shared| change(&mut shared.status));
    }

    fn with<T>(&self, look: impl FnOnce(&mut Shared) -> T) -> T {
        look(&mut self.0.lock())
    }
}
