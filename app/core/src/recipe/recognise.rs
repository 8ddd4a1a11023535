//! What a directory is: from the names of its children, its neighbours and its data, to a recipe with the place of
//! each part. Costs a look at the census and at most a few neighbours, never a walk over children.

use std::sync::Arc;

use super::barrier::{MARKS, is_mark};
use super::recognition::{Recognition, Shape, shape_of};
use super::{Access, Confidence, NodeRole, Recipe, RuleId, election, is_catch_all, rule};
use crate::mirror::{Child, Directory, Mirror, RuleCount};
use crate::znode::{join_path, split_path};

/// A recognition and where it is at home: the path a client was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The lock's path.
    pub home: Arc<str>,
    /// What it is.
    pub recognition: Recognition,
}

/// The rule that most children of a directory fit; None when nothing in it looks like a lock. Leases that end by
/// the clock come before queues, those before leases, items, members and single znodes, the more frequent rule before
/// the rarer, the more specific before the catch-all.
pub fn leading_rule(directory: &Directory) -> Option<RuleId> {
    let counted = directory
        .census()
        .iter()
        .filter(|rule_count| rule_count.evidence > 0 && rule(rule_count.rule).role != NodeRole::Alone);
    counted
        .max_by_key(|rule_count| {
            (
                is_timed(rule_count.rule),
                rule(rule_count.rule).role,
                rule_count.evidence,
                std::cmp::Reverse(rule_count.rule),
            )
        })
        .map(|rule_count| rule_count.rule)
}

/// A lease that a clock ends. Whoever tries to take it locks its directory for that moment, and is no contender.
fn is_timed(id: RuleId) -> bool {
    rule(id).role == NodeRole::Fixed && rule(id).access == Access::Lease
}

/// What a directory is, and of which lock it is a part.
pub fn recognise(mirror: &Mirror, path: &Arc<str>) -> Option<Found> {
    let directory = mirror.directory(path)?;
    let leading = leading_rule(directory);
    if may_gather(path) && leading.is_none_or(is_vague) && has_members(directory) {
        let confidence = if is_marked(directory) { Confidence::Medium } else { Confidence::Low };
        return Some(at(
            path,
            Recognition::by_path(Shape::Gathering, Recipe::DoubleBarrier, "double barrier", confidence),
        ));
    }
    let leading = leading?;
    match rule(leading).role {
        NodeRole::Line => Some(line(mirror, path, directory, leading)),
        NodeRole::Lease => leases(mirror, path, directory, leading),
        NodeRole::Item => Some(items(path, leading)),
        NodeRole::Member if rule(leading).recipe == Recipe::DoubleBarrier => gathering(path, directory, leading),
        NodeRole::Member => Some(at(path, Recognition::of(leading, Shape::Group))),
        NodeRole::Fixed | NodeRole::Timed => Some(at(path, Recognition::of(leading, Shape::Fixed))),
        NodeRole::Alone => None,
    }
}

/// A directory that only the configuration knows, once it has a child that may be a contender.
pub fn recognise_configured(directory: &Directory, recipe: Recipe) -> Option<Recognition> {
    let found = Recognition::by_path(shape_of(recipe)?, recipe, "any names", Confidence::High).configured_as(recipe);
    directory.children().any(|(key, child)| found.takes(key, child)).then_some(found)
}

/// A znode that only the configuration knows as a lock of its own.
pub fn recognise_configured_alone(
    mirror: &Mirror,
    parent: &str,
    name: &str,
    child: &Child,
    recipe: Recipe,
) -> Option<Recognition> {
    let shape = match (recipe, child.is_owned()?) {
        (Recipe::SingleNodeMutex | Recipe::Election, true) => Shape::Alone,
        (Recipe::Barrier, false) if !had_children(mirror, parent, name) => Shape::Gate,
        _ => return None,
    };
    Some(Recognition::by_path(shape, recipe, "one znode (configured)", Confidence::High).configured_as(recipe))
}

/// Whether a directory's name speaks of a place where members of any name gather.
pub fn may_gather(path: &str) -> bool {
    split_path(path).is_some_and(|(_, name)| speaks_of(name, &["barrier", "synchroniz"]))
}

