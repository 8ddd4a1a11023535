//! What a directory is: from the names of its children, its neighbours and its data, to a recipe with the place of
//! each part. Costs a look at the census and at most a few neighbours, never a walk over children.

use std::sync::Arc;

use super::barrier::MARKS;
use super::{Access, Confidence, NodeRole, Recipe, RuleId, is_catch_all, rule};
use crate::mirror::{Child, ChildKey, Directory, Mirror, RuleCount};
use crate::znode::{join_path, split_path};

/// How the znodes of a lock lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One queue of numbered children.
    Line,
    /// `election/` is the queue; an ephemeral `leader` elsewhere says who has taken office (Solr).
    LeaderElection,
    /// One child of a fixed name; the lock is the directory.
    Fixed,
    /// The lock is the znode itself. HBase's other masters wait in the sibling `backup-masters`.
    Alone,
    /// `leases/` hold, `locks/` wait (Curator).
    LeasesAndLocks,
    /// Children hold; the sibling `<directory>-__lock__` waits (kazoo).
    LeasesAndSibling,
    /// One persistent znode that everybody waits for to go.
    Gate,
    /// Members gather until a mark opens the barrier.
    Gathering,
    /// Items of a queue; nobody holds.
    Items,
    /// `entries/` are items, `taken/` says who works on which (kazoo `LockingQueue`).
    TakenItems,
    /// Members of a group; all are in.
    Group,
    /// WokenBasis to have been used as a lock; empty.
    Idle,
}

/// What a directory was recognised as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// The rule most children fit; None for a directory that is only known to have been used, or only configured.
    pub rule: Option<RuleId>,
    /// How its znodes lie.
    pub shape: Shape,
    /// Family.
    pub recipe: Recipe,
    /// What the operator knows it as.
    pub label: Box<str>,
    /// How sure.
    pub confidence: Confidence,
    /// Said by the configuration, whatever the names say.
    pub is_configured: bool,
    /// How many it admits, or waits for, by the configuration.
    pub configured_max: Option<u32>,
}

/// A recognition and where it is at home: the path a client was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The lock's path.
    pub home: Arc<str>,
    /// What it is.
    pub recognition: Recognition,
}

impl Recognition {
    fn of(id: RuleId, shape: Shape) -> Self {
        let rule = rule(id);
        Self {
            rule: Some(id),
            shape,
            recipe: rule.recipe,
            label: rule.label.into(),
            confidence: rule.confidence,
            is_configured: false,
            configured_max: None,
        }
    }

    /// By a path, whatever the names of the children are.
    fn by_path(shape: Shape, recipe: Recipe, label: &str, confidence: Confidence) -> Self {
        Self { rule: None, shape, recipe, label: label.into(), confidence, is_configured: false, configured_max: None }
    }

    /// Its holder is a leader, who is meant to stay; others stand by.
    pub fn is_led(&self) -> bool {
        self.recipe == Recipe::Election || self.rule.is_some_and(|id| rule(id).leads)
    }

    /// It is a lock, which is meant to change hands: how long it is held, and who waits for it, matters. A leader is meant
    /// to stay; members, items and barriers are no locks.
    pub fn is_meant_to_pass(&self) -> bool {
        matches!(self.recipe, Recipe::SequentialMutex | Recipe::ReadWrite | Recipe::Semaphore | Recipe::SingleNodeMutex) && !self.is_led()
    }

    /// Contenders may have any name: it was not recognised by names.
    pub fn takes_any_name(&self) -> bool {
        self.rule.is_none() && self.shape != Shape::Idle
    }

    /// How many of one queue hold at once: more than one only where the configuration calls the queue a semaphore
    /// (Curator's `InterProcessSemaphore` of old, whose names are those of a mutex).
    pub fn admits(&self) -> usize {
        self.configured_max.filter(|_| self.recipe == Recipe::Semaphore).map_or(1, |max| max.max(1) as usize)
    }

    /// Whether a child of its one directory is a contender, where any name may be one.
    pub fn takes(&self, key: &ChildKey, child: &Child) -> bool {
        match self.shape {
            Shape::Line => key.number().is_some(),
            Shape::Items => key.number().is_some() && child.is_owned() != Some(true),
            Shape::Group | Shape::Gathering => child.is_owned() != Some(false) && !is_mark(key.name()),
            _ => false,
        }
    }

    /// What the operator knows it as where it is of another recipe than its names say.
    fn label_as(&self, recipe: Recipe) -> Box<str> {
        let elected = self.rule.map(|id| rule(id).elected).filter(|elected| recipe == Recipe::Election && !elected.is_empty());
        elected.map_or_else(|| self.label.clone(), Into::into)
    }

    /// The same, but what the configuration says it is; its znodes lie as those of that recipe do.
    #[must_use]
    pub fn configured_as(mut self, recipe: Recipe) -> Self {
        if recipe != self.recipe {
            let label = self.label_as(recipe);
            self.label = if label == self.label { format!("{label} (configured)").into() } else { label };
            if let Some(shape) = shape_of(recipe).filter(|shape| is_one_directory(self.shape) && *shape != self.shape) {
                (self.shape, self.rule) = (shape, None);
            }
        }
        self.recipe = recipe;
        self.confidence = Confidence::High;
        self.is_configured = true;
        self
    }

