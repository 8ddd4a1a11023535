//! What a moment lacked and did not know of yet. Of a contender that may not be read no event comes: it is noticed a little
//! after it came, and until then a moment does not have it. What was recorded soon after says so, and the moment says that
//! it may miss somebody. Nothing is added to it: it is shown as it was.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use lockscope_core::mirror::Directory;
use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::{Observation, RootId};
use lockscope_core::observatory::Observatory;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Zxid, split_path};

use super::Rewound;
use crate::codec::ChunkKind;
use crate::store::{Store, StoreError};

/// How long after it came a contender that may not be read is noticed: all directories are compared twice a second.
const NOTICED_WITHIN_MS: i64 = 500;
/// How much later what was found is read, and the directory known to be whole again.
const SETTLED_WITHIN_MS: i64 = 2_000;
/// Observations that are read ahead. Overflow policy: what is not settled by then is taken as missing.
const AHEAD_MAX: usize = 100_000;
/// Chunks that are read at a time: a chunk ends after a quarter of a second at the latest.
const CHUNKS_AT_A_TIME: usize = 4;

/// What is known of a directory that was looked through a little later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// It is being looked through.
    Open,
    /// All that was found came later.
    Settled,
    /// Somebody was there whom the moment lacks, or it can't be told.
    Lacks,
}

/// What comes after a moment, as far as it says something of the moment.
struct Ahead<'a> {
    model: &'a Observatory,
    at: TimeMs,
    doubts: BTreeMap<(RootId, Box<str>), Doubt>,
    /// How many of them are being looked through.
    open: usize,
    reported: HashSet<Box<str>>,
    /// Whether directories have a child that was not read, of those of which that was asked.
    unread: HashMap<Box<str>, bool>,
    left: usize,
}

impl Rewound {
    /// The model as it was, where a directory that lacked somebody says that it may: what was noticed within
    /// half a second and was there already. `at` is the moment.
    ///
    /// # Errors
    /// The store can't be read. What is damaged behind the moment says nothing of it.
    pub fn in_hindsight(&self, store: &dyn Store, at: TimeMs) -> Result<Observatory, StoreError> {
        let doubts = self.look_ahead(store, at)?;
        let mut model = self.observatory.clone();
        for (root, path) in doubts {
            let missing = MissingSet::from(Missing::Unswept);
            model.apply(self.known_at, Observation::Incomplete { root, path, missing });
        }
        Ok(model)
    }

    fn look_ahead(&self, store: &dyn Store, at: TimeMs) -> Result<Vec<(RootId, Box<str>)>, StoreError> {
        let model = &self.observatory;
        let mut ahead = Ahead {
            model,
            at,
            doubts: BTreeMap::new(),
            open: 0,
            reported: HashSet::new(),
            unread: HashMap::new(),
            left: AHEAD_MAX,
        };
        let (mut next, mut decoder, mut taken) = (self.seq, self.decoder.clone(), self.taken);
        'chunks: loop {
            let chunks = store.chunks(next, CHUNKS_AT_A_TIME)?;
            for chunk in &chunks {
                if chunk.seq != next {
                    break 'chunks;
                }
                next += 1;
                let skipped = std::mem::take(&mut taken);
                let is_checkpoint = matches!(chunk.kind, ChunkKind::Checkpoint { .. });
                let Ok(records) = decoder.read(chunk) else { break 'chunks };
                for record in records.skip(skipped) {
                    let Ok((now, observation)) = record else { break 'chunks };
                    if !is_checkpoint && ahead.take(now, &observation).is_break() {
                        break 'chunks;
                    }
                }
            }
            if chunks.is_empty() {
                break;
            }
        }
        Ok(ahead.lacking())
    }
}

impl Ahead<'_> {
    fn take(&mut self, now: TimeMs, observation: &Observation) -> ControlFlow<()> {
        let is_soon = now <= self.at + NOTICED_WITHIN_MS;
        let is_late = now > self.at + NOTICED_WITHIN_MS + SETTLED_WITHIN_MS;
        let Some(left) = self.left.checked_sub(1).filter(|_| !is_late && (is_soon || self.open > 0)) else {
            return ControlFlow::Break(());
        };
        self.left = left;
        match observation {
            Observation::Incomplete { root, path, missing } => self.looked_through(*root, path, *missing, is_soon),
            Observation::NodeCreated { path, .. } if self.knows_directory_of(path) => {
                self.reported.insert(path.clone());
            }
            Observation::NodeRead { root, path, facts, .. } | Observation::SyncNode { root, path, facts, .. } => {
                self.found(*root, path, Some(facts.czxid));
            }
            Observation::NodeDenied { root, path, .. } => self.found(*root, path, None),
            Observation::Missed { root, path, .. } => self.lacks(*root, path),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn looked_through(&mut self, root: RootId, path: &str, missing: MissingSet, is_soon: bool) {
        let is_whole = missing.is_empty();
        match self.doubts.entry((root, path.into())) {
            Entry::Occupied(mut doubt) if is_whole && *doubt.get() == Doubt::Open => {
                doubt.insert(Doubt::Settled);
                self.open -= 1;
            }
            Entry::Vacant(place) if !is_whole && is_soon && claims_whole(self.model, root, path) => {
                place.insert(Doubt::Open);
                self.open += 1;
            }
            Entry::Occupied(_) | Entry::Vacant(_) => {}
        }
    }

    /// A znode was read or listed, and came with this transaction if that is known.
    fn found(&mut self, root: RootId, path: &str, czxid: Option<Zxid>) {
        let is_known = self.model.roots().get(root.0 as usize).is_none_or(|root| root.mirror.node(path).is_some());
        if is_known || self.reported.contains(path) {
            return;
        }
        let Some((directory, _)) = split_path(path) else { return };
        if czxid.is_none_or(|czxid| czxid <= self.model.zxid()) || self.has_unread(root, directory) {
            self.lacks(root, directory);
        }
    }

    /// The moment has a child in a directory of which it did not know yet when that came.
    fn has_unread(&mut self, root: RootId, directory: &str) -> bool {
        if let Some(known) = self.unread.get(directory) {
            return *known;
        }
        let root = self.model.roots().get(root.0 as usize);
        let mut children =
            root.and_then(|root| root.mirror.directory(directory)).into_iter().flat_map(Directory::children);
        let has_unread = children.any(|(_, child)| child.read.is_none());
        self.unread.insert(directory.into(), has_unread);
        has_unread
    }

    fn lacks(&mut self, root: RootId, directory: &str) {
        if claims_whole(self.model, root, directory) {
            let before = self.doubts.insert((root, directory.into()), Doubt::Lacks);
            self.open -= usize::from(before == Some(Doubt::Open));
        }
    }

    fn knows_directory_of(&self, path: &str) -> bool {
        let knows = |directory: &str| self.model.roots().iter().any(|root| root.mirror.directory(directory).is_some());
        split_path(path).is_some_and(|(directory, _)| knows(directory))
    }

    fn lacking(self) -> Vec<(RootId, Box<str>)> {
        self.doubts.into_iter().filter(|(_, doubt)| *doubt != Doubt::Settled).map(|(place, _)| place).collect()
    }
}

fn claims_whole(model: &Observatory, root: RootId, directory: &str) -> bool {
    let root = model.roots().get(root.0 as usize);
    root.and_then(|root| root.mirror.directory(directory)).is_some_and(|directory| directory.missing().is_empty())
}
