//! What was true and when: every znode there ever was, by its directory.

mod rule;
mod timeline;

use std::collections::{BTreeSet, HashMap};

use lockscope_txn_log::{Change, Create, Lifetime, Multi, Transaction};
pub use rule::Rule;
pub(crate) use timeline::{Cursor, Found, Member, Timeline, Version, digest, mix};

use crate::Deletion;

/// All transactions of a zxid's epoch are numbered one after the other.
const COUNTER_BITS: u32 = 32;

/// The tree through all transactions. Fed by [`Truth::apply`] in the order of the log, then asked.
///
/// The log must be that of a member that was never left behind by the others, and whole from an empty tree on: what is
/// not in it was not true. [`Truth::missing`] lists the holes.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    nodes: HashMap<String, Node>,
    /// Every child there ever was, by the path of its directory, in the order of creation.
    children: HashMap<String, Vec<Child>>,
    /// Ephemeral znodes that are there.
    owned: HashMap<i64, BTreeSet<String>>,
    deletions: Vec<Removed>,
    rules: HashMap<String, Rule>,
    last_zxid: i64,
    missing: u64,
    unknown: u64,
}

/// A znode that is there.
#[derive(Clone, Copy, Debug)]
struct Node {
    czxid: i64,
    creator: i64,
    owner: Option<i64>,
    /// Its place among its directory's children.
    place: usize,
}

/// A znode that is or was there.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    name: String,
    czxid: i64,
    owner: Option<i64>,
    born: Moment,
    died: Option<Moment>,
}

/// A transaction, and when the leader took it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) zxid: i64,
    pub(crate) time_ms: i64,
}

/// A znode that a client deleted.
#[derive(Clone, Debug)]
pub(crate) struct Removed {
    pub(crate) deletion: Deletion,
    /// Who had created it.
    pub(crate) creator: i64,
}

impl Truth {
    /// Of a log that begins with an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of transactions in any order, as several files have them: sorted, each taken once.
    pub fn from_transactions(transactions: impl IntoIterator<Item = Transaction>) -> Self {
        let mut sorted: Vec<Transaction> = transactions.into_iter().collect();
        sorted.sort_by_key(|transaction| transaction.zxid);
        let mut truth = Self::new();
        for transaction in &sorted {
            truth.apply(transaction);
        }
        truth
    }

    /// Takes the next transaction; one that was taken already is left out.
    pub fn apply(&mut self, transaction: &Transaction) {
        let zxid = transaction.zxid;
        if zxid <= self.last_zxid {
            return;
        }
        let is_same_epoch = zxid >> COUNTER_BITS == self.last_zxid >> COUNTER_BITS;
        let expected = if is_same_epoch { self.last_zxid + 1 } else { (zxid >> COUNTER_BITS << COUNTER_BITS) + 1 };
        self.missing += u64::try_from(zxid - expected).unwrap_or_default();
        self.last_zxid = zxid;
        let moment = Moment { zxid, time_ms: transaction.time_ms };
        match &transaction.change {
            Change::Multi(Multi::Done(parts)) => {
                parts.iter().for_each(|part| self.change(moment, transaction.session, part))
            }
            change => self.change(moment, transaction.session, change),
        }
    }

    /// Says how a lock's children are to be read, where their names do not show it.
    pub fn set_rule(&mut self, lock: &str, rule: Rule) {
        self.rules.insert(lock.to_owned(), rule);
    }

    /// The rule that a lock is judged by.
    pub fn rule(&self, lock: &str) -> Rule {
        self.rules.get(lock).copied().unwrap_or_else(|| self.rule_by_names(lock))
    }

    /// The last transaction.
    pub fn last_zxid(&self) -> i64 {
        self.last_zxid
    }

    /// Transactions that should have been in the log by their numbers, and those that it has and this reader does not
    /// know. With any of them, what is judged wrong may be right.
    pub fn missing(&self) -> u64 {
        self.missing + self.unknown
    }

    /// Who holds a lock and who waits behind the last transaction, in order: what a client should be shown once all is
    /// quiet.
    pub fn now(&self, lock: &str) -> crate::Line {
        let timeline = self.timeline(lock);
        let mut cursor = Cursor::default();
        let last = timeline.versions().len() - 1;
        timeline.line(last, &mut cursor, usize::MAX)
    }

