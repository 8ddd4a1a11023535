//! Where a lock's znodes are, and its contenders in order: who holds first, then who waits.

use std::sync::Arc;

use super::Lock;
use crate::mirror::{Child, ChildKey, Directory, Mirror, Totals};
use crate::missing::{Missing, MissingSet};
use crate::recipe::{NodeRole, Recognition, Shape};
use crate::znode::{join_path, split_path};

/// The directories a lock's znodes are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Contenders; for a semaphore those that hold, for a queue its items.
    pub main: Arc<str>,
    /// Where else: a semaphore's queue, a queue's taken items, an election's office, HBase's other masters.
    pub second: Option<Arc<str>>,
}

impl Parts {
    /// The directories of a lock with this path.
    pub fn of(path: &Arc<str>, recognition: &Recognition) -> Self {
        let under = |name: &str| Arc::<str>::from(join_path(path, name));
        match recognition.shape {
            Shape::Line | Shape::Fixed | Shape::Gathering | Shape::Items | Shape::Group | Shape::Idle => {
                Self { main: Arc::clone(path), second: None }
            }
            Shape::Alone | Shape::Gate => {
                let (parent, name) = split_path(path).unwrap_or(("/", ""));
                let second = (name == "master").then(|| join_path(parent, "backup-masters").into());
                Self { main: parent.into(), second }
            }
            Shape::LeaderElection => {
                let office = path.replacen("/leader_elect/", "/leaders/", 1);
                Self { main: under("election"), second: Some(office.into()) }
            }
            Shape::LeasesAndLocks => Self { main: under("leases"), second: Some(under("locks")) },
            Shape::LeasesAndSibling => Self { main: Arc::clone(path), second: Some(format!("{path}-__lock__").into()) },
            Shape::TakenItems => Self { main: under("entries"), second: Some(under("taken")) },
        }
    }

    /// Whether a directory is one of them.
    pub fn hold(&self, directory: &str) -> bool {
        *self.main == *directory || self.second.as_deref() == Some(directory)
    }
}

/// The paths a lock may have that has a part at this directory; the directory's own path is one as well.
pub fn lock_paths(directory: &str) -> impl Iterator<Item = String> {
    let (parent, name) = split_path(directory).unwrap_or(("/", ""));
    let inside = matches!(name, "leases" | "locks" | "entries" | "taken" | "election").then(|| parent.to_owned());
    let beside = directory.strip_suffix("-__lock__").map(str::to_owned);
    let office = directory.contains("/leaders/").then(|| directory.replacen("/leaders/", "/leader_elect/", 1));
    let masters = (name == "backup-masters").then(|| join_path(parent, "master"));
    inside.into_iter().chain(beside).chain(office).chain(masters)
}

/// One contender's znode.
#[derive(Clone, Copy, Debug)]
pub struct ContenderRef<'a> {
    /// The directory it is in.
    pub directory: &'a Arc<str>,
    /// Its name and number.
    pub key: &'a ChildKey,
    /// What is believed of it.
    pub child: &'a Child,
}

impl ContenderRef<'_> {
    /// Its full path.
    pub fn path(&self) -> String {
        join_path(self.directory, self.key.name())
    }

    /// The same behind a text, for who looks at many.
    pub fn push_path(&self, to: &mut String) {
        if **self.directory != *"/" {
            to.push_str(self.directory);
        }
        to.push('/');
        to.push_str(self.key.name());
    }
}

impl Lock {
    /// The lock is a znode itself, not a directory.
    pub fn is_alone(&self) -> bool {
        matches!(self.recognition.shape, Shape::Alone | Shape::Gate)
    }

