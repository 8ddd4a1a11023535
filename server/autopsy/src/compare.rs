//! The newest snapshot of each member against the log: a member whose tree is another one is named, such as one that kept an
//! ephemeral znode of a session that ended (ZOOKEEPER-5010).

use std::collections::HashMap;
use std::path::PathBuf;

use lockscope_txn_log::Transaction;

use crate::merge::MemberDifference;
use crate::source::{MemberFiles, SnapshotFile, read_snapshot};
use crate::translate::Translator;
use crate::tree::{Identity, Tree};

/// Znodes of one snapshot that are named. Overflow policy: further ones are left out.
const NAMED_MAX: usize = 20;

/// A snapshot, with what the log did since it was begun.
struct Running {
    directory: PathBuf,
    file: SnapshotFile,
    translator: Translator,
    settled_zxid: i64,
}

#[derive(Default)]
pub(crate) struct Comparisons {
    roots: Vec<String>,
    waiting: Vec<(PathBuf, SnapshotFile)>,
    running: Vec<Running>,
    pub(crate) found: Vec<MemberDifference>,
}

impl Comparisons {
    /// Of the newest snapshot of each member, as far as it lies behind the one that the tree began with.
    pub(crate) fn new(members: &[MemberFiles], roots: &[String], after: i64) -> Self {
        let newest = members.iter().filter_map(|member| {
            let file = member.snapshots.last().filter(|file| file.zxid > after)?;
            Some((member.directory.clone(), file.clone()))
        });
        Self { roots: roots.to_vec(), waiting: newest.collect(), ..Self::default() }
    }

    /// The tree is not known well enough any more.
    pub(crate) fn give_up(&mut self) {
        self.waiting.clear();
        self.running.clear();
    }

    /// A transaction comes next, and `tree` is as it was before it.
    pub(crate) fn before(&mut self, transaction: &Transaction, tree: &Tree) {
        if self.waiting.is_empty() && self.running.is_empty() {
            return;
        }
        self.settle(transaction.zxid - 1, tree);
        for (directory, file) in self.waiting.extract_if(.., |(_, file)| file.zxid < transaction.zxid) {
            let mut tree = Tree::new(&self.roots);
            // One that is still being written is no difference.
            if let Ok(head) = read_snapshot(&file, |node| tree.read(&node)) {
                let translator = Translator::new(&self.roots, tree, &[]);
                self.running.push(Running { directory, file, translator, settled_zxid: head.settled_zxid });
            }
        }
        self.settle(transaction.zxid - 1, tree);
        for running in &mut self.running {
            running.translator.take(transaction, &mut |_| {});
        }
    }

    /// Compares what is settled by a transaction.
    pub(crate) fn settle(&mut self, zxid: i64, tree: &Tree) {
        for running in self.running.extract_if(.., |running| running.settled_zxid <= zxid) {
            compare(&running, tree, &mut self.found);
        }
    }
}

fn compare(running: &Running, tree: &Tree, found: &mut Vec<MemberDifference>) {
    let own: HashMap<&str, Identity> =
        running.translator.tree().identities().map(|(path, identity)| (path.as_ref(), identity)).collect();
    let others: HashMap<&str, Identity> = tree.identities().map(|(path, identity)| (path.as_ref(), identity)).collect();
    let session = |owner: Option<i64>| owner.map_or_else(String::new, |owner| format!(" of session {owner:#x}"));
    let mut said: Vec<(&str, String)> = Vec::new();
    for (path, (czxid, owner, version)) in &own {
        let why = match others.get(path) {
            None => format!("its snapshot has {path}{}, which went by the log", session(*owner)),
            Some((other, ..)) if other != czxid => format!("its snapshot has another {path} than the log"),
            Some((.., other)) if other != version => format!("its snapshot has another version of {path} than the log"),
            Some(_) => continue,
        };
        said.push((path, why));
    }
    for (path, (_, owner, _)) in others.iter().filter(|(path, _)| !own.contains_key(*path)) {
        said.push((path, format!("its snapshot lacks {path}{}, which is there by the log", session(*owner))));
    }
    said.sort_unstable();
    let zxids = (format!("{:#x}", running.file.zxid), format!("{:#x}", running.settled_zxid));
    found.extend(said.into_iter().take(NAMED_MAX).map(|(_, why)| MemberDifference {
        directory: running.directory.clone(),
        from_zxid: zxids.0.clone(),
        to_zxid: zxids.1.clone(),
        why,
    }));
}
