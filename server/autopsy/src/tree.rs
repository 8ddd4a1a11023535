//! The tree as transactions leave it: znodes of some roots with all that a client would read of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use lockscope_core::znode::{Facts, PAYLOAD_BYTES_MAX, SessionId, Zxid, is_under, split_path};
use lockscope_txn_log::{Create, Lifetime, Node, Transaction};

/// ZooKeeper's own znodes: no lock is among them.
const SYSTEM: &str = "/zookeeper";
/// Znodes that are kept. Overflow policy: further ones are left out, and [`Tree::left_out`] counts them.
pub const NODES_MAX: usize = 3_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    czxid: i64,
    mzxid: i64,
    pzxid: i64,
    ctime_ms: i64,
    version: i32,
    /// Creations of children, as ZooKeeper keeps them.
    creations: i32,
    children: u32,
    owner: Option<i64>,
    payload: Box<[u8]>,
    payload_bytes: u32,
}

impl Entry {
    fn facts(&self) -> Facts {
        Facts {
            czxid: Zxid(self.czxid),
            mzxid: Zxid(self.mzxid),
            pzxid: Zxid(self.pzxid),
            ctime_ms: self.ctime_ms,
            version: self.version,
            // What a client gets: `DataNode.copyStat`.
            cversion: self.creations.wrapping_mul(2).wrapping_sub(self.children.cast_signed()),
            children: self.children,
            owner: self.owner.map(SessionId),
            payload: Some(self.payload.clone()),
            payload_bytes: self.payload_bytes,
        }
    }

    fn take_data(&mut self, data: Option<&[u8]>) {
        let data = data.unwrap_or_default();
        self.payload = data.get(..PAYLOAD_BYTES_MAX).unwrap_or(data).into();
        self.payload_bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
    }
}

/// What is compared between members: which znode it is, whose, and how often its data changed.
pub type Identity = (i64, Option<i64>, i32);

/// The znodes at and below some roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    roots: Vec<Box<str>>,
    nodes: HashMap<Arc<str>, Entry, RandomState>,
    owned: HashMap<i64, BTreeSet<Arc<str>>, RandomState>,
    left_out: u64,
}

impl Tree {
    /// As an ensemble begins: nothing but the root, with ZooKeeper's own znode below it.
    pub fn new(roots: &[String]) -> Self {
        let mut tree = Self { roots: roots.iter().map(|root| root.as_str().into()).collect(), ..Self::default() };
        if tree.keeps("/") {
            let entry = Entry {
                czxid: 0,
                mzxid: 0,
                pzxid: 0,
                ctime_ms: 0,
                version: 0,
                creations: 0,
                children: 1,
                owner: None,
                payload: Box::default(),
                payload_bytes: 0,
            };
            tree.nodes.insert("/".into(), entry);
        }
        tree
    }

