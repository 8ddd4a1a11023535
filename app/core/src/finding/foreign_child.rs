//! Children that no client of this recipe wrote.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::Lock;
use crate::mirror::{Child, ChildKey, Directory, Mirror};
use crate::recipe::{Dialect, Shape, is_mark, rule};
use crate::sentence::ForeignEffect;
use crate::znode::join_path;

/// Children of a lock's directories that are no contenders and no part of the recipe, in order.
pub fn foreign<'a>(lock: &'a Lock, mirror: &'a Mirror) -> impl Iterator<Item = (&'a str, &'a ChildKey, &'a Child)> {
    let parts = [Some(&lock.parts.main), lock.parts.second.as_ref()].into_iter().flatten();
    let is_whole = !lock.is_alone() && lock.recognition.shape != Shape::Idle;
    let children = parts.filter(move |_| is_whole).flat_map(|path| {
        let directory = mirror.directory(path).filter(|directory| !lock.has_all_of(path, directory));
        directory.into_iter().flat_map(Directory::children).map(move |(key, child)| (&**path, key, child))
    });
    children.filter(move |(path, key, child)| !lock.counts(path, key, child) && !is_part(lock, path, key.name()))
}

/// A znode that is no contender and belongs to the recipe all the same.
fn is_part(lock: &Lock, directory: &str, name: &str) -> bool {
    match lock.recognition.shape {
        Shape::Gathering => is_mark(name),
        // Solr's office may be in the directory that has the election as well.
        Shape::LeaderElection => directory != &*lock.parts.main,
        _ => false,
    }
}

/// F9.
pub(super) struct ForeignChild;

impl Lint for ForeignChild {
    fn code(&self) -> Code {
        Code::ForeignChild
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let (lock, mirror) = (context.lock, context.mirror);
        let is_gate = lock.recognition.shape == Shape::Gate;
        let (mut parents, mut path) = (Vec::new(), String::new());
        for contender in &context.contenders {
            path.clear();
            contender.push_path(&mut path);
            if mirror.directory(&path).is_some_and(|own| !own.is_empty()) {
                parents.push(path.clone());
            }
        }
        if !parents.is_empty() && !is_gate {
            let warning = LintWarning { severity: Severity::Critical, oddity: Oddity::ParentContender, paths: parents };
            return Outcome::Warn(warning);
        }
        let others: Vec<String> = foreign(lock, mirror).map(|(path, key, _)| join_path(path, key.name())).collect();
        if !others.is_empty() {
            let among_leases = foreign(lock, mirror).any(|(path, ..)| *path == *lock.parts.main);
            let oddity = Oddity::ForeignChildren {
                count: others.len(),
                recipe: lock.recognition.label.to_string(),
                effect: effect(lock, among_leases),
            };
            return Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: others });
        }
        Outcome::Ok
    }
}

/// What clients do with names they did not write (Curator `InterProcessSemaphoreV2` and `DistributedDoubleBarrier`,
/// kazoo `Semaphore` and `DoubleBarrier` count all children).
fn effect(lock: &Lock, among_leases: bool) -> ForeignEffect {
    let Some(rule) = lock.recognition.rule.map(rule) else { return ForeignEffect::NotKnown };
    match lock.recognition.shape {
        Shape::LeasesAndLocks | Shape::LeasesAndSibling if among_leases => {
            return ForeignEffect::CountsAsLease;
        }
        Shape::Gathering => return ForeignEffect::CountsAsMember,
        Shape::Items | Shape::TakenItems => return ForeignEffect::TakenForItem,
        Shape::Group => return ForeignEffect::TakenForMember,
        Shape::Fixed | Shape::Alone | Shape::Gate | Shape::Idle => return ForeignEffect::DoesNotMatter,
        Shape::Line | Shape::LeaderElection | Shape::LeasesAndLocks | Shape::LeasesAndSibling => {}
    }
    match (rule.label, rule.dialect) {
        ("go-zookeeper Lock", _) => ForeignEffect::FailsGoZookeeper,
        ("ZooKeeper recipes WriteLock", _) => ForeignEffect::SortedByWriteLock,
        (_, Dialect::Kazoo) => ForeignEffect::IgnoredByKazoo,
        (_, Dialect::CuratorLock | Dialect::CuratorLatch | Dialect::CuratorReadWrite) => {
            ForeignEffect::BehindThoseOfCurator
        }
        _ => ForeignEffect::TakenForContender,
    }
}
