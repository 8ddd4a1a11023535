//! A ZooKeeper in memory, as far as locks need one: znodes with their counters, sessions that end with their client,
//! watches. What changes is observed while somebody observes. Pure: the instant is set by whoever plays.

use std::collections::{BTreeMap, BTreeSet};

use lockscope_core::observation::{Link, Observation, RootId};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{Facts, SessionId, Zxid, join_path, split_path};

use super::Step;

/// The one root that is watched: everything.
pub(super) const ROOT: RootId = RootId(0);
/// Between the stamp of a transaction and the arrival of its event.
const WAY_MS: i64 = 2;
/// Transactions of the hour are those of a leader's first epoch, so that none of a new server has the same number.
const EPOCH: i64 = 1 << 32;
/// Where session ids begin: the server's number in the highest byte, then the time of its start.
const SESSION_SERVER: i64 = 1 << 56;
const SESSION_TIME_MASK: i64 = 0xff_ffff_ffff;

/// A znode.
#[derive(Clone, Debug)]
pub(super) struct Znode {
    czxid: Zxid,
    pzxid: Zxid,
    ctime_ms: i64,
    pub(super) owner: Option<SessionId>,
    payload: Box<[u8]>,
    /// Children ever made in it.
    creates: u32,
    children: u32,
}

impl Znode {
    fn facts(&self) -> Facts {
        let Self { czxid, pzxid, ctime_ms, owner, payload, creates, children } = self;
        let changes = creates.wrapping_mul(2).wrapping_sub(*children);
        Facts {
            czxid: *czxid,
            mzxid: *czxid,
            pzxid: *pzxid,
            ctime_ms: *ctime_ms,
            version: 0,
            cversion: changes.cast_signed(),
            children: *children,
            owner: *owner,
            payload_bytes: u32::try_from(payload.len()).unwrap_or(u32::MAX),
            payload: Some(payload.clone()),
        }
    }
}

/// A session's client.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) address: Box<str>,
    pub(super) timeout_ms: i64,
    pub(super) since_ms: i64,
    /// When its connection was cut; None while it is there.
    pub(super) cut_ms: Option<i64>,
}

/// Watches by what is watched: who set each, and in which session.
type Watches = BTreeMap<String, BTreeMap<usize, SessionId>>;

/// All of it.
#[derive(Debug)]
pub(super) struct World {
    pub(super) now_ms: i64,
    zxid: i64,
    sessions_made: i64,
    first_session: i64,
    pub(super) znodes: BTreeMap<String, Znode>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) watches: Watches,
    child_watches: Watches,
    /// Deletions that somebody watched, and the watches that fired for them.
    pub(super) fired: (u64, u64),
    /// Whose watches fired.
    pub(super) woken: BTreeSet<usize>,
    /// The session of whoever observes; None while nobody does.
    pub(super) observer: Option<SessionId>,
    pub(super) steps: Vec<Step>,
}

impl World {
    pub(super) fn new(now_ms: i64) -> Self {
        let mut world = Self {
            now_ms,
            zxid: EPOCH,
            sessions_made: 0,
            first_session: SESSION_SERVER | ((now_ms & SESSION_TIME_MASK) << 16),
            znodes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            watches: Watches::new(),
            child_watches: Watches::new(),
            fired: (0, 0),
            woken: BTreeSet::new(),
            observer: None,
            steps: Vec::new(),
        };
        world.put("/", None, b"");
        world
    }

    pub(super) fn zxid(&self) -> Zxid {
        Zxid(self.zxid)
    }

    fn transaction(&mut self) -> Zxid {
        self.zxid += 1;
        Zxid(self.zxid)
    }

    pub(super) fn observed(&mut self, observation: Observation) {
        if self.observer.is_some() {
            self.steps.push(Step::Observed(TimeMs(self.now_ms), observation));
        }
    }

    /// Makes a persistent znode and those above it, where they are missing.
    pub(super) fn make(&mut self, path: &str) {
        if let Some((parent, _)) = split_path(path)
            && !self.exists(path)
        {
            self.make(parent);
            self.create(path, None, b"");
        }
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.znodes.contains_key(path)
    }

    /// Creates a znode; false when it is there already.
    pub(super) fn create(&mut self, path: &str, owner: Option<SessionId>, payload: &[u8]) -> bool {
        if self.exists(path) {
            return false;
        }
        self.put(path, owner, payload);
        self.observed(Observation::NodeCreated { root: ROOT, path: path.into() });
        self.read(path);
        fire(&mut self.watches, path, &mut self.woken);
        true
    }

    /// Creates a znode with the next number of its directory; gives its path.
    pub(super) fn create_next(&mut self, prefix: &str, owner: Option<SessionId>, payload: &[u8]) -> String {
        let directory = split_path(prefix).and_then(|(parent, _)| self.znodes.get(parent));
        let path = format!("{prefix}{:010}", directory.map_or(0, |directory| directory.creates));
        self.create(&path, owner, payload);
        path
    }