    pub fn keeps(&self, path: &str) -> bool {
        !is_under(path, SYSTEM) && self.roots.iter().any(|root| is_under(path, root))
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Znodes that were left out because there were too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    pub fn has(&self, path: &str) -> bool {
        self.nodes.contains_key(path)
    }

    pub fn owner(&self, path: &str) -> Option<i64> {
        self.nodes.get(path)?.owner
    }

    pub fn owned(&self, session: i64) -> usize {
        self.owned.get(&session).map_or(0, BTreeSet::len)
    }

    /// The sessions that own something, in no order.
    pub fn owners(&self) -> impl Iterator<Item = i64> {
        self.owned.keys().copied()
    }

    /// What a session owns, in order.
    pub fn owned_by(&self, session: i64) -> impl Iterator<Item = &Arc<str>> {
        self.owned.get(&session).into_iter().flatten()
    }

    /// What a client would read of a znode.
    pub fn facts(&self, path: &str) -> Option<Facts> {
        self.nodes.get(path).map(Entry::facts)
    }

    /// All paths at and below one, parents before their children.
    pub fn paths(&self, root: &str) -> Vec<&Arc<str>> {
        let mut paths: Vec<_> = self.nodes.keys().filter(|path| is_under(path, root)).collect();
        paths.sort_unstable();
        paths
    }

    pub fn identities(&self) -> impl Iterator<Item = (&Arc<str>, Identity)> {
        self.nodes.iter().map(|(path, entry)| (path, (entry.czxid, entry.owner, entry.version)))
    }

    /// Takes in a znode of a snapshot, parents before their children.
    pub fn read(&mut self, node: &Node) {
        self.count_child(&node.path);
        if !self.keeps(&node.path) || self.is_full(&node.path) {
            return;
        }
        let stat = &node.stat;
        let mut entry = Entry {
            czxid: stat.czxid,
            mzxid: stat.mzxid,
            pzxid: stat.pzxid,
            ctime_ms: stat.ctime_ms,
            version: stat.version,
            creations: stat.cversion,
            children: 0,
            owner: stat.session(),
            payload: Box::default(),
            payload_bytes: 0,
        };
        entry.take_data(node.data.as_deref());
        self.insert(node.path.as_str().into(), entry);
    }

    /// A znode came to be. None where it is not kept, or there already, as a snapshot that is written meanwhile has it.
    pub fn create(&mut self, by: &Transaction, create: &Create) -> Option<Arc<str>> {
        let is_there = self.nodes.contains_key(create.path.as_str());
        // Looked up once: that is most of what a transaction costs here.
        if let Some((parent, _)) = split_path(&create.path)
            && let Some(parent) = self.nodes.get_mut(parent)
        {
            let creations =
                if create.parent_cversion == -1 { parent.creations.wrapping_add(1) } else { create.parent_cversion };
            // What is replayed over a snapshot may be older than what is in it.
            if creations > parent.creations {
                (parent.creations, parent.pzxid) = (creations, by.zxid.max(parent.pzxid));
            }
            parent.children = parent.children.saturating_add(u32::from(!is_there));
        }
        if is_there {
            return None;
        }
        if !self.keeps(&create.path) || self.is_full(&create.path) {
            return None;
        }
        let mut entry = Entry {
            czxid: by.zxid,
            mzxid: by.zxid,
            pzxid: by.zxid,
            ctime_ms: by.time_ms,
            version: 0,
            creations: 0,
            children: 0,
            owner: (create.lifetime == Lifetime::Ephemeral).then_some(by.session),
            payload: Box::default(),
            payload_bytes: 0,
        };
        entry.take_data(create.data.as_deref());
        let path: Arc<str> = create.path.as_str().into();
        self.insert(Arc::clone(&path), entry);
        Some(path)
    }

    /// A znode went. Who owned it; None where it was not there.
    pub fn delete(&mut self, zxid: i64, path: &str) -> Option<Option<i64>> {
        if !self.keeps(path) {
            // A child that is not kept counts for its parent all the same, but for those below ZooKeeper's own.
            return None;
        }
        let gone = self.nodes.remove(path)?;
        if let Some(session) = gone.owner
            && let Some(owned) = self.owned.get_mut(&session)
        {
            owned.remove(path);
            if owned.is_empty() {
                self.owned.remove(&session);
            }
        }
        if let Some((parent, _)) = split_path(path)
            && let Some(parent) = self.nodes.get_mut(parent)
        {
            parent.children = parent.children.saturating_sub(1);
            parent.pzxid = parent.pzxid.max(zxid);
        }
        Some(gone.owner)
    }

    /// A znode's data changed. False where it is not kept.
    pub fn set_data(&mut self, zxid: i64, path: &str, data: Option<&[u8]>, version: i32) -> bool {
        let Some(entry) = self.nodes.get_mut(path).filter(|entry| entry.mzxid <= zxid) else { return false };
        (entry.mzxid, entry.version) = (zxid, version);
        entry.take_data(data);
        true
    }

    fn count_child(&mut self, path: &str) {
        if let Some((parent, _)) = split_path(path)
            && let Some(parent) = self.nodes.get_mut(parent)
        {
            parent.children = parent.children.saturating_add(1);
        }
    }

    fn is_full(&mut self, path: &str) -> bool {
        let is_full = self.nodes.len() >= NODES_MAX && !self.nodes.contains_key(path);
        self.left_out += u64::from(is_full);
        is_full
    }

    fn insert(&mut self, path: Arc<str>, entry: Entry) {
        if let Some(session) = entry.owner {
            self.owned.entry(session).or_default().insert(Arc::clone(&path));
        }
        self.nodes.insert(path, entry);
    }
}