    pub(crate) fn timeline(&self, lock: &str) -> Timeline {
        let rule = self.rule(lock);
        let (parent, name) = split(lock);
        let in_lock = self.children.get(lock).map(Vec::as_slice).unwrap_or_default();
        let beside = self.children.get(parent).map(Vec::as_slice).unwrap_or_default();
        match rule {
            Rule::FixedNode => Timeline::new(rule, beside.iter().filter(|child| child.name == name)),
            Rule::FixedChild => Timeline::new(rule, in_lock.iter().filter(|child| child.owner.is_some())),
            Rule::Queue | Rule::ReadWrite => {
                Timeline::new(rule, in_lock.iter().filter(|child| rule::sequence(&child.name).is_some()))
            }
        }
    }

    pub(crate) fn deletions(&self) -> &[Removed] {
        &self.deletions
    }

    fn rule_by_names(&self, lock: &str) -> Rule {
        let children = self.children.get(lock).map(Vec::as_slice).unwrap_or_default();
        let (parent, name) = split(lock);
        let beside = self.children.get(parent).map(Vec::as_slice).unwrap_or_default();
        if children.iter().any(|child| rule::sequence(&child.name).is_some()) {
            let is_shared = children.iter().any(|child| rule::is_reader(&child.name));
            return if is_shared { Rule::ReadWrite } else { Rule::Queue };
        }
        // An ephemeral znode has no children.
        let is_node = children.is_empty() && beside.iter().any(|child| child.name == name && child.owner.is_some());
        if is_node { Rule::FixedNode } else { Rule::FixedChild }
    }

    fn change(&mut self, moment: Moment, session: i64, change: &Change) {
        match change {
            Change::Create(create) => self.create(moment, session, create),
            Change::Delete { path, by_server } => {
                let node = self.remove(moment, path);
                let Some(Node { czxid, creator, .. }) = node.filter(|_| !by_server) else { return };
                let deletion =
                    Deletion { zxid: moment.zxid, time_ms: moment.time_ms, session, path: path.clone(), czxid };
                self.deletions.push(Removed { deletion, creator });
            }
            Change::CloseSession { paths } => {
                for path in paths.iter().flatten() {
                    self.remove(moment, path);
                }
                // Servers do the same: what the log does not name falls as well.
                for path in self.owned.remove(&session).unwrap_or_default() {
                    self.remove(moment, &path);
                }
            }
            Change::Unknown { .. } | Change::Multi(Multi::Done(_)) => self.unknown += 1,
            Change::SetData { .. }
            | Change::SetAcl { .. }
            | Change::Check { .. }
            | Change::Multi(Multi::Failed(_))
            | Change::CreateSession { .. }
            | Change::Error { .. }
            | Change::Reconfig { .. } => {}
        }
    }

    fn create(&mut self, moment: Moment, creator: i64, create: &Create) {
        let owner = (create.lifetime == Lifetime::Ephemeral).then_some(creator);
        let (parent, name) = split(&create.path);
        let siblings = self.children.entry(parent.to_owned()).or_default();
        let place = siblings.len();
        siblings.push(Child { name: name.to_owned(), czxid: moment.zxid, owner, born: moment, died: None });
        if let Some(owner) = owner {
            self.owned.entry(owner).or_default().insert(create.path.clone());
        }
        self.nodes.insert(create.path.clone(), Node { czxid: moment.zxid, creator, owner, place });
    }

    fn remove(&mut self, moment: Moment, path: &str) -> Option<Node> {
        let node = self.nodes.remove(path)?;
        if let Some(paths) = node.owner.and_then(|owner| self.owned.get_mut(&owner)) {
            paths.remove(path);
        }
        let siblings = self.children.get_mut(split(path).0);
        if let Some(child) = siblings.and_then(|siblings| siblings.get_mut(node.place)) {
            child.died = Some(moment);
        }
        Some(node)
    }
}

/// Directory and name.
fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
        None => ("", path),
    }
}
