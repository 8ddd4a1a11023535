//! Believed trees.

use std::sync::Arc;

use crate::mirror::{DirectoryStat, Read};
use crate::missing::MissingSet;
use crate::observation::RootId;
use crate::recipe::RuleId;
use crate::time::TimeMs;

/// Which tree of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tree {
    /// The believed one.
    Believed,
    /// The one that a sync makes.
    Side,
}

/// A directory. Sums over its children and the index by owner are made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryRecollection {
    /// The root.
    pub root: RootId,
    /// Which of its trees.
    pub tree: Tree,
    /// Its path.
    pub path: Arc<str>,
    /// Its number: a session's znodes are listed in the order of these.
    pub number: u32,
    /// Its Stat, as of the last read.
    pub stat: Option<DirectoryStat>,
    /// What the observer says is missing from its children.
    pub told_missing: MissingSet,
    /// The naming rules of its children in the order in which they were first seen, those of former children included.
    pub rules: Vec<RuleId>,
    /// Its first children, in their order.
    pub children: Vec<ChildRecollection>,
}

/// More children of a directory that came before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildrenRecollection {
    /// The root.
    pub root: RootId,
    /// Which of its trees.
    pub tree: Tree,
    /// The directory.
    pub path: Arc<str>,
    /// The children, in their order.
    pub children: Vec<ChildRecollection>,
}

/// A znode as a child of its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildRecollection {
    /// Its name.
    pub name: Box<str>,
    /// What was read of it.
    pub read: Option<Read>,
    /// Not even its Stat may be read.
    pub is_denied: bool,
    /// When its creation was seen, or when it was first read.
    pub arrived_at: TimeMs,
    /// The naming rule it fits. Mostly [`rule_of`](crate::recipe::rule_of) its name and whether it is owned; another
    /// one where it was taken for that before.
    pub rule: Option<RuleId>,
}

impl ChildRecollection {
    /// Whether a session owns it; None while unread.
    pub fn is_owned(&self) -> Option<bool> {
        self.read.as_ref().map(|read| read.owner().is_some())
    }
}