/// A rule that says so little that the directory's name says more.
fn is_vague(id: RuleId) -> bool {
    is_catch_all(id) || (rule(id).recipe == Recipe::Membership && rule(id).confidence < Confidence::High)
}

fn has_members(directory: &Directory) -> bool {
    directory.children().any(|(key, child)| child.is_owned() == Some(true) && !is_mark(key.name()))
}

fn at(home: &str, recognition: Recognition) -> Found {
    Found { home: home.into(), recognition }
}

fn line(mirror: &Mirror, path: &Arc<str>, directory: &Directory, leading: RuleId) -> Found {
    let (parent, name) = split_path(path).unwrap_or(("/", ""));
    if name == "locks" && mirror.directory(&join_path(parent, "leases")).is_some_and(has_leases) {
        return at(parent, curator_semaphore(mirror, parent, leading));
    }
    if let Some(home) = path.strip_suffix("-__lock__")
        && mirror.node(home).is_some_and(|node| maximum(node).is_some())
    {
        return at(home, kazoo_semaphore(leading));
    }
    if name == "election" && rule(leading).composite == Some(Shape::LeaderElection) {
        return at(parent, Recognition::of(leading, Shape::LeaderElection));
    }
    let mut found = Recognition::of(leading, Shape::Line);
    let reads = directory
        .census()
        .iter()
        .find(|rule_count| rule_count.totals.count > 0 && rule(rule_count.rule).access == Access::Read);
    if let Some(reads) = reads.filter(|rule_count| rule(rule_count.rule).dialect == rule(leading).dialect) {
        found = Recognition::of(reads.rule, Shape::Line);
    } else if rule(leading).recipe == Recipe::SequentialMutex && speaks_of(path, &["election", "leader"]) {
        found.label = found.label_as(Recipe::Election);
        found.recipe = Recipe::Election;
        found.confidence = Confidence::Medium;
    }
    at(path, found)
}

/// A directory of Curator's leases: it has some now, or had some and stayed.
fn has_leases(directory: &Directory) -> bool {
    let leases = |rule_count: &RuleCount| rule_count.evidence > 0 && rule(rule_count.rule).role == NodeRole::Lease;
    directory.is_empty() || directory.census().iter().any(leases)
}

fn leases(mirror: &Mirror, path: &Arc<str>, directory: &Directory, leading: RuleId) -> Option<Found> {
    let (parent, name) = split_path(path)?;
    if rule(leading).composite == Some(Shape::LeasesAndLocks) {
        let home = if name == "leases" { parent } else { path };
        return Some(at(home, curator_semaphore(mirror, parent, leading)));
    }
    let has_maximum = mirror.node(path).is_some_and(|node| maximum(node).is_some());
    if !is_marked(directory) && (has_maximum || mirror.directory(&format!("{path}-__lock__")).is_some()) {
        return Some(at(path, kazoo_semaphore(leading)));
    }
    // kazoo's double barrier names its members alike; its data is `host-pid`.
    let says_host =
        directory.plain().find_map(|(_, child)| child.read.as_ref()).is_some_and(|read| is_host_and_pid(&read.payload));
    (is_marked(directory) || says_host || speaks_of(path, &["barrier"])).then(|| {
        let mut found = Recognition::of(leading, Shape::Gathering);
        found.recipe = Recipe::DoubleBarrier;
        found.label = "kazoo DoubleBarrier".into();
        found.confidence = if is_marked(directory) { Confidence::High } else { Confidence::Medium };
        at(path, found)
    })
}

fn curator_semaphore(mirror: &Mirror, home: &str, leading: RuleId) -> Recognition {
    let mut found = Recognition::of(leading, Shape::LeasesAndLocks);
    found.recipe = Recipe::Semaphore;
    found.label = "Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex".into();
    let is_whole = mirror.directory(&join_path(home, "locks")).is_some();
    found.confidence = if is_whole { Confidence::High } else { Confidence::Medium };
    found
}

fn kazoo_semaphore(leading: RuleId) -> Recognition {
    let mut found = Recognition::of(leading, Shape::LeasesAndSibling);
    found.recipe = Recipe::Semaphore;
    found.label = "kazoo Semaphore".into();
    found.confidence = Confidence::High;
    found
}

