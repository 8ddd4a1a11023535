//! A believed tree as plain values, and back. Sums, counts and the index by owner are made anew.

use std::sync::Arc;

use super::child::{Child, ChildKey};
use super::directory::{Directory, RuleCount};
use super::owned::Owned;
use super::{Mirror, Totals};
use crate::label::identity_hash;
use crate::observation::RootId;
use crate::recipe;
use crate::recollection::{
    ChildRecollection, ChildrenRecollection, DirectoryRecollection, PIECE_MAX, Recollection, Tree,
};

/// A tree's directories, shared with it.
#[derive(Clone, Debug)]
pub(crate) struct SharedDirectories(Vec<(Arc<str>, Arc<Directory>)>);

impl SharedDirectories {
    /// All in path order, each followed by its further children.
    pub(crate) fn recall(&self, root: RootId, tree: Tree) -> impl Iterator<Item = Recollection> {
        self.0.iter().flat_map(move |(path, directory)| {
            let Directory { id, children, census, unreadable: _, told_missing, stat } = &**directory;
            let mut children = children.iter().map(|(key, child)| recall_child(key, child));
            let head = DirectoryRecollection {
                root,
                tree,
                path: Arc::clone(path),
                number: *id,
                stat: *stat,
                told_missing: *told_missing,
                rules: census.iter().map(|rule_count| rule_count.rule).collect(),
                children: children.by_ref().take(PIECE_MAX).collect(),
            };
            let more = std::iter::from_fn(move || {
                let some: Vec<ChildRecollection> = children.by_ref().take(PIECE_MAX).collect();
                let more = ChildrenRecollection { root, tree, path: Arc::clone(path), children: some };
                (!more.children.is_empty()).then_some(Recollection::Children(more))
            });
            std::iter::once(Recollection::Directory(head)).chain(more)
        })
    }
}

impl Mirror {
    /// A tree without any directory; the next gets this number.
    pub(crate) fn with_next_directory(number: u32) -> Self {
        Self { owned: Owned::with_next(number), ..Self::default() }
    }

    /// The number that the next new directory gets.
    pub(crate) fn next_directory(&self) -> u32 {
        self.owned.next()
    }

    /// The directories as they are now: what changes from here on is copied first.
    pub(crate) fn share(&self) -> SharedDirectories {
        let Self { directories, owned: _, nodes: _, unread: _, unreadable: _ } = self;
        SharedDirectories(directories.share())
    }

    /// A directory as it was.
    pub(crate) fn take_directory(&mut self, recalled: DirectoryRecollection) {
        let DirectoryRecollection { root: _, tree: _, path, number, stat, told_missing, rules, children } = recalled;
        self.owned.name_as(number, &path);
        let census = rules.into_iter().map(|rule| RuleCount { rule, evidence: 0, totals: Totals::default() }).collect();
        let directory = Directory { id: number, census, told_missing, stat, ..Directory::default() };
        self.directories.insert(Arc::clone(&path), directory);
        self.take_children(&path, children);
    }

    /// More children of a directory.
    pub(crate) fn take_children(&mut self, path: &str, children: Vec<ChildRecollection>) {
        let Some(directory) = self.directories.get_mut(path) else { return };
        let is_first = directory.children.is_empty();
        let mut more = Vec::with_capacity(children.len());
        for recalled in children {
            let (key, child) = take_child(recalled);
            directory.enter(&child);
            self.owned.add(child.owner(), directory.id, &key);
            self.nodes += 1;
            self.unread += u64::from(child.is_unread());
            self.unreadable += u64::from(child.is_unreadable());
            more.push((key, child));
        }
        if is_first {
            // Made of what is in order, a map is packed.
            directory.children = more.into_iter().collect();
        } else {
            directory.children.extend(more);
        }
    }
}

fn recall_child(key: &ChildKey, child: &Child) -> ChildRecollection {
    let Child { read, denied, arrived_at, rule, counted: _, identity_hash: _ } = child;
    ChildRecollection {
        name: key.name().into(),
        read: read.clone(),
        is_denied: *denied,
        arrived_at: *arrived_at,
        rule: *rule,
    }
}

fn take_child(recalled: ChildRecollection) -> (ChildKey, Child) {
    let owned = recalled.is_owned();
    let ChildRecollection { name, read, is_denied, arrived_at, rule } = recalled;
    let counted = rule.is_some_and(|rule| recipe::rule(rule).is_evidence(owned));
    let identity_hash = read.as_ref().map_or(0, |read| identity_hash(&name, &read.payload));
    let child = Child { read, denied: is_denied, arrived_at, rule, counted, identity_hash };
    (ChildKey::of_name(name), child)
}
