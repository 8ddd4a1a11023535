//! What a waiter waits for: the znodes whose going its client waits for, by the recipe's rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::line::QueueEntry;
use super::{ContenderRef, Lock};
use crate::mirror::{Child, ChildKey, Directory, Mirror, RuleCount};
use crate::recipe::{Access, Dialect, NodeRole, Shape, rule};
use crate::znode::join_path;

/// Znodes listed that one waiter waits for; a semaphore's head waits for any of many leases.
pub const TARGETS_MAX: usize = 16;
/// Contenders behind a znode that are asked whether they watch it as well.
const SHARERS_LOOK: usize = 8;

/// A znode that somebody waits for.
#[derive(Clone, Copy, Debug)]
pub struct WaitTarget<'a> {
    /// The directory it is in.
    pub directory: &'a Arc<str>,
    /// Its name.
    pub name: &'a str,
    /// Others wait for the same one: its going wakes them all.
    pub is_shared: bool,
}

impl WaitTarget<'_> {
    /// Full path.
    pub fn path(&self) -> String {
        join_path(self.directory, self.name)
    }
}

impl Lock {
    /// What a waiter waits for; nothing when its client waits for something that has no znode.
    pub fn waits_for<'a>(&'a self, mirror: &'a Mirror, contender: &ContenderRef<'a>) -> Vec<WaitTarget<'a>> {
        let Some(directory) = mirror.directory(contender.directory) else { return Vec::new() };
        let one =
            |key: &'a ChildKey, is_shared| WaitTarget { directory: contender.directory, name: key.name(), is_shared };
        match self.recognition.shape {
            Shape::Line | Shape::LeaderElection => {
                let found = self.line_target(directory, contender.key, contender.child);
                found.map(|key| one(key, self.is_shared(directory, key, contender))).into_iter().collect()
            }
            Shape::LeasesAndLocks | Shape::LeasesAndSibling => {
                let ahead = directory.before(contender.key).find(|(_, child)| child.role() == contender.child.role());
                match ahead {
                    Some((key, _)) => vec![one(key, false)],
                    None => self
                        .contenders_in(mirror, &self.parts.main)
                        .take(TARGETS_MAX)
                        .map(|lease| target(&lease))
                        .collect(),
                }
            }
            Shape::Alone => {
                let held = self.contenders_in(mirror, &self.parts.main);
                held.map(|contender| WaitTarget { is_shared: true, ..target(&contender) }).collect()
            }
            Shape::Fixed
            | Shape::Gate
            | Shape::Gathering
            | Shape::Items
            | Shape::TakenItems
            | Shape::Group
            | Shape::Idle => Vec::new(),
        }
    }

    /// A waiting reader of Curator watches the first writer; everybody else watches the nearest znode before it that
    /// keeps it from holding. A writer is kept from holding by whoever is right before it, readers as well.
    fn line_target<'a>(&self, directory: &'a Directory, key: &ChildKey, child: &Child) -> Option<&'a ChildKey> {
        let own = self.claim(key, child)?;
        let blocks =
            |(key, child): &(&ChildKey, &Child)| self.claim(key, child).is_some_and(|before| before.blocks(own));
        if own.watches_first_writer() {
            return directory.numbered().find(blocks).map(|(first, _)| first).filter(|first| *first < key);
        }
        // The client of a semaphore's queue waits for the one that keeps it from being among the first few.
        directory.before(key).filter(blocks).nth(self.recognition.admits() - 1).map(|(key, _)| key)
    }

    /// Whether others watch the same znode. Those right behind it are asked what they watch; readers of Curator's
    /// that wait are counted, as they all watch the first writer.
    fn is_shared(&self, directory: &Directory, target: &ChildKey, contender: &ContenderRef<'_>) -> bool {
        if !self.mixes_rules(directory) {
            return false;
        }
        let watches_first =
            |key: &ChildKey, child: &Child| self.claim(key, child).is_some_and(QueueEntry::watches_first_writer);
        let readers = self.waiting_readers(directory);
        let is_shared_by_readers = if watches_first(contender.key, contender.child) {
            readers > 1
        } else {
            let writes = |(key, child): &(&ChildKey, &Child)| {
                self.claim(key, child).is_some_and(|claim| claim.access == Access::Write)
            };
            readers > 0 && directory.numbered().find(writes).is_some_and(|(first, _)| first == target)
        };
        let watches = |(key, child): (&ChildKey, &Child)| {
            key != contender.key
                && !watches_first(key, child)
                && self.line_target(directory, key, child) == Some(target)
        };
        is_shared_by_readers || directory.after(target).take(SHARERS_LOOK).any(watches)
    }

    /// Contenders are of several rules, or of any: only then do some of them wait for the same one.
    fn mixes_rules(&self, directory: &Directory) -> bool {
        let is_there = |found: &&RuleCount| found.totals.count > 0 && rule(found.rule).role == NodeRole::Line;
        self.recognition.takes_any_name() || directory.census().iter().filter(is_there).count() > 1
    }

    /// Readers of Curator's that wait.
    fn waiting_readers(&self, directory: &Directory) -> u32 {
        let reads = directory.census().iter().filter(|rule_count| {
            rule(rule_count.rule).dialect == Dialect::CuratorReadWrite && rule(rule_count.rule).access == Access::Read
        });
        let writers = self.holders.iter().filter(|hold| hold.access == Access::Write).count();
        let reading = (self.standing.holders as usize).saturating_sub(writers);
        (reads.map(|rule_count| rule_count.totals.count as usize).sum::<usize>())
            .saturating_sub(reading)
            .try_into()
            .unwrap_or(u32::MAX)
    }

    /// The znode that most waiters wait for, and how many; None when nobody shares one. One walk along the queue: the
    /// nearest znode that blocks is the last of its kind, or the one before where numbers are equal.
    pub fn crowd(&self, mirror: &Mirror) -> Option<(String, u32)> {
        match self.recognition.shape {
            Shape::Line | Shape::LeaderElection if self.recognition.admits() == 1 => {}
            Shape::Alone => {
                return Some((self.path.to_string(), self.standing.waiting.count)).filter(|(_, number)| *number > 1);
            }
            _ => return None,
        }
        let directory = mirror.directory(&self.parts.main).filter(|directory| self.mixes_rules(directory))?;
        let mut kinds: Vec<Kind<'_>> = Vec::new();
        let mut crowds: BTreeMap<&ChildKey, u32> = BTreeMap::new();
        for (key, child) in directory.numbered() {
            let Some(own) = self.claim(key, child) else { continue };
            let target = if own.watches_first_writer() {
                kinds.iter().filter(|kind| kind.first.1.blocks(own)).map(|kind| kind.first.0).min()
            } else {
                kinds.iter().filter_map(|kind| kind.nearest(own)).max()
            };
            if let Some(target) = target {
                *crowds.entry(target).or_default() += 1;
            }
            match kinds.iter_mut().find(|kind| kind.first.1.is_kind_of(own)) {
                Some(kind) => kind.note(key, own),
                None => kinds.push(Kind { first: (key, own), last: (key, own), before: None }),
            }
        }
        let (key, number) = crowds.into_iter().max_by_key(|(key, number)| (*number, std::cmp::Reverse(*key)))?;
        (number > 1).then(|| (join_path(&self.parts.main, key.name()), number))
    }

    fn claim(&self, key: &ChildKey, child: &Child) -> Option<QueueEntry> {
        QueueEntry::of(&self.recognition, key, child)
    }
}

/// Contenders of one kind, along the queue.
struct Kind<'a> {
    first: (&'a ChildKey, QueueEntry),
    last: (&'a ChildKey, QueueEntry),
    /// The last one with another number than the last one's.
    before: Option<(&'a ChildKey, QueueEntry)>,
}

impl<'a> Kind<'a> {
    fn note(&mut self, key: &'a ChildKey, claim: QueueEntry) {
        if self.last.0.number() != key.number() {
            self.before = Some(self.last);
        }
        self.last = (key, claim);
    }

    /// The nearest that blocks a contender behind.
    fn nearest(&self, own: QueueEntry) -> Option<&'a ChildKey> {
        [Some(self.last), self.before].into_iter().flatten().find(|(_, claim)| claim.blocks(own)).map(|(key, _)| key)
    }
}

fn target<'a>(contender: &ContenderRef<'a>) -> WaitTarget<'a> {
    WaitTarget { directory: contender.directory, name: contender.key.name(), is_shared: false }
}
