//! The believed tree under one root: directories with their children in sequence order.
//!
//! Lookup and queue order share one map: a child's key is (sequence number, name), and the number can be read
//! off the name, so finding a child by name needs no second index. Owns no opinion on what is a lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::recipe::{self, Place, RuleId};
use super::sequence;
use super::time::TimeMs;
use super::znode::{Facts, SessionId, Zxid, split_path};

/// Order of children: those without a number first, then by number, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChildKey {
    number: i64,
    name: Box<str>,
}

/// Number of a child that has none: before every 32-bit number.
const NO_NUMBER: i64 = i64::MIN;

impl ChildKey {
    /// The key of a name.
    pub fn of(name: &str) -> Self {
        let number = sequence::parse(name).map_or(NO_NUMBER, |found| i64::from(found.number));
        Self { number, name: name.into() }
    }

    /// The child's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its sequence number.
    pub fn number(&self) -> Option<i64> {
        (self.number != NO_NUMBER).then_some(self.number)
    }
}

/// What is believed of one child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// What was read of it; None between its creation event and its first read.
    pub read: Option<Read>,
    /// When its creation was seen, or when it was first read.
    pub arrived_at: TimeMs,
    /// The naming rule it fits.
    pub rule: Option<RuleId>,
    /// Counted in its directory's census.
    pub counted: bool,
}

impl Child {
    /// Its name is that of a contender in a queue.
    pub fn queues(&self) -> bool {
        self.rule.is_some_and(|rule| recipe::family(rule).place == Place::Sequence)
    }
}

/// The part of [`Facts`] that is kept for every znode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Identity.
    pub czxid: Zxid,
    owner: i64,
    /// Creation on the ensemble's clock, ms since the Unix epoch.
    pub ctime_ms: i64,
    /// First bytes of the payload; empty when there is none or it may not be read.
    pub payload: Box<[u8]>,
    /// Size of the whole payload.
    pub payload_bytes: u32,
    /// Data version.
    pub version: i32,
    /// Data or children may not be read.
    pub unreadable: bool,
}

impl Read {
    fn new(facts: &Facts, unreadable: bool) -> Self {
        Self {
            czxid: facts.czxid,
            owner: facts.owner.map_or(0, |session| session.0),
            ctime_ms: facts.ctime_ms,
            payload: facts.payload.clone().unwrap_or_default(),
            payload_bytes: facts.payload_bytes,
            version: facts.version,
            unreadable,
        }
    }

    /// Owner session; None for a znode that no session owns.
    pub fn owner(&self) -> Option<SessionId> {
        (self.owner != 0).then_some(SessionId(self.owner))
    }
}

/// Stat of a znode that has, or had, children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryStat {
    /// Identity.
    pub czxid: Zxid,
    /// Last change of data.
    pub mzxid: Zxid,
    /// Last change of its children.
    pub pzxid: Zxid,
    /// Creation on the ensemble's clock.
    pub ctime_ms: i64,
    /// Data version.
    pub version: i32,
    /// Child version.
    pub cversion: i32,
    /// Children at that moment.
    pub children: u32,
    /// Children created until that moment.
    pub creates_ever: u32,
}

impl DirectoryStat {
    fn of(facts: &Facts) -> Self {
        Self {
            czxid: facts.czxid,
            mzxid: facts.mzxid,
            pzxid: facts.pzxid,
            ctime_ms: facts.ctime_ms,
            version: facts.version,
            cversion: facts.cversion,
            children: facts.children,
            creates_ever: facts.creates_ever(),
        }
    }
}

/// Sums over the contenders of a directory, kept up to date by every change so that nobody has to walk a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTotals {
    /// Children that queue.
    pub contenders: u32,
    /// Those among them that were not read yet.
    pub unread: u32,
    /// Sum of the creation times of those that were read, on the ensemble's clock.
    pub ctime_sum_ms: i64,
    /// Sum of the arrival times of those that were not, on our clock.
    pub arrived_sum_ms: i64,
}

impl QueueTotals {
    fn add(&mut self, child: &Child) {
        self.contenders += 1;
        match &child.read {
            Some(read) => self.ctime_sum_ms += read.ctime_ms,
            None => {
                self.unread += 1;
                self.arrived_sum_ms += child.arrived_at.0;
            }
        }
    }

    fn remove(&mut self, child: &Child) {
        self.contenders -= 1;
        match &child.read {
            Some(read) => self.ctime_sum_ms -= read.ctime_ms,
            None => {
                self.unread -= 1;
                self.arrived_sum_ms -= child.arrived_at.0;
            }
        }
    }
}

/// A znode that has, or had, children.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    children: BTreeMap<ChildKey, Child>,
    queue: QueueTotals,
    /// Children by naming rule; only those that count as evidence of a recipe.
    census: Vec<(RuleId, u32)>,
    /// Its Stat, as of the last read.
    pub stat: Option<DirectoryStat>,
}

impl Directory {
    /// All children: those without a number first, then in sequence order.
    pub fn children(&self) -> impl Iterator<Item = (&ChildKey, &Child)> {
        self.children.iter()
    }

    /// Children that queue, in order.
    pub fn contenders(&self) -> impl DoubleEndedIterator<Item = (&ChildKey, &Child)> {
        self.sequenced().filter(|(_, child)| child.queues())
    }

    /// Sums over the children that queue.
    pub fn queue(&self) -> QueueTotals {
        self.queue
    }

    /// Children with a sequence number, in order.
    pub fn sequenced(&self) -> impl DoubleEndedIterator<Item = (&ChildKey, &Child)> {
        self.children.range(ChildKey { number: NO_NUMBER + 1, name: "".into() }..)
    }