    /// Its contenders in order.
    pub fn contenders<'a>(&'a self, mirror: &'a Mirror) -> impl Iterator<Item = ContenderRef<'a>> {
        let (first, then) = match self.recognition.shape {
            // Who works on an item comes before the items nobody works on.
            Shape::TakenItems => (self.parts.second.as_ref(), Some(&self.parts.main)),
            Shape::LeaderElection => (Some(&self.parts.main), None),
            _ => (Some(&self.parts.main), self.parts.second.as_ref()),
        };
        let taken = self
            .parts
            .second
            .as_ref()
            .filter(|_| self.recognition.shape == Shape::TakenItems)
            .and_then(|path| mirror.directory(path));
        let is_free = move |contender: &ContenderRef<'_>| {
            *contender.directory != self.parts.main
                || taken.is_none_or(|taken| taken.child(contender.key.name()).is_none())
        };
        [first, then].into_iter().flatten().flat_map(move |path| self.contenders_in(mirror, path)).filter(is_free)
    }

    /// Its contenders within one of its directories, in order.
    pub(super) fn contenders_in<'a>(
        &'a self,
        mirror: &'a Mirror,
        path: &'a Arc<str>,
    ) -> impl DoubleEndedIterator<Item = ContenderRef<'a>> {
        let directory = mirror.directory(path);
        let alone = if self.is_alone() && *path == self.parts.main {
            split_path(&self.path).map(|(_, name)| name)
        } else {
            None
        };
        let one = alone.and_then(|name| directory?.child(name));
        let many = directory.filter(|_| alone.is_none()).into_iter().flat_map(Directory::children);
        let contenders =
            one.into_iter().chain(many).map(move |(key, child)| ContenderRef { directory: path, key, child });
        contenders.filter(move |contender| self.is_contender(path, contender.key, contender.child))
    }

    /// Whether a child of one of its directories is one of its contenders.
    pub fn is_contender(&self, directory: &str, key: &ChildKey, child: &Child) -> bool {
        let is_main = directory == &*self.parts.main;
        if self.standing.pending.as_deref() == Some(key.name()) && is_main {
            return false;
        }
        if self.recognition.takes_any_name() && !self.is_alone() {
            return self.recognition.takes(key, child);
        }
        match (self.recognition.shape, is_main) {
            (Shape::Alone | Shape::Gate, true) => split_path(&self.path).is_some_and(|(_, name)| name == key.name()),
            (Shape::Alone | Shape::Gate, false) => child.is_owned() != Some(false),
            _ => child.role().is_some_and(|role| self.takes_role(is_main, role)),
        }
    }

    fn takes_role(&self, is_main: bool, role: NodeRole) -> bool {
        match (self.recognition.shape, is_main) {
            (Shape::Line | Shape::LeaderElection, true) | (Shape::LeasesAndLocks | Shape::LeasesAndSibling, false) => {
                role == NodeRole::Line
            }
            (Shape::LeasesAndLocks | Shape::LeasesAndSibling, true) => role == NodeRole::Lease,
            (Shape::Fixed, _) => matches!(role, NodeRole::Fixed | NodeRole::Timed),
            (Shape::Gathering, _) => matches!(role, NodeRole::Member | NodeRole::Lease),
            (Shape::Items | Shape::TakenItems, _) => role == NodeRole::Item,
            (Shape::Group, _) => role == NodeRole::Member,
            (Shape::Alone | Shape::Gate | Shape::Idle, _) | (Shape::Line | Shape::LeaderElection, false) => false,
        }
    }

    /// Whether the census shows that all children of one of its directories belong to it; false where it can't show it.
    pub fn has_all_of(&self, path: &str, directory: &Directory) -> bool {
        let is_main = *path == *self.parts.main;
        !self.recognition.takes_any_name()
            && directory.totals(|role| self.takes_role(is_main, role)).count as usize == directory.len()
    }

    /// Whether a child of one of its directories belongs to it: a contender, or a lease that is set aside.
    pub fn counts(&self, directory: &str, key: &ChildKey, child: &Child) -> bool {
        self.is_contender(directory, key, child)
            || (*self.parts.main == *directory && self.standing.pending.as_deref() == Some(key.name()))
    }

    /// What is missing from its directories. Of a znode that is a lock itself its neighbours show nothing while it is
    /// there and may be read.
    pub fn missing_in(&self, mirror: &Mirror, is_held: bool) -> MissingSet {
        let is_readable = || mirror.node(&self.path).is_some_and(|own| !own.is_unreadable());
        if self.is_alone() && is_held && is_readable() {
            return MissingSet::NONE;
        }
        let parts = [Some(&self.parts.main), self.parts.second.as_ref()].into_iter().flatten();
        parts.fold(MissingSet::NONE, |missing, part| {
            let is_unreadable = mirror.unreadable() > 0 && mirror.node(part).is_some_and(Child::is_unreadable);
            let children = mirror.directory(part).map(Directory::missing).unwrap_or_default();
            missing.and(children).with(Missing::UnreadableChildren, is_unreadable)
        })
    }

    /// Sums over all its contenders.
    pub fn totals(&self, mirror: &Mirror) -> Totals {
        let sum = |path: &str, role: NodeRole| {
            mirror.directory(path).map(|directory| directory.totals(|found| found == role)).unwrap_or_default()
        };
        let second = self.parts.second.as_deref().unwrap_or("");
        let walked =
            || self.contenders(mirror).fold(Totals::default(), |sum, contender| sum.plus(one(contender.child)));
        match self.recognition.shape {
            _ if self.recognition.takes_any_name() => walked(),
            Shape::Line | Shape::LeaderElection => sum(&self.parts.main, NodeRole::Line),
            Shape::LeasesAndLocks | Shape::LeasesAndSibling => {
                let leases = sum(&self.parts.main, NodeRole::Lease).plus(sum(second, NodeRole::Line));
                let pending =
                    self.standing.pending.as_deref().and_then(|name| mirror.directory(&self.parts.main)?.child(name));
                pending.map_or(leases, |(_, child)| leases.minus(one(child)))
            }
            Shape::Gathering => sum(&self.parts.main, NodeRole::Member).plus(sum(&self.parts.main, NodeRole::Lease)),
            Shape::Items => sum(&self.parts.main, NodeRole::Item),
            Shape::Group => sum(&self.parts.main, NodeRole::Member),
            Shape::Fixed | Shape::Alone | Shape::Gate | Shape::TakenItems | Shape::Idle => walked(),
        }
    }
}

fn one(child: &Child) -> Totals {
    let mut totals = Totals::default();
    totals.add(child);
    totals
}
