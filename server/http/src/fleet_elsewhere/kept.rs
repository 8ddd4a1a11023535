//! What other replicas said last of the ensembles that they watch, and whose turn it is to ask. Knows no way to ask.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use feed::VisibilityScope;
use runtime::clock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::TheirTile;

/// Sets of visible paths whose tiles are kept. Overflow policy: those that nobody asked for for longest go; of what is
/// asked for at this moment by more, each is asked for anew.
pub(super) const SCOPES_MAX: usize = 64;
/// Replicas whose tiles are kept for one set of visible paths. Overflow policy: those that were asked least lately go.
pub(super) const REPLICAS_MAX: usize = 256;

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one replica said, by the names of the ensembles.
#[derive(Debug, Default)]
pub(crate) struct SaidByReplica {
    /// None: nothing yet.
    at: Option<Instant>,
    /// It did not answer, or not that.
    has_failed: bool,
    tiles: BTreeMap<String, TheirTile>,
}

impl SaidByReplica {
    pub(super) fn new(tiles: impl Iterator<Item = TheirTile>) -> Self {
        let tiles = tiles.map(|their| (their.tile.name.clone(), their)).collect();
        Self { at: Some(clock::instant()), has_failed: false, tiles }
    }

    /// What is shown of one that does not say it.
    pub(super) fn failed(tiles: impl Iterator<Item = TheirTile>) -> Self {
        Self { has_failed: true, ..Self::new(tiles) }
    }
}

/// What all of them said; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct TheirTiles(Arc<[Arc<SaidByReplica>]>);

impl TheirTiles {
    pub(super) fn new(all: Vec<Arc<SaidByReplica>>) -> Self {
        Self(all.into())
    }

    /// Of an ensemble that moved from one to another: what is known best.
    pub(super) fn get(&self, name: &str) -> Option<&TheirTile> {
        self.0.iter().filter_map(|said| said.tiles.get(name)).max_by_key(|their| their.known)
    }
}

/// One replica, as those see it who may see the same.
#[derive(Debug)]
pub(super) struct OfReplica {
    said: watch::Sender<Arc<SaidByReplica>>,
    turn: Arc<Semaphore>,
    /// When somebody waited for it in vain last; None where it has answered since.
    silent_at: Mutex<Option<Instant>>,
}

impl Default for OfReplica {
    fn default() -> Self {
        Self {
            said: watch::Sender::new(Arc::default()),
            turn: Arc::new(Semaphore::new(1)),
            silent_at: Mutex::default(),
        }
    }
}

impl OfReplica {
    pub(super) fn said(&self) -> watch::Receiver<Arc<SaidByReplica>> {
        self.said.subscribe()
    }

    pub(super) fn has_rested_less_than(&self, rest: Duration) -> bool {
        let at = self.said.borrow().at;
        at.is_some_and(|at| clock::instant().saturating_duration_since(at) < rest)
    }

    /// The turn to ask it; None where somebody asks, or did just now.
    pub(super) fn turn(&self, rest: Duration) -> Option<OwnedSemaphorePermit> {
        let turn = self.turn.clone().try_acquire_owned().ok()?;
        (!self.has_rested_less_than(rest)).then_some(turn)
    }

    pub(super) fn say(&self, said: SaidByReplica) {
        *locked(&self.silent_at) = said.at.filter(|_| said.has_failed);
        self.said.send_replace(Arc::new(said));
    }

    /// Whether somebody waited for it in vain not longer ago.
    pub(super) fn is_silent(&self, ago: Duration) -> bool {
        locked(&self.silent_at).is_some_and(|at| clock::instant().saturating_duration_since(at) < ago)
    }

    pub(super) fn note_silence(&self) {
        *locked(&self.silent_at) = Some(clock::instant());
    }
}

/// What is kept of each key, with when it was asked for last.
type Kept<K, T> = HashMap<K, (Instant, Arc<T>)>;

/// All replicas, as those see them who may see the same.
#[derive(Debug, Default)]
pub(super) struct KeptOfScope(Mutex<Kept<String, OfReplica>>);

impl KeptOfScope {
    pub(super) fn replica(&self, id: &str) -> Arc<OfReplica> {
        of_key(&mut locked(&self.0), id.to_owned(), REPLICAS_MAX)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        locked(&self.0).len()
    }

    /// What came last of each ensemble, of whoever watched it.
    pub(super) fn all(&self) -> TheirTiles {
        TheirTiles::new(locked(&self.0).values().map(|(_, of)| of.said.borrow().clone()).collect())
    }
}

/// The last answers, by what may be seen. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct FleetElsewhere(pub(super) Arc<Mutex<Kept<VisibilityScope, KeptOfScope>>>);

impl FleetElsewhere {
    pub(super) fn of(&self, scope: VisibilityScope) -> Arc<KeptOfScope> {
        of_key(&mut locked(&self.0), scope, SCOPES_MAX)
    }
}

/// What is kept of a key; beyond so many the one that was used least lately goes.
fn of_key<K: Eq + std::hash::Hash + Clone, T: Default>(all: &mut Kept<K, T>, key: K, most: usize) -> Arc<T> {
    let now = clock::instant();
    if all.len() >= most && !all.contains_key(&key) {
        let longest = all.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
        if let Some(longest) = longest {
            all.remove(&longest);
        }
    }
    let (used, kept) = all.entry(key).or_insert_with(|| (now, Arc::default()));
    *used = now;
    kept.clone()
}