    /// Children without a sequence number.
    pub fn plain(&self) -> impl Iterator<Item = (&ChildKey, &Child)> {
        self.children.range(..ChildKey { number: NO_NUMBER + 1, name: "".into() })
    }

    /// One child.
    pub fn child(&self, name: &str) -> Option<(&ChildKey, &Child)> {
        self.children.get_key_value(&ChildKey::of(name))
    }

    /// Children by naming rule.
    pub fn census(&self) -> &[(RuleId, u32)] {
        &self.census
    }

    /// Number of children.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// No children.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    fn count(&mut self, rule: RuleId, by: i32) {
        match self.census.iter_mut().find(|(found, _)| *found == rule) {
            Some((_, count)) => *count = count.saturating_add_signed(by),
            None => self.census.push((rule, u32::try_from(by).unwrap_or(0))),
        }
    }
}

/// How a read fitted what was believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadEffect {
    /// The znode was known by its creation event; this is its first read.
    First {
        /// When its creation was seen.
        arrived_at: TimeMs,
    },
    /// The znode was not known.
    New,
    /// Another incarnation of the same name.
    Reborn,
    /// The same incarnation; something may have changed.
    Again,
    /// Older than what is believed; ignored.
    Late,
}

/// The believed tree under one root.
#[derive(Clone, Debug, Default)]
pub struct Mirror {
    directories: BTreeMap<Arc<str>, Directory>,
    nodes: u64,
    unreadable: u64,
}

impl Mirror {
    /// A directory by its path.
    pub fn directory(&self, path: &str) -> Option<&Directory> {
        self.directories.get(path)
    }

    /// Every directory with its path, in path order.
    pub fn directories(&self) -> impl Iterator<Item = (&Arc<str>, &Directory)> {
        self.directories.iter()
    }

    /// Znodes known.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Znodes whose data or children may not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Notes a creation; false when the znode was known already.
    pub fn create(&mut self, path: &str, now: TimeMs) -> bool {
        let Some((parent, name)) = split_path(path) else { return false };
        let rule = recipe::rule_of(name);
        let counted = rule.is_some_and(recipe::is_strong);
        let directory = self.directory_mut(parent);
        let key = ChildKey::of(name);
        if directory.children.contains_key(&key) {
            return false;
        }
        let child = Child { read: None, arrived_at: now, rule, counted };
        if child.queues() {
            directory.queue.add(&child);
        }
        directory.children.insert(key, child);
        if let (Some(rule), true) = (rule, counted) {
            directory.count(rule, 1);
        }
        self.nodes += 1;
        true
    }

    /// Takes in a read of a znode.
    pub fn read(&mut self, path: &str, facts: &Facts, unreadable: bool, now: TimeMs) -> ReadEffect {
        self.read_stat(path, facts);
        let Some((parent, name)) = split_path(path) else { return ReadEffect::Again };
        let created = self.create(path, now);
        let directory = self.directory_mut(parent);
        let Some(child) = directory.children.get_mut(&ChildKey::of(name)) else { return ReadEffect::Late };
        let effect = match &child.read {
            None if created => ReadEffect::New,
            None => ReadEffect::First { arrived_at: child.arrived_at },
            Some(old) if old.czxid == facts.czxid && old.version <= facts.version => ReadEffect::Again,
            Some(old) if old.czxid < facts.czxid => ReadEffect::Reborn,
            Some(_) => return ReadEffect::Late,
        };
        if child.queues() {
            directory.queue.remove(child);
        }
        let was_unreadable = child.read.as_ref().is_some_and(|old| old.unreadable);
        if effect == ReadEffect::Reborn {
            child.arrived_at = now;
        }
        child.read = Some(Read::new(facts, unreadable));
        if child.queues() {
            directory.queue.add(child);
        }
        if let (Some(rule), false, Some(_)) = (child.rule, child.counted, facts.owner) {
            child.counted = true;
            directory.count(rule, 1);
        }
        self.unreadable = self.unreadable + u64::from(unreadable) - u64::from(was_unreadable);
        effect
    }

    /// Takes in the Stat of a directory; false when none is known at that path, or nothing is new.
    pub fn count(&mut self, path: &str, facts: &Facts) -> bool {
        let Some(directory) = self.directories.get_mut(path) else { return false };
        directory.stat.replace(DirectoryStat::of(facts)) != directory.stat
    }

    /// Notes a deletion; the child as it was believed, when it was known.
    pub fn delete(&mut self, path: &str) -> Option<(ChildKey, Child)> {
        let (parent, name) = split_path(path)?;
        if let Some(gone) = self.directories.remove(path) {
            // ZooKeeper deletes no znode with children; what is left here was only believed.
            self.nodes -= gone.children.len() as u64;
        }
        let directory = self.directories.get_mut(parent)?;
        let (key, child) = directory.children.remove_entry(&ChildKey::of(name))?;
        if let (Some(rule), true) = (child.rule, child.counted) {
            directory.count(rule, -1);
        }
        if child.queues() {
            directory.queue.remove(&child);
        }
        self.nodes -= 1;
        self.unreadable -= u64::from(child.read.as_ref().is_some_and(|read| read.unreadable));
        Some((key, child))
    }

    /// A znode that has or had children gets a directory of its own, so that an idle lock is not forgotten.
    fn read_stat(&mut self, path: &str, facts: &Facts) {
        if facts.owner.is_some() || (facts.children == 0 && facts.cversion == 0 && !self.directories.contains_key(path)) {
            return;
        }
        self.directory_mut(path).stat = Some(DirectoryStat::of(facts));
    }

    fn directory_mut(&mut self, path: &str) -> &mut Directory {
        self.directories.entry(path.into()).or_default()
    }
}
