//! Transactions as observations: what somebody would have seen who watched. Pure.
//!
//! What a log does not say is not said: who is connected, from where, and who watches what.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use lockscope_core::observation::{Link, Observation, RootId, RootTrouble};
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, is_under, split_path};
use lockscope_txn_log::{Change, Create, Lifetime, Multi, Session, Transaction};

use crate::timeouts::Timeouts;
use crate::tree::Tree;

/// Whoever watches takes znodes of a session that go within this time, and are its last, for its end.
const TOGETHER_MS: i64 = 50;
/// Sessions of which the last deletion is remembered. Overflow policy: all but those of a moment ago are forgotten.
const DELETERS_MAX: usize = 4_096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    pub made: u64,
    pub ended: u64,
}

/// Follows the tree, and says what changes in it.
#[derive(Clone, Debug)]
pub struct Translator {
    roots: Vec<String>,
    tree: Tree,
    /// Directories whose counters are others than was said.
    counted: HashSet<Arc<str>, RandomState>,
    /// When a session let a znode go last, by itself.
    let_go: HashMap<i64, i64, RandomState>,
    timeouts: Timeouts,
    sessions: SessionCounts,
    unknown: u64,
}

impl Translator {
    /// Of these roots, which do not nest, from a tree of them on, and the sessions that were open then.
    pub fn new(roots: &[String], tree: Tree, open: &[Session]) -> Self {
        Self {
            roots: roots.to_vec(),
            tree,
            counted: HashSet::default(),
            let_go: HashMap::default(),
            timeouts: Timeouts::new(open),
            sessions: SessionCounts::default(),
            unknown: 0,
        }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn replace_tree(&mut self, tree: Tree, open: &[Session]) {
        self.tree = tree;
        self.timeouts.replace(open);
        self.counted.clear();
    }

    pub fn sessions(&self) -> SessionCounts {
        self.sessions
    }

    /// Transactions of a kind that is not known.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Everything there is, as reading all of it would show it, and that it is so at an instant.
    pub fn sync(&mut self, now: TimeMs, why: &str, out: &mut dyn FnMut(Observation)) {
        self.counted.clear();
        self.timeouts.tell_all(self.tree.owners(), out);
        for (root, path) in (0..).map(RootId).zip(&self.roots) {
            out(Observation::SyncBegan { root, why: why.into() });
            if !self.tree.has(path) {
                out(gone(root));
                continue;
            }
            for path in self.tree.paths(path) {
                out(self.node(root, path));
            }
            out(Observation::SyncEnded { root });
        }
        out(Observation::Link { link: Link::Live, session: None, why: "".into() });
        // The instants here are those of the ensemble's clock.
        out(Observation::ClockRead { sent_at: now, told_at: now, ctime_ms: now.0 });
        out(Observation::Synced { sent_at: now });
    }

    fn node(&self, root: RootId, path: &str) -> Observation {
        let facts = self.tree.facts(path).map(Box::new);
        match facts {
            Some(facts) => Observation::SyncNode { root, path: path.into(), facts, unreadable: false },
            None => Observation::Tick,
        }
    }

    pub fn take(&mut self, transaction: &Transaction, out: &mut dyn FnMut(Observation)) {
        match &transaction.change {
            Change::Multi(Multi::Done(parts)) => parts.iter().for_each(|part| self.change(transaction, part, out)),
            change => self.change(transaction, change, out),
        }
    }

    /// The counters of directories in which something came or went since the last call.
    pub fn count(&mut self, out: &mut dyn FnMut(Observation)) {
        let mut counted: Vec<Arc<str>> = self.counted.drain().collect();
        counted.sort_unstable();
        for path in counted {
            let Some(root) = self.root_of(&path) else { continue };
            let Some(mut facts) = self.tree.facts(&path) else { continue };
            facts.payload = None;
            out(Observation::Counted { root, path: path.as_ref().into(), facts: Box::new(facts) });
        }
    }

    fn change(&mut self, by: &Transaction, change: &Change, out: &mut dyn FnMut(Observation)) {
        match change {
            Change::Create(create) => self.create(by, create, out),
            Change::Delete { path, by_server: _ } => {
                if let Some(Some(session)) = self.delete(by.zxid, path, out) {
                    self.let_go(session, by.time_ms, out);
                }
            }
            Change::SetData { path, data, version } => {
                if self.tree.set_data(by.zxid, path, data.as_deref(), *version) {
                    self.read(path, out);
                }
            }
            Change::CreateSession { timeout_ms } => {
                self.sessions.made += 1;
                self.timeouts.opened(by.session, *timeout_ms);
            }
            Change::CloseSession { paths } => self.close(by, paths.as_deref().unwrap_or_default(), out),
            Change::Unknown { kind: _ } => self.unknown += 1,
            Change::SetAcl { .. }
            | Change::Check { .. }
            | Change::Error { .. }
            | Change::Reconfig { .. }
            | Change::Multi(_) => {}
        }
    }

    fn create(&mut self, by: &Transaction, create: &Create, out: &mut dyn FnMut(Observation)) {
        let Some(path) = self.tree.create(by, create) else { return };
        self.note_parent(&path);
        let Some(root) = self.root_of(&path) else { return };
        if create.lifetime == Lifetime::Ephemeral {
            self.timeouts.tell(by.session, out);
        }
        if self.roots.get(root.0 as usize).is_some_and(|own| **own == *path) {
            out(Observation::SyncBegan { root, why: "it was made".into() });
            out(self.node(root, &path));
            out(Observation::SyncEnded { root });
            out(Observation::Synced { sent_at: TimeMs(by.time_ms) });
            return;
        }
        // A watcher hears by an event that it is there, and reads it; a log says both at once.
        self.read(&path, out);
    }

    fn read(&self, path: &str, out: &mut dyn FnMut(Observation)) {
        let Some((root, facts)) = self.root_of(path).zip(self.tree.facts(path)) else { return };
        out(Observation::NodeRead { root, path: path.into(), facts: Box::new(facts), unreadable: false });
    }

    /// A znode went. Who owned it; None where it was not there.
    fn delete(&mut self, zxid: i64, path: &str, out: &mut dyn FnMut(Observation)) -> Option<Option<i64>> {
        let owner = self.tree.delete(zxid, path)?;
        self.counted.remove(path);
        self.note_parent(path);
        let root = self.root_of(path)?;
        let is_root = self.roots.get(root.0 as usize).is_some_and(|own| own == path);
        out(if is_root { gone(root) } else { Observation::NodeDeleted { root, path: path.into() } });
        Some(owner)
    }

    /// A session let a znode go by itself: where that looks like its end, it is said that it goes on.
    fn let_go(&mut self, session: i64, at_ms: i64, out: &mut dyn FnMut(Observation)) {
        if self.let_go.len() >= DELETERS_MAX {
            self.let_go.retain(|_, last_ms| at_ms.saturating_sub(*last_ms) <= TOGETHER_MS);
        }
        let before_ms = self.let_go.insert(session, at_ms);
        let is_short = before_ms.is_some_and(|before_ms| at_ms.saturating_sub(before_ms) <= TOGETHER_MS);
        if is_short && self.tree.owned(session) == 0 {
            out(Observation::SessionTold { session: SessionId(session), has_ended: false });
        }
    }

    /// A session ended: what it owns goes, and what the transaction says.
    fn close(&mut self, by: &Transaction, paths: &[String], out: &mut dyn FnMut(Observation)) {
        self.sessions.ended += 1;
        self.let_go.remove(&by.session);
        let mut all: BTreeSet<Arc<str>> = self.tree.owned_by(by.session).cloned().collect();
        all.extend(paths.iter().filter(|path| self.tree.has(path)).map(|path| Arc::from(path.as_str())));
        let mut count = 0_u32;
        for path in all {
            count += u32::from(self.delete(by.zxid, &path, out).is_some());
        }
        let (session, was_told) = (SessionId(by.session), self.timeouts.closed(by.session));
        if count > 0 {
            out(Observation::SessionTold { session, has_ended: true });
        } else if was_told {
            out(Observation::SessionTimeout { session, timeout_ms: None });
        }
    }

    fn note_parent(&mut self, path: &str) {
        if let Some((parent, _)) = split_path(path)
            && !self.counted.contains(parent)
            && self.tree.has(parent)
        {
            self.counted.insert(parent.into());
        }
    }

    fn root_of(&self, path: &str) -> Option<RootId> {
        (0..).map(RootId).zip(&self.roots).find(|(_, root)| is_under(path, root)).map(|(root, _)| root)
    }
}

fn gone(root: RootId) -> Observation {
    Observation::RootTrouble { root, trouble: RootTrouble::Gone, why: "it does not exist".into() }
}
