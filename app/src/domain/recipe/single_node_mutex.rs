//! One fixed ephemeral znode: whoever managed to create it holds, everybody else watches it or its parent.
//! The waiters have no znode, so the tree alone can't show them.
//!
//! Source: the exclusive-lock pattern common in home-made clients, `<root>/lock`.

use super::{Access, Confidence, Family, Place, Recipe, Rule, Ties};

/// `/exclusive_lock/lock`: the lock is the directory.
pub(super) const IN_DIRECTORY: Family = Family {
    recipe: Recipe::SingleNodeMutex,
    access: Access::Exclusive,
    place: Place::FixedInDirectory,
    rules: &[Rule {
        label: "exclusive lock on one znode",
        confidence: Confidence::Medium,
        evidence: "an ephemeral child named `lock`; its creator holds",
        matches: |name| name.full == "lock",
        strong: false,
        ties: Ties::NameDecides,
    }],
};

/// `/locks/orders-lock`: the lock is the znode.
pub(super) const ALONE: Family = Family {
    recipe: Recipe::SingleNodeMutex,
    access: Access::Exclusive,
    place: Place::FixedAlone,
    rules: &[Rule {
        label: "lock on one znode of its own",
        confidence: Confidence::Low,
        evidence: "an ephemeral znode whose name ends in lock or mutex; its creator holds",
        matches: |name| name.number.is_none() && ["lock", "Lock", "LOCK", "mutex", "Mutex"].iter().any(|end| name.full.ends_with(end)),
        strong: false,
        ties: Ties::NameDecides,
    }],
};