fn items(path: &Arc<str>, leading: RuleId) -> Found {
    match split_path(path) {
        Some((parent, "entries" | "taken")) if rule(leading).composite == Some(Shape::TakenItems) => {
            let mut found = Recognition::of(leading, Shape::TakenItems);
            found.label = "kazoo LockingQueue".into();
            at(parent, found)
        }
        _ => at(path, Recognition::of(leading, Shape::Items)),
    }
}

fn gathering(path: &Arc<str>, directory: &Directory, leading: RuleId) -> Option<Found> {
    let is_barrier = is_marked(directory) || speaks_of(path, &["barrier", "synchroniz"]);
    let mut found = Recognition::of(leading, Shape::Gathering);
    if is_marked(directory) {
        found.confidence = Confidence::High;
    }
    is_barrier.then(|| at(path, found))
}

/// A double barrier that is open.
pub fn is_marked(directory: &Directory) -> bool {
    MARKS.iter().any(|mark| directory.child(mark).is_some())
}

/// The recognition of a znode that is a lock of its own.
pub fn recognise_alone(mirror: &Mirror, parent: &str, name: &str, child: &Child) -> Option<Recognition> {
    let id = child.rule?;
    let place = rule(id).role;
    let fits = child.counted && (place == NodeRole::Alone || (place == NodeRole::Fixed && parent == "/"));
    if !fits {
        return None;
    }
    if rule(id).recipe != Recipe::Barrier {
        let is_there = |name: &str| mirror.directory(parent).is_some_and(|directory| directory.child(name).is_some());
        return Some(Recognition::of(election::by_neighbours(id, is_there), Shape::Alone));
    }
    (!had_children(mirror, parent, name)).then(|| Recognition::of(id, Shape::Gate))
}

fn had_children(mirror: &Mirror, parent: &str, name: &str) -> bool {
    mirror
        .directory(&join_path(parent, name))
        .is_some_and(|own| !own.is_empty() || own.stat.is_some_and(|stat| stat.creates_ever > 0))
}

/// An empty directory whose counters show that children came and went, and whose path speaks of locks.
pub fn recognise_idle(path: &str, directory: &Directory) -> Option<Recognition> {
    let used = directory.is_empty() && directory.stat.is_some_and(|stat| stat.children == 0 && stat.creates_ever > 0);
    let is_part =
        matches!(split_path(path), Some((_, "leases" | "locks" | "entries" | "taken"))) || path.ends_with("-__lock__");
    let spoken = path.to_ascii_lowercase().replace("block", "").replace("clock", "");
    let hinted = !is_part && speaks_of(&spoken, &["lock", "mutex", "leader", "election", "latch"]);
    (used && hinted)
        .then(|| Recognition::by_path(Shape::Idle, Recipe::Unknown, "idle, recipe not seen yet", Confidence::Low))
}

/// What is to be held by the configuration and is not there, or shows nothing of what it is.
pub fn required() -> Recognition {
    Recognition::by_path(Shape::Idle, Recipe::Unknown, "must be held, recipe not seen yet", Confidence::Low)
}

/// The evidence in words: what the names say, a line a kind.
pub fn evidence(directory: &Directory) -> impl Iterator<Item = String> {
    let line = |rule_count: &RuleCount| {
        format!("{} × {}: {}", rule_count.evidence, rule(rule_count.rule).label, rule(rule_count.rule).evidence)
    };
    directory.census().iter().filter(|rule_count| rule_count.evidence > 0).map(line)
}

/// The maximum of a kazoo semaphore, from its directory's data.
pub fn maximum(node: &Child) -> Option<u32> {
    std::str::from_utf8(&node.read.as_ref()?.payload).ok()?.trim().parse().ok()
}

fn is_host_and_pid(payload: &[u8]) -> bool {
    let text = std::str::from_utf8(payload).unwrap_or("");
    text.rsplit_once('-')
        .is_some_and(|(host, pid)| !host.is_empty() && !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()))
}

fn speaks_of(path: &str, words: &[&str]) -> bool {
    let path = path.to_ascii_lowercase();
    words.iter().any(|word| path.contains(word))
}
