//! The believed tree under one root: directories with their children in sequence order.
//!
//! Lookup and queue order share one map: a child's key is (sequence number, name), and the number can be read
//! off the name, so finding a child by name needs no second index. Owns no opinion on what is a lock.

mod child;
mod directory;
mod owned;
mod recollection;

use std::sync::Arc;

pub use child::{Child, ChildKey, Read, Totals};
pub use directory::{Directory, DirectoryStat, RuleCount};
pub(crate) use recollection::SharedDirectories;

use self::child::{AsKey, KeyView};
use self::owned::{NodeKey, Owned};
use super::label::identity_hash;
use super::missing::MissingSet;
use super::path_map::PathMap;
use super::recipe;
use super::time::TimeMs;
use super::znode::{Facts, SessionId, join_path, split_path};

/// What it changed that a znode is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenyEffect {
    /// It was not known before.
    New,
    /// It was; what was read of it is not believed any more.
    Hidden,
    /// It was known as that, or its directory is not known.
    Nothing,
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
    /// The same incarnation; something changed.
    Again,
    /// Nothing changed.
    Same,
    /// Older than what is believed; ignored.
    Late,
}

/// The believed tree under one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirror {
    directories: PathMap<Directory>,
    owned: Owned,
    nodes: u64,
    unread: u64,
    unreadable: u64,
}

impl Mirror {
    /// A directory by its path.
    pub fn directory(&self, path: &str) -> Option<&Directory> {
        self.directories.get(path)
    }

    /// The directory that comes behind a path.
    pub fn directory_after(&self, path: &str) -> Option<(&Arc<str>, &Directory)> {
        self.directories.after(path).next()
    }

    /// Every directory with its path, in path order.
    pub fn directories(&self) -> impl Iterator<Item = (&Arc<str>, &Directory)> {
        self.directories.iter()
    }

    /// A znode by its path.
    pub fn node(&self, path: &str) -> Option<&Child> {
        let (parent, name) = split_path(path)?;
        self.directories.get(parent)?.child(name).map(|(_, child)| child)
    }

    /// The paths of all znodes below one, each before those above it.
    pub fn below(&self, path: &str) -> Vec<String> {
        let Some(own) = self.directories.entry(path) else { return Vec::new() };
        let begin = join_path(path, "");
        let all = std::iter::once(own).chain(self.directories.starting_with(&begin));
        let mut below: Vec<String> = all
            .flat_map(|(path, directory)| directory.children().map(move |(key, _)| join_path(path, key.name())))
            .collect();
        below.sort_unstable_by(|one, other| other.cmp(one));
        below
    }

