//! The tree as the observations report it.

use std::collections::BTreeMap;

use lockscope_core::missing::MissingSet;
use lockscope_core::observation::{Observation, RootTrouble};
use lockscope_core::znode::{Facts, join_path, split_path};

use super::ROOT;

/// What the observations say.
#[derive(Default)]
pub(super) struct Believed {
    pub(super) tree: BTreeMap<String, Option<Facts>>,
    pub(super) side: Option<BTreeMap<String, Option<Facts>>>,
    pub(super) missed: u32,
    pub(super) creates: u32,
    pub(super) syncs: u32,
    /// Why the last one began.
    pub(super) why: String,
    pub(super) comparisons: u32,
    pub(super) incomplete: BTreeMap<String, MissingSet>,
    pub(super) side_incomplete: BTreeMap<String, MissingSet>,
}

impl Believed {
    pub(super) fn apply(&mut self, observation: Observation) {
        let tree = self.side.as_mut().unwrap_or(&mut self.tree);
        match observation {
            Observation::SyncBegan { why, .. } => {
                self.why = why.into();
                self.syncs += 1;
                self.side = Some(BTreeMap::new());
                self.side_incomplete.clear();
            }
            Observation::SyncNode { path, facts, .. } => {
                let (parent, _) = split_path(&path).unwrap();
                assert!(*path == *ROOT || tree.contains_key(parent), "{path} came before its parent");
                tree.insert(path.into(), Some(*facts));
            }
            Observation::SyncEnded { .. } => {
                self.tree = self.side.take().expect("a sync began");
                self.incomplete = std::mem::take(&mut self.side_incomplete);
            }
            Observation::ComparisonBegan { .. } => {
                self.syncs += 1;
                self.comparisons += 1;
                self.side = None;
            }
            Observation::Listed { path, names, .. } => {
                let begin = join_path(&path, "");
                let is_there = |key: &String| {
                    let rest = key.strip_prefix(&begin).and_then(|rest| rest.split('/').next());
                    rest.is_none_or(|name| names.iter().any(|listed| **listed == *name))
                };
                tree.retain(|key, _| is_there(key));
            }
            Observation::RootTrouble { trouble: RootTrouble::Reduced | RootTrouble::Partial, .. } => {}
            Observation::RootTrouble { .. } => {
                let Self { missed, creates, syncs, comparisons, .. } = *self;
                *self = Self { missed, creates, syncs, comparisons, ..Self::default() }
            }
            Observation::Incomplete { path, missing, .. } => {
                for incomplete in [&mut self.incomplete, &mut self.side_incomplete] {
                    if missing.is_empty() {
                        incomplete.remove(&*path);
                    } else {
                        incomplete.insert((&*path).into(), missing);
                    }
                }
            }
            Observation::NodeCreated { path, .. } => {
                self.creates += 1;
                tree.insert(path.into(), None);
            }
            Observation::NodeRead { path, facts, .. } => _ = tree.insert(path.into(), Some(*facts)),
            Observation::NodeDenied { path, .. } => _ = tree.insert(path.into(), None),
            Observation::NodeDeleted { path, .. } => _ = tree.remove(&*path),
            Observation::Missed { creates, .. } => self.missed += creates,
            Observation::Link { .. }
            | Observation::Counted { .. }
            | Observation::ComparisonEnded { .. }
            | Observation::EventsArrived { .. }
            | Observation::Asked
            | Observation::Answered
            | Observation::Synced { .. }
            | Observation::SessionTold { .. }
            | Observation::SessionTimeout { .. }
            | Observation::ClockRead { .. }
            | Observation::Evidence(_)
            | Observation::ConfigChanged(_)
            | Observation::OrdersSnoozed(_)
            | Observation::Tick
            | Observation::Recalled(_)
            | Observation::Restarted(_) => {}
        }
    }
}
