//! An ensemble made up, and honest captures of it: a model of its own, as simple as can be.

use std::collections::BTreeMap;

use lockscope_judge::{Capture, Contender, Report, Rule, Shown, Truth, judge};
use lockscope_txn_log::{Change, Create, Lifetime, Transaction};

/// When everything begins.
pub(crate) const START_MS: i64 = 1_780_000_000_000;
pub(crate) const LOCK: &str = "/locks/order";
/// How long a frame takes.
pub(crate) const WAY_MS: i64 = 10;

/// What is there, by path: czxid, owner.
pub(crate) type Tree = BTreeMap<String, (i64, Option<i64>)>;

pub(crate) struct World {
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) tree: Tree,
    pub(crate) now_ms: i64,
    /// Every state there was, by its zxid.
    pub(crate) past: Vec<(i64, i64, Tree)>,
    keeps_past: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut world =
            Self { transactions: Vec::new(), tree: Tree::new(), now_ms: START_MS, past: Vec::new(), keeps_past: true };
        world.create(1, "/locks", Lifetime::Persistent);
        world.create(1, LOCK, Lifetime::Persistent);
        world
    }

    /// Without its states, for many transactions.
    pub(crate) fn long() -> Self {
        Self { keeps_past: false, ..Self::new() }
    }

    pub(crate) fn zxid(&self) -> i64 {
        self.transactions.len().try_into().unwrap()
    }

    pub(crate) fn wait(&mut self, ms: i64) {
        self.now_ms += ms;
    }

    pub(crate) fn commit(&mut self, session: i64, change: Change) -> i64 {
        let zxid = self.zxid() + 1;
        self.transactions.push(Transaction { zxid, time_ms: self.now_ms, session, cxid: 0, change });
        if self.keeps_past {
            self.past.push((zxid, self.now_ms, self.tree.clone()));
        }
        zxid
    }

    pub(crate) fn create(&mut self, session: i64, path: &str, lifetime: Lifetime) -> i64 {
        let zxid = self.zxid() + 1;
        self.tree.insert(path.into(), (zxid, (lifetime == Lifetime::Ephemeral).then_some(session)));
        self.commit(session, Change::Create(create(path, lifetime)))
    }

    /// Queues up at the lock.
    pub(crate) fn queue(&mut self, session: i64, number: u32) -> i64 {
        self.create(session, &format!("{LOCK}/_c_{session}-lock-{number:010}"), Lifetime::Ephemeral)
    }

    pub(crate) fn delete(&mut self, session: i64, path: &str) -> i64 {
        self.tree.remove(path).unwrap();
        self.commit(session, Change::Delete { path: path.into(), by_server: false })
    }

    /// Leaves the lock's queue.
    pub(crate) fn leave(&mut self, session: i64, number: u32) -> i64 {
        self.delete(session, &format!("{LOCK}/_c_{session}-lock-{number:010}"))
    }

    pub(crate) fn close(&mut self, session: i64, is_on_record: bool) -> i64 {
        let fell: Vec<String> =
            self.tree.iter().filter(|(_, (_, owner))| *owner == Some(session)).map(|(path, _)| path.clone()).collect();
        self.tree.retain(|path, _| !fell.contains(path));
        self.commit(session, Change::CloseSession { paths: is_on_record.then_some(fell) })
    }

    pub(crate) fn truth(&self) -> Truth {
        Truth::from_transactions(self.transactions.iter().cloned())
    }

    /// The lock as it is now, told to a socket.
    pub(crate) fn shown(&self, socket: u32) -> Shown {
        let (holders, waiters) = line(&self.tree, LOCK, Rule::Queue);
        frame(socket, LOCK, (self.zxid(), self.now_ms), self.now_ms + WAY_MS, holders, waiters)
    }

    pub(crate) fn judge(&self, captures: impl IntoIterator<Item = Shown>) -> Report {
        let captures: Vec<Capture> = captures.into_iter().map(Capture::Shown).collect();
        judge(&self.truth(), &captures, &[])
    }
}

pub(crate) fn create(path: &str, lifetime: Lifetime) -> Create {
    Create { path: path.into(), data: None, acl: Vec::new(), lifetime, parent_cversion: 1 }
}

/// Holders and waiters, said once more as the recipes say it.
pub(crate) fn line(tree: &Tree, lock: &str, rule: Rule) -> (Vec<Contender>, Vec<Contender>) {
    let children = tree.iter().filter_map(|(path, node)| Some((path.strip_prefix(lock)?.strip_prefix('/')?, node)));
    let mut numbered: Vec<(u32, &str, Contender)> = Vec::new();
    for (name, (czxid, owner)) in children {
        let number = name.get(name.len().saturating_sub(10)..).and_then(|digits| digits.parse().ok());
        numbered.push((number.unwrap_or_default(), name, Contender { czxid: Some(*czxid), session: *owner }));
    }
    numbered.sort_by_key(|(number, name, _)| (*number, *name));
    let holds = |at: usize| match rule {
        Rule::Queue => at == 0,
        Rule::ReadWrite => at == 0 || numbered[..=at].iter().all(|(_, name, _)| name.contains("__READ__")),
        Rule::FixedChild | Rule::FixedNode => true,
    };
    let split = (0..numbered.len()).take_while(|at| holds(*at)).count();
    let mut all: Vec<Contender> = numbered.iter().map(|(_, _, contender)| *contender).collect();
    let waiters = all.split_off(split);
    (all, waiters)
}

/// A LIVE and complete frame.
pub(crate) fn frame(
    socket: u32,
    lock: &str,
    claimed: (i64, i64),
    arrived_at_ms: i64,
    holders: Vec<Contender>,
    waiters: Vec<Contender>,
) -> Shown {
    Shown {
        socket,
        arrived_at_ms,
        lock: lock.into(),
        is_live: true,
        is_complete: true,
        is_free: holders.is_empty() && waiters.is_empty(),
        zxid: claimed.0,
        true_at_ms: claimed.1,
        holder_count: holders.len().try_into().unwrap(),
        waiter_count: waiters.len().try_into().unwrap(),
        holders,
        waiters,
    }
}

/// The same with the counts that its lists have.
pub(crate) fn recount(mut shown: Shown) -> Shown {
    shown.holder_count = shown.holders.len().try_into().unwrap();
    shown.waiter_count = shown.waiters.len().try_into().unwrap();
    shown.is_free = shown.holders.is_empty();
    shown
}