    fn put(&mut self, path: &str, owner: Option<SessionId>, payload: &[u8]) {
        let (zxid, ctime_ms) = (self.transaction(), self.now_ms - WAY_MS);
        let znode =
            Znode { czxid: zxid, pzxid: zxid, ctime_ms, owner, payload: payload.into(), creates: 0, children: 0 };
        self.znodes.insert(path.to_owned(), znode);
        let Some((parent, _)) = split_path(path) else { return };
        if let Some(above) = self.znodes.get_mut(parent) {
            (above.creates, above.children, above.pzxid) = (above.creates + 1, above.children + 1, zxid);
        }
        fire(&mut self.child_watches, parent, &mut self.woken);
    }

    fn read(&mut self, path: &str) {
        let Some(facts) = self.znodes.get(path).map(|znode| Box::new(znode.facts())) else { return };
        self.observed(Observation::NodeRead { root: ROOT, path: path.into(), facts, unreadable: false });
    }

    /// Deletes a znode, if it is there.
    pub(super) fn delete(&mut self, path: &str) {
        if self.znodes.remove(path).is_none() {
            return;
        }
        let zxid = self.transaction();
        if let Some((parent, _)) = split_path(path) {
            if let Some(above) = self.znodes.get_mut(parent) {
                (above.children, above.pzxid) = (above.children.saturating_sub(1), zxid);
            }
            fire(&mut self.child_watches, parent, &mut self.woken);
        }
        self.observed(Observation::NodeDeleted { root: ROOT, path: path.into() });
        let fired = fire(&mut self.watches, path, &mut self.woken);
        self.fired = (self.fired.0 + u64::from(fired > 0), self.fired.1 + fired);
    }

    /// The same by somebody who releases through Lockscope.
    pub(super) fn release(&mut self, path: &str) {
        if let Some(znode) = self.znodes.get(path).filter(|_| self.observer.is_some()) {
            self.steps.push(Step::Forced(znode.czxid));
        }
        self.delete(path);
    }

    /// Names of a directory's children, in order.
    pub(super) fn children(&self, directory: &str) -> Vec<String> {
        let inside = join_path(directory, "");
        let below = self.znodes.range(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
        let names = below.filter_map(|(path, _)| path.strip_prefix(&inside));
        names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect()
    }

    /// Wakes somebody when a znode comes or goes.
    pub(super) fn watch(&mut self, path: &str, who: usize, session: SessionId) {
        self.watches.entry(path.to_owned()).or_default().insert(who, session);
    }

    /// Wakes somebody when a directory's list of children changes.
    pub(super) fn watch_children(&mut self, directory: &str, who: usize, session: SessionId) {
        self.child_watches.entry(directory.to_owned()).or_default().insert(who, session);
    }

    /// Opens a session.
    pub(super) fn open(&mut self, address: String, timeout_ms: i64) -> SessionId {
        self.transaction();
        self.sessions_made += 1;
        let id = SessionId(self.first_session + self.sessions_made);
        let session = Session { address: address.into(), timeout_ms, since_ms: self.now_ms, cut_ms: None };
        self.sessions.insert(id, session);
        id
    }

    /// A client's host dies: its connection is gone, its session is not.
    pub(super) fn cut(&mut self, session: SessionId) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.cut_ms = Some(self.now_ms);
        }
    }

    /// A session ends, and all that it owns with it.
    pub(super) fn end(&mut self, session: SessionId) {
        self.sessions.remove(&session);
        for watches in [&mut self.watches, &mut self.child_watches] {
            watches.values_mut().for_each(|by| by.retain(|_, of| *of != session));
            watches.retain(|_, by| !by.is_empty());
        }
        let owned = self.znodes.iter().filter(|(_, znode)| znode.owner == Some(session));
        let owned: Vec<String> = owned.map(|(path, _)| path.clone()).collect();
        owned.iter().for_each(|path| self.delete(path));
    }

    /// Somebody begins to observe: everything is read.
    pub(super) fn observe(&mut self, session: SessionId, why: &str) {
        self.observer = Some(session);
        self.observed(Observation::SyncBegan { root: ROOT, why: why.into() });
        self.observed(Observation::Link { link: Link::Live, session: Some(session), why: "".into() });
        let all: Vec<(String, Facts)> = self.znodes.iter().map(|(path, znode)| (path.clone(), znode.facts())).collect();
        for (path, facts) in all {
            let (path, facts) = (path.into(), Box::new(facts));
            self.observed(Observation::SyncNode { root: ROOT, path, facts, unreadable: false });
        }
        self.observed(Observation::SyncEnded { root: ROOT });
        self.confirm();
    }

    /// Everything that happened so far was observed.
    pub(super) fn confirm(&mut self) {
        self.observed(Observation::Synced { sent_at: TimeMs(self.now_ms - WAY_MS) });
    }

    /// The counters of all directories are compared.
    pub(super) fn sweep(&mut self) {
        let directories = self.znodes.iter().filter(|(_, znode)| znode.creates > 0);
        let counted: Vec<(String, Facts)> =
            directories.map(|(path, znode)| (path.clone(), Facts { payload: None, ..znode.facts() })).collect();
        for (path, facts) in counted {
            self.observed(Observation::Counted { root: ROOT, path: path.into(), facts: Box::new(facts) });
        }
    }
}

/// Takes the watches of a path away and notes who had them.
fn fire(watches: &mut Watches, path: &str, woken: &mut BTreeSet<usize>) -> u64 {
    let fired = watches.remove(path).unwrap_or_default();
    let count = fired.len() as u64;
    woken.extend(fired.into_keys());
    count
}