    /// What a contender of some rule wants from this lock.
    pub fn access(&self, own: Option<RuleId>) -> Access {
        let own = own.map_or(Access::Exclusive, |id| rule(id).access);
        match self.recipe {
            Recipe::ReadWrite if own == Access::Read => Access::Read,
            Recipe::ReadWrite => Access::Write,
            Recipe::Election => Access::Leader,
            Recipe::Semaphore => Access::Lease,
            Recipe::Membership | Recipe::DoubleBarrier => Access::Member,
            Recipe::Queue => Access::Item,
            Recipe::SingleNodeMutex if own == Access::Lease => Access::Lease,
            Recipe::SequentialMutex | Recipe::SingleNodeMutex | Recipe::Barrier | Recipe::Unknown => Access::Exclusive,
        }
    }
}

/// The rule that most children of a directory fit; None when nothing in it looks like a lock. Leases that end by
/// the clock come before queues, those before leases, items, members and single znodes, the more frequent rule before the rarer, the more specific before the
/// catch-all.
pub fn leading_rule(directory: &Directory) -> Option<RuleId> {
    let counted = directory.census().iter().filter(|rule_count| rule_count.evidence > 0 && rule(rule_count.rule).role != NodeRole::Alone);
    counted
        .max_by_key(|rule_count| (is_timed(rule_count.rule), rule(rule_count.rule).role, rule_count.evidence, std::cmp::Reverse(rule_count.rule)))
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
        return Some(at(path, Recognition::by_path(Shape::Gathering, Recipe::DoubleBarrier, "double barrier", confidence)));
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

/// How the znodes of a recipe lie when only its path is known; None where that takes more than one directory.
fn shape_of(recipe: Recipe) -> Option<Shape> {
    match recipe {
        Recipe::SequentialMutex | Recipe::ReadWrite | Recipe::Election => Some(Shape::Line),
        Recipe::DoubleBarrier => Some(Shape::Gathering),
        Recipe::Queue => Some(Shape::Items),
        Recipe::Membership => Some(Shape::Group),
        Recipe::Semaphore | Recipe::SingleNodeMutex | Recipe::Barrier | Recipe::Unknown => None,
    }
}

/// Any child of the one directory may be a contender.
fn is_one_directory(shape: Shape) -> bool {
    matches!(shape, Shape::Line | Shape::Items | Shape::Group | Shape::Gathering | Shape::Idle)
}

/// A directory that only the configuration knows, once it has a child that may be a contender.
pub fn recognise_configured(directory: &Directory, recipe: Recipe) -> Option<Recognition> {
    let found = Recognition::by_path(shape_of(recipe)?, recipe, "any names", Confidence::High).configured_as(recipe);
    directory.children().any(|(key, child)| found.takes(key, child)).then_some(found)
}

/// A znode that only the configuration knows as a lock of its own.
pub fn recognise_configured_alone(mirror: &Mirror, parent: &str, name: &str, child: &Child, recipe: Recipe) -> Option<Recognition> {
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
    let reads = directory.census().iter().find(|rule_count| rule_count.totals.count > 0 && rule(rule_count.rule).access == Access::Read);
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
    let says_host = directory.plain().find_map(|(_, child)| child.read.as_ref()).is_some_and(|read| is_host_and_pid(&read.payload));
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

/// A name that opens a double barrier.
pub fn is_mark(name: &str) -> bool {
    MARKS.contains(&name)
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
        return Some(Recognition::of(id, Shape::Alone));
    }
    (!had_children(mirror, parent, name)).then(|| Recognition::of(id, Shape::Gate))
}

fn had_children(mirror: &Mirror, parent: &str, name: &str) -> bool {
    mirror.directory(&join_path(parent, name)).is_some_and(|own| !own.is_empty() || own.stat.is_some_and(|stat| stat.creates_ever > 0))
}

/// An empty directory whose counters show that children came and went, and whose path speaks of locks.
pub fn recognise_idle(path: &str, directory: &Directory) -> Option<Recognition> {
    let used = directory.is_empty() && directory.stat.is_some_and(|stat| stat.children == 0 && stat.creates_ever > 0);
    let is_part = matches!(split_path(path), Some((_, "leases" | "locks" | "entries" | "taken"))) || path.ends_with("-__lock__");
    let spoken = path.to_ascii_lowercase().replace("block", "").replace("clock", "");
    let hinted = !is_part && speaks_of(&spoken, &["lock", "mutex", "leader", "election", "latch"]);
    (used && hinted).then(|| Recognition {
        rule: None,
        shape: Shape::Idle,
        recipe: Recipe::Unknown,
        label: "idle, recipe not seen yet".into(),
        confidence: Confidence::Low,
        is_configured: false,
        configured_max: None,
    })
}

/// The evidence in words: what the names say, a line a kind.
pub fn evidence(directory: &Directory) -> impl Iterator<Item = String> {
    let line = |rule_count: &RuleCount| format!("{} × {}: {}", rule_count.evidence, rule(rule_count.rule).label, rule(rule_count.rule).evidence);
    directory.census().iter().filter(|rule_count| rule_count.evidence > 0).map(line)
}

/// The maximum of a kazoo semaphore, from its directory's data.
pub fn maximum(node: &Child) -> Option<u32> {
    std::str::from_utf8(&node.read.as_ref()?.payload).ok()?.trim().parse().ok()
}

fn is_host_and_pid(payload: &[u8]) -> bool {
    let text = std::str::from_utf8(payload).unwrap_or("");
    text.rsplit_once('-').is_some_and(|(host, pid)| !host.is_empty() && !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()))
}

fn speaks_of(path: &str, words: &[&str]) -> bool {
    let path = path.to_ascii_lowercase();
    words.iter().any(|word| path.contains(word))
}
