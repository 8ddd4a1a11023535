//! Children that no client of this recipe wrote.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, count};
use crate::lock::{ContenderRef, Lock};
use crate::mirror::{Child, ChildKey, Directory, Mirror};
use crate::recipe::is_mark;
use crate::recipe::{Dialect, Shape, rule};
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
        let parents: Vec<String> = context
            .contenders
            .iter()
            .map(ContenderRef::path)
            .filter(|path| mirror.directory(path).is_some_and(|own| !own.is_empty()))
            .collect();
        if !parents.is_empty() && !is_gate {
            let text = "A contender's znode has children of its own: it can't be deleted by its client, so the lock can't be released.".to_owned();
            return Outcome::Warn(LintWarning { severity: Severity::Critical, text, paths: parents });
        }
        let others: Vec<String> = foreign(lock, mirror).map(|(path, key, _)| join_path(path, key.name())).collect();
        if !others.is_empty() {
            let among_leases = foreign(lock, mirror).any(|(path, ..)| *path == *lock.parts.main);
            let is_are = if others.len() == 1 { "is" } else { "are" };
            let text = format!(
                "{} here {is_are} no part of {}. {}",
                count(others.len(), "child").replace("childs", "children"),
                lock.recognition.label,
                effect(lock, among_leases)
            );
            return Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: others });
        }
        Outcome::Ok
    }
}

/// What clients do with names they did not write (Curator `InterProcessSemaphoreV2` and `DistributedDoubleBarrier`,
/// kazoo `Semaphore` and `DoubleBarrier` count all children).
fn effect(lock: &Lock, among_leases: bool) -> &'static str {
    let Some(rule) = lock.recognition.rule.map(rule) else { return "" };
    match lock.recognition.shape {
        Shape::LeasesAndLocks | Shape::LeasesAndSibling if among_leases => {
            return "Clients count every child here as a lease, so it takes one.";
        }
        Shape::Gathering => return "Clients count every child here as a member.",
        Shape::Items | Shape::TakenItems => return "Consumers may take it for an item.",
        Shape::Group => return "Clients that list the members may take it for one.",
        Shape::Fixed | Shape::Alone | Shape::Gate | Shape::Idle => return "Who holds does not depend on it.",
        Shape::Line | Shape::LeaderElection | Shape::LeasesAndLocks | Shape::LeasesAndSibling => {}
    }
    match (rule.label, rule.dialect) {
        ("go-zookeeper Lock", _) => "go-zookeeper fails to acquire when it can't read a number from a name.",
        ("ZooKeeper recipes WriteLock", _) => "WriteLock sorts it among its contenders.",
        (_, Dialect::Kazoo) => "kazoo ignores it.",
        (_, Dialect::CuratorLock | Dialect::CuratorLatch | Dialect::CuratorReadWrite) => {
            "Curator sorts it with its own; it stands behind them."
        }
        _ => "Clients that sort all children may take it for a contender.",
    }
}
