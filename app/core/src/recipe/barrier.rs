//! Barriers. A plain barrier is one persistent znode: everybody waits while it exists, and watches it. In a double
//! barrier members gather until a mark (`ready`, `start`) lets all enter; how many must gather is nowhere in
//! ZooKeeper.
//!
//! Sources: Curator `DistributedBarrier` and `DistributedDoubleBarrier`, kazoo `recipe/barrier.py`, ZooKeeper's
//! recipe page.

use super::{Access, Confidence, Counts, LINE, NodeRole, Recipe, Rule, after_uuid};

/// Names of the znode that opens a double barrier.
pub(super) const MARKS: [&str; 2] = ["ready", "start"];

/// What the name of a barrier has in it, in letters of any case.
const WORD: &[u8] = b"barrier";

/// The family. kazoo's members are named as its semaphore's leases.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "Curator DistributedDoubleBarrier",
        recipe: Recipe::DoubleBarrier,
        access: Access::Member,
        role: NodeRole::Member,
        confidence: Confidence::Medium,
        evidence: "ephemeral children named <uuid>, with a znode that marks the barrier as open or a path that speaks of barriers",
        matches: |name| after_uuid(name.full) == Some(""),
        counts: Counts::WhenOwned,
        ..LINE
    },
    Rule {
        label: "Curator DistributedBarrier or kazoo Barrier",
        recipe: Recipe::Barrier,
        role: NodeRole::Alone,
        confidence: Confidence::Low,
        evidence: "a persistent znode whose name speaks of a barrier and that never had children",
        matches: |name| name.full.as_bytes().windows(WORD.len()).any(|part| part.eq_ignore_ascii_case(WORD)),
        counts: Counts::WhenUnowned,
        ..LINE
    },
];

/// A name that opens a double barrier.
pub(crate) fn is_mark(name: &str) -> bool {
    MARKS.contains(&name)
}
