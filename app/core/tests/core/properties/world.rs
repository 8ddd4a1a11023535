//! The truth about one tree, kept as simply as possible, and an observatory that is told of it.

use std::collections::BTreeMap;

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::sequence;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid, split_path};

#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its owner; 0 for a persistent one.
    pub(super) owner: i64,
    pub(super) czxid: i64,
    pub(super) ctime: i64,
    pub(super) data: String,
    /// The observatory was told of its facts.
    pub(super) read: bool,
}

pub(super) struct World {
    pub(super) truth: BTreeMap<String, Node>,
    pub(super) observatory: Observatory,
    pub(super) now: i64,
    counters: BTreeMap<String, i64>,
    zxid: i64,
}

impl World {
    pub(super) fn new() -> Self {
        let mut world = Self {
            truth: BTreeMap::new(),
            observatory: observatory(),
            now: 1_000,
            counters: BTreeMap::new(),
            zxid: 10,
        };
        world.resync(false);
        world
    }

    pub(super) fn apply(&mut self, observation: Observation) {
        self.observatory.apply(TimeMs(self.now), observation);
    }

    /// Makes a numbered znode; its path. Its facts are not told yet.
    pub(super) fn create(&mut self, directory: &str, prefix: &str, owner: i64) -> String {
        let counter = self.counters.entry(directory.to_owned()).or_default();
        let path = format!("{directory}/{prefix}{counter:010}");
        *counter += 1;
        self.create_named(&path, owner, "");
        path
    }

    /// Makes a znode of a name, unless there is one.
    pub(super) fn create_named(&mut self, path: &str, owner: i64, data: &str) {
        if self.truth.contains_key(path) {
            return;
        }
        self.now += 7;
        self.zxid += 1;
        let node = Node { owner, czxid: self.zxid, ctime: self.now, data: data.to_owned(), read: false };
        self.truth.insert(path.to_owned(), node);
        self.apply(Observation::NodeCreated { root: RootId(0), path: path.into() });
    }

    pub(super) fn read(&mut self, path: &str) {
        self.now += 7;
        let node = self.truth.get_mut(path).unwrap();
        node.read = true;
        let facts = Box::new(facts(node));
        self.apply(Observation::NodeRead { root: RootId(0), path: path.into(), facts, unreadable: false });
    }

    pub(super) fn delete(&mut self, path: &str) {
        self.now += 7;
        self.truth.remove(path);
        self.apply(Observation::NodeDeleted { root: RootId(0), path: path.into() });
    }

    /// It goes and nobody is told.
    pub(super) fn forget(&mut self, path: &str) {
        self.truth.remove(path);
    }

    pub(super) fn tick(&mut self, ms: i64) {
        self.now += ms;
        self.apply(Observation::Tick);
    }

    pub(super) fn resync(&mut self, is_reversed: bool) {
        self.now += 7;
        sync(&mut self.observatory, self.now, &self.truth, is_reversed);
        self.truth.values_mut().for_each(|node| node.read = true);
    }

    /// Some ephemeral or numbered znode.
    pub(super) fn pick(&self, at: usize) -> Option<String> {
        let candidates = || self.truth.iter().filter(|(path, node)| node.owner != 0 || sequence::parse(path).is_some());
        let count = candidates().count();
        (count > 0).then(|| candidates().nth(at % count).map(|(path, _)| path.clone())).flatten()
    }

    /// The children of a directory in the order of their numbers.
    pub(super) fn inside(&self, directory: &str) -> impl Iterator<Item = (&String, &Node)> {
        let mut inside: Vec<_> =
            self.truth.iter().filter(|(path, _)| split_path(path).unwrap().0 == directory).collect();
        inside.sort_by_key(|(path, _)| sequence::parse(path).map(|found| found.number));
        inside.into_iter()
    }
}

pub(super) fn observatory() -> Observatory {
    let mut observatory = Observatory::new(Settings { roots: vec!["/r".into()], ..Settings::default() }, TimeMs(0));
    observatory.apply(TimeMs(0), Observation::Link { link: Link::Live, session: None, why: "".into() });
    observatory
}

/// Tells of the whole tree at once: parents before children, else in any order.
pub(super) fn sync(observatory: &mut Observatory, now: i64, truth: &BTreeMap<String, Node>, is_reversed: bool) {
    let now = TimeMs(now);
    observatory.apply(now, Observation::SyncBegan { root: RootId(0), why: "test".into() });
    let mut nodes: Vec<_> = truth.iter().collect();
    if is_reversed {
        nodes.reverse();
    }
    nodes.sort_by_key(|(path, _)| path.matches('/').count());
    for (path, node) in nodes {
        let facts = Box::new(facts(node));
        observatory.apply(
            now,
            Observation::SyncNode { root: RootId(0), path: path.as_str().into(), facts, unreadable: false },
        );
    }
    observatory.apply(now, Observation::SyncEnded { root: RootId(0) });
}

fn facts(node: &Node) -> Facts {
    let czxid = Zxid(node.czxid);
    Facts {
        czxid,
        mzxid: czxid,
        pzxid: czxid,
        ctime_ms: node.ctime,
        version: 0,
        cversion: 0,
        children: 0,
        owner: (node.owner != 0).then_some(SessionId(node.owner)),
        payload: Some(node.data.as_bytes().into()),
        payload_bytes: u32::try_from(node.data.len()).unwrap(),
    }
}