    /// Znodes known.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Znodes that came and were not read yet: nobody knows whose they are.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Znodes whose data or children may not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Sessions that own znodes here, with how many.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, u32)> {
        self.sessions_from(SessionId(i64::MIN))
    }

    /// The same from one session on, in order of their ids.
    pub fn sessions_from(&self, from: SessionId) -> impl Iterator<Item = (SessionId, u32)> {
        self.owned.sessions(from)
    }

    /// How many znodes a session owns here.
    pub fn owned(&self, session: SessionId) -> u32 {
        self.owned.count(session, usize::MAX)
    }

    /// Whether a session owns at least so many znodes here; few are asked for, so that a look is cheap.
    pub fn owns_at_least(&self, session: SessionId, number: usize) -> bool {
        self.owned.count(session, number) as usize >= number
    }

    /// How many znodes a session owns here, counted no further than needed to know whether they are as many as this.
    pub fn owned_up_to(&self, session: SessionId, number: usize) -> u32 {
        self.owned.count(session, number)
    }

    /// The znodes a session owns, with the directories they are in.
    pub fn owned_by(&self, session: SessionId) -> impl Iterator<Item = (&Arc<str>, &ChildKey, &Child)> {
        self.owned.places(session).flat_map(move |(path, place)| {
            let children = self.directories.get(path).into_iter().flat_map(move |directory| at(directory, place));
            children
                .filter(move |(_, child)| child.owner() == Some(session))
                .map(move |(key, child)| (path, key, child))
        })
    }

    /// The znodes of one directory that a session owns.
    pub fn owned_in<'a>(
        &'a self,
        directory: &'a Directory,
        session: SessionId,
    ) -> impl Iterator<Item = (&'a ChildKey, &'a Child)> {
        let places = self.owned.places_in(session, directory.id);
        places.flat_map(move |place| at(directory, place)).filter(move |(_, child)| child.owner() == Some(session))
    }

    /// Notes a creation; false when the znode was known already.
    pub fn create(&mut self, path: &str, now: TimeMs) -> bool {
        let Some((parent, name)) = split_path(path) else { return false };
        let rule = recipe::rule_of(name, None);
        let counted = rule.is_some_and(|rule| recipe::rule(rule).is_evidence(None));
        let Some(directory) = self.directory_mut(parent) else { return false };
        if directory.children.contains_key(&KeyView::of(name) as &dyn AsKey) {
            return false;
        }
        let child = Child { read: None, denied: false, arrived_at: now, rule, counted, identity_hash: 0 };
        directory.enter(&child);
        directory.children.insert(ChildKey::of(name), child);
        self.nodes += 1;
        self.unread += 1;
        true
    }

    /// Takes in a read of a znode.
    pub fn read(&mut self, path: &str, facts: &Facts, unreadable: bool, now: TimeMs) -> ReadEffect {
        let is_counted_anew = self.read_stat(path, facts);
        let Some((parent, name)) = split_path(path) else { return ReadEffect::Again };
        let created = self.create(path, now);
        let Some(directory) = self.directories.get_mut(parent) else { return ReadEffect::Late };
        let wanted = KeyView::of(name);
        let Some((key, child)) = directory.children.get_key_value(&wanted as &dyn AsKey) else {
            return ReadEffect::Late;
        };
        let read = Read::new(facts, unreadable);
        let effect = match &child.read {
            None if created => ReadEffect::New,
            // It came long before it may be read.
            None if child.denied => ReadEffect::Again,
            None => ReadEffect::First { arrived_at: child.arrived_at },
            Some(old) if *old == read && !is_counted_anew => return ReadEffect::Same,
            Some(old) if old.is_same_znode(&read) && old.version <= facts.version => ReadEffect::Again,
            Some(old) if old.czxid <= facts.czxid && !old.is_same_znode(&read) => ReadEffect::Reborn,
            Some(_) => return ReadEffect::Late,
        };
        let (owned, was_owner, arrived_at) = (Some(facts.owner.is_some()), child.owner(), child.arrived_at);
        let rule = child.rule.filter(|rule| recipe::rule(*rule).may_be(owned)).or_else(|| recipe::rule_of(name, owned));
        let after = Child {
            identity_hash: identity_hash(name, &read.payload),
            read: Some(read),
            denied: false,
            arrived_at: if effect == ReadEffect::Reborn { now } else { arrived_at },
            rule,
            counted: rule.is_some_and(|rule| recipe::rule(rule).is_evidence(owned)),
        };
        if was_owner != after.owner() {
            self.owned.remove(was_owner, directory.id, key);
            self.owned.add(after.owner(), directory.id, key);
        }
        directory.enter(&after);
        if let Some(child) = directory.children.get_mut(&wanted as &dyn AsKey) {
            let before = std::mem::replace(child, after);
            directory.leave(&before);
            self.unread -= u64::from(before.is_unread());
            self.unreadable = self.unreadable + u64::from(unreadable) - u64::from(before.is_unreadable());
        }
        effect
    }

    /// Notes a znode that is there, and of which not even the Stat may be read. What was read of it before may have
    /// been another incarnation's.
    pub fn deny(&mut self, path: &str, now: TimeMs) -> DenyEffect {
        let created = self.create(path, now);
        let Some((parent, name)) = split_path(path) else { return DenyEffect::Nothing };
        let Some(directory) = self.directories.get_mut(parent) else { return DenyEffect::Nothing };
        let key = ChildKey::of(name);
        let Some(before) = directory.children.remove(&key) else { return DenyEffect::Nothing };
        let is_news = !before.denied;
        let rule = before.rule.or_else(|| recipe::rule_of(name, None));
        let counted = rule.is_some_and(|rule| recipe::rule(rule).is_evidence(None));
        let after = Child { read: None, denied: true, rule, counted, identity_hash: 0, ..before };
        self.owned.remove(before.owner(), directory.id, &key);
        self.unread -= u64::from(before.is_unread());
        self.unreadable = self.unreadable + 1 - u64::from(before.is_unreadable());
        directory.leave(&before);
        directory.enter(&after);
        directory.children.insert(key, after);
        match (created, is_news) {
            (true, _) => DenyEffect::New,
            (false, true) => DenyEffect::Hidden,
            (false, false) => DenyEffect::Nothing,
        }
    }

    /// Takes in the Stat of a directory; false when none is known at that path, or nothing is new.
    pub fn count(&mut self, path: &str, facts: &Facts) -> bool {
        let Some(directory) = self.directories.get_mut(path) else { return false };
        directory.stat.replace(DirectoryStat::of(facts)) != directory.stat
    }

    /// Notes what is missing from a directory's children; false when nothing is known at that path, or it is no news.
    pub fn miss(&mut self, path: &str, missing: MissingSet) -> bool {
        let Some(directory) = self.directories.get_mut(path) else { return false };
        std::mem::replace(&mut directory.told_missing, missing) != missing
    }

    /// Notes a deletion; the child as it was believed, when it was known.
    pub fn delete(&mut self, path: &str) -> Option<(ChildKey, Child)> {
        let (parent, name) = split_path(path)?;
        if let Some((_, gone)) = self.directories.remove(path) {
            // ZooKeeper deletes no znode with children; what is left here was only believed.
            self.nodes -= gone.children.len() as u64;
            for (key, child) in &gone.children {
                self.owned.remove(child.owner(), gone.id, key);
                self.unread -= u64::from(child.is_unread());
                self.unreadable -= u64::from(child.is_unreadable());
            }
            self.owned.forget(gone.id);
        }
        let directory = self.directories.get_mut(parent)?;
        let (key, child) = directory.children.remove_entry(&KeyView::of(name) as &dyn AsKey)?;
        directory.leave(&child);
        self.owned.remove(child.owner(), directory.id, &key);
        self.nodes -= 1;
        self.unread -= u64::from(child.is_unread());
        self.unreadable -= u64::from(child.is_unreadable());
        Some((key, child))
    }

    /// A copy of some directories without one znode: what would be believed after its deletion. Costs as much as the
    /// directories are large.
    #[must_use]
    pub fn without(&self, directories: &[&str], path: &str) -> Self {
        let mut copy = Self::default();
        for (path, directory) in directories.iter().filter_map(|path| self.directories.entry(path)) {
            let id = copy.owned.name(path);
            for (key, child) in &directory.children {
                copy.owned.add(child.owner(), id, key);
                copy.unread += u64::from(child.is_unread());
                copy.unreadable += u64::from(child.is_unreadable());
            }
            copy.nodes += directory.children.len() as u64;
            copy.directories.insert(Arc::clone(path), Directory { id, ..directory.clone() });
        }
        copy.delete(path);
        copy
    }

    /// Packs the trees built by a sync: maps grown one by one are half empty.
    pub fn pack(&mut self) {
        for directory in self.directories.values_mut() {
            directory.children = std::mem::take(&mut directory.children).into_iter().collect();
        }
        self.owned.pack();
    }

    /// Forgets one directory with its children, of a tree that nobody looks at any more: many at once take their time.
    /// False when none is left.
    pub fn shed(&mut self) -> bool {
        self.directories.pop_first().is_some()
    }

    /// A znode that has or had children gets a directory of its own, so that an idle lock is not forgotten.
    /// True when its Stat is another one than before.
    fn read_stat(&mut self, path: &str, facts: &Facts) -> bool {
        if facts.owner.is_some() || (facts.children == 0 && facts.cversion == 0 && !self.directories.contains(path)) {
            return false;
        }
        let Some(directory) = self.directory_mut(path) else { return false };
        directory.stat.replace(DirectoryStat::of(facts)) != directory.stat
    }

    fn directory_mut(&mut self, path: &str) -> Option<&mut Directory> {
        // Looked up twice when it is new: an entry would copy the path each time.
        if !self.directories.contains(path) {
            let path: Arc<str> = path.into();
            let id = self.owned.name(&path);
            self.directories.insert(path, Directory { id, ..Directory::default() });
        }
        self.directories.get_mut(path)
    }
}

/// The znodes at a place: several where a counter is stuck.
fn at<'a>(directory: &'a Directory, place: NodeKey<'a>) -> impl Iterator<Item = (&'a ChildKey, &'a Child)> {
    let (number, name) = match place {
        NodeKey::Number(number) => (Some(number), None),
        NodeKey::Name(name) => (None, Some(name)),
    };
    let numbered = number.into_iter().flat_map(|number| directory.with_number(number));
    numbered.chain(name.and_then(|name| directory.child(name)))
}
