//! What a directory was recognised as: how its znodes lie, of which recipe, by which rule, and what follows from that.

use super::barrier::is_mark;
use super::{Access, Confidence, Recipe, RuleId, rule};
use crate::mirror::{Child, ChildKey};

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
    /// Known to have been used as a lock; empty.
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

impl Recognition {
    pub(super) fn of(id: RuleId, shape: Shape) -> Self {
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
    pub(super) fn by_path(shape: Shape, recipe: Recipe, label: &str, confidence: Confidence) -> Self {
        Self { rule: None, shape, recipe, label: label.into(), confidence, is_configured: false, configured_max: None }
    }

    /// Its holder is a leader, who is meant to stay; others stand by.
    pub fn is_led(&self) -> bool {
        self.recipe == Recipe::Election || self.rule.is_some_and(|id| rule(id).leads)
    }

    /// It is a lock, which is meant to change hands: how long it is held, and who waits for it, matters. A leader is
    /// meant to stay; members, items and barriers are no locks.
    pub fn is_meant_to_pass(&self) -> bool {
        matches!(self.recipe, Recipe::SequentialMutex | Recipe::ReadWrite | Recipe::Semaphore | Recipe::SingleNodeMutex)
            && !self.is_led()
    }

    /// Whether those who wait for it wait for a lock. Items of a queue wait for work, members that gather for each other;
    /// who stands by for a leader waits for nothing to go wrong.
    pub fn counts_as_waiting(&self) -> bool {
        self.is_meant_to_pass() || self.recipe == Recipe::Unknown
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
    pub(super) fn label_as(&self, recipe: Recipe) -> Box<str> {
        let elected =
            self.rule.map(|id| rule(id).elected).filter(|elected| recipe == Recipe::Election && !elected.is_empty());
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

/// How the znodes of a recipe lie when only its path is known; None where that takes more than one directory.
pub(super) fn shape_of(recipe: Recipe) -> Option<Shape> {
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
