//! The tree as the observations tell it: a naive reading of the contract, to be compared with the truth.

use std::collections::BTreeMap;

use lockscope_core::observation::{Link, Observation, RootId, RootTrouble};
use lockscope_core::znode::Facts;

/// A znode as believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) facts: Option<Facts>,
    pub(crate) unreadable: bool,
}

/// State of a root as believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RootState {
    Unknown,
    Syncing,
    Live,
    Trouble(RootTrouble),
}

/// Everything the observations told so far.
#[derive(Debug)]
pub(crate) struct Believed {
    pub(crate) link: Option<Link>,
    pub(crate) links: Vec<(Link, String)>,
    pub(crate) session: Option<i64>,
    pub(crate) tree: BTreeMap<String, Node>,
    pub(crate) roots: BTreeMap<RootId, RootState>,
    side: BTreeMap<RootId, BTreeMap<String, Node>>,
    root_paths: Vec<String>,
    pub(crate) syncs: Vec<String>,
    pub(crate) creates_seen: u64,
    pub(crate) deletes_seen: u64,
    pub(crate) missed: u64,
    /// Children ever created, by directory, as the sweep last told.
    pub(crate) counted: BTreeMap<String, u32>,
    pub(crate) sync_nodes: u64,
    /// Proofs that came.
    pub(crate) synced: u64,
    /// Times that the leader's clock was read.
    pub(crate) clock_reads: u64,
    /// What the last trouble of a root was said to be.
    pub(crate) why: String,
    /// Directories of which something may be missing.
    pub(crate) incomplete: std::collections::BTreeSet<String>,
}

impl Believed {
    pub(crate) fn new(root_paths: &[String]) -> Self {
        Self {
            link: None,
            links: Vec::new(),
            session: None,
            tree: BTreeMap::new(),
            roots: (0..root_paths.len()).map(|id| (RootId(u32::try_from(id).unwrap()), RootState::Unknown)).collect(),
            side: BTreeMap::new(),
            root_paths: root_paths.to_vec(),
            syncs: Vec::new(),
            creates_seen: 0,
            deletes_seen: 0,
            missed: 0,
            counted: BTreeMap::new(),
            sync_nodes: 0,
            synced: 0,
            clock_reads: 0,
            why: String::new(),
            incomplete: std::collections::BTreeSet::new(),
        }
    }

    /// The root with this index is live on a live link.
    pub(crate) fn is_live(&self, root: u32) -> bool {
        self.link == Some(Link::Live) && self.roots.get(&RootId(root)) == Some(&RootState::Live)
    }

    pub(crate) fn root(&self, root: u32) -> &RootState {
        &self.roots[&RootId(root)]
    }

    /// Nodes of which nothing but the creation is known.
    pub(crate) fn unread(&self) -> usize {
        self.tree.values().filter(|node| node.facts.is_none() && !node.unreadable).count()
    }

    fn current(&mut self, root: RootId) -> &mut BTreeMap<String, Node> {
        self.side.get_mut(&root).unwrap_or(&mut self.tree)
    }

    fn forget(&mut self, root: RootId) {
        let path = self.root_paths[root.0 as usize].clone();
        self.tree.retain(|known, _| !lockscope_core::znode::is_under(known, &path));
    }

    pub(crate) fn apply(&mut self, observation: Observation) {
        match observation {
            Observation::Link { link, session, why } => {
                self.link = Some(link);
                self.session = session.map(|session| session.0);
                self.links.push((link, why.into()));
            }
            Observation::SyncBegan { root, why } => {
                self.roots.insert(root, RootState::Syncing);
                self.side.insert(root, BTreeMap::new());
                self.syncs.push(why.into());
            }
            Observation::SyncNode { root, path, facts, unreadable } => {
                self.sync_nodes += 1;
                let root_path = self.root_paths[root.0 as usize].clone();
                let side = self.side.get_mut(&root).expect("SyncNode outside a sync");
                if *path != *root_path {
                    let (parent, _) = lockscope_core::znode::split_path(&path).expect("a path below the root");
                    assert!(side.contains_key(parent), "{path} came before its parent");
                }
                side.insert(path.into(), Node { facts: Some(*facts), unreadable });
            }
            Observation::SyncEnded { root } => {
                self.forget(root);
                let side = self.side.remove(&root).expect("SyncEnded without SyncBegan");
                self.tree.extend(side);
                self.roots.insert(root, RootState::Live);
            }
            Observation::ComparisonBegan { root, why } => {
                self.roots.insert(root, RootState::Syncing);
                self.side.remove(&root);
                self.syncs.push(why.into());
            }
            Observation::Listed { path, names, .. } => {
                let begin = lockscope_core::znode::join_path(&path, "");
                let is_there = |known: &String| {
                    let rest = known.strip_prefix(&begin).and_then(|rest| rest.split('/').next());
                    rest.is_none_or(|name| names.iter().any(|listed| **listed == *name))
                };
                self.tree.retain(|known, _| is_there(known));
            }
            Observation::ComparisonEnded { root } => _ = self.roots.insert(root, RootState::Live),
            Observation::RootTrouble { root, trouble, why } => {
                self.why = why.into();
                self.side.remove(&root);
                if !matches!(trouble, RootTrouble::Reduced | RootTrouble::Partial) {
                    self.forget(root);
                }
                self.roots.insert(root, RootState::Trouble(trouble));
            }
            Observation::NodeCreated { root, path } => {
                self.creates_seen += 1;
                let before = self.current(root).insert(path.to_string(), Node::default());
                assert!(before.is_none_or(|node| node.facts.is_none()), "{path} was created though it was there");
            }
            Observation::NodeRead { root, path, facts, unreadable } => {
                self.current(root).insert(path.into(), Node { facts: Some(*facts), unreadable });
            }
            Observation::NodeDenied { root, path, in_sync } => {
                self.sync_nodes += u64::from(in_sync);
                self.current(root).insert(path.into(), Node { facts: None, unreadable: true });
            }
            Observation::NodeDeleted { root, path } => {
                self.deletes_seen += 1;
                self.current(root).remove(&*path);
            }
            Observation::Missed { creates, .. } => self.missed += u64::from(creates),
            Observation::Counted { path, facts, .. } => _ = self.counted.insert(path.into(), facts.creates_ever()),
            Observation::Synced { .. } => self.synced += 1,
            Observation::ClockRead { .. } => self.clock_reads += 1,
            Observation::Incomplete { path, missing, .. } if missing.is_empty() => _ = self.incomplete.remove(&*path),
            Observation::Incomplete { path, .. } => _ = self.incomplete.insert(path.into()),
            Observation::EventsArrived { .. }
            | Observation::Asked
            | Observation::Answered
            | Observation::Evidence(_)
            | Observation::ConfigChanged(_)
            | Observation::OrdersSnoozed(_)
            | Observation::Tick
            | Observation::Recalled(_)
            | Observation::Restarted(_)
            | Observation::SessionTold { .. }
            | Observation::SessionTimeout { .. } => {}
        }
    }
}
