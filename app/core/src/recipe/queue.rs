//! Queues of persistent items; consumers take them in order of priority and number. Consumers have no znode, except
//! with kazoo's `LockingQueue`, where an ephemeral `taken/<item>` says who works on an item.
//!
//! Sources: kazoo `recipe/queue.py`, Curator `DistributedQueue`, ZooKeeper recipes `DistributedQueue`.

use super::{Access, Confidence, Counts, LINE, NodeRole, Recipe, Rule, Shape};

const ITEM: Rule = Rule { recipe: Recipe::Queue, access: Access::Item, role: NodeRole::Item, ..LINE };

/// The family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "kazoo Queue",
        evidence: "names are entry-<priority>-<sequence>",
        matches: |name| name.number.is_some() && is_entry(name.stem),
        composite: Some(Shape::TakenItems),
        ..ITEM
    },
    Rule {
        label: "Curator DistributedQueue",
        evidence: "persistent children named queue-<sequence>",
        matches: |name| name.number.is_some() && name.stem.starts_with("queue-"),
        counts: Counts::WhenUnowned,
        ..ITEM
    },
    Rule {
        label: "ZooKeeper recipes DistributedQueue",
        evidence: "persistent children named qn-<sequence>",
        matches: |name| name.number.is_some() && name.stem == "qn-",
        counts: Counts::WhenUnowned,
        ..ITEM
    },
    Rule {
        label: "queue of persistent items",
        confidence: Confidence::Medium,
        evidence: "persistent children named element, item, task, msg or job and a sequence number",
        matches: |name| {
            name.is_clearly_numbered()
                && ["element", "item", "task", "msg", "job"].iter().any(|word| name.stem.starts_with(word))
        },
        counts: Counts::WhenUnowned,
        ..ITEM
    },
];

/// `entry-<three digits>-`.
fn is_entry(stem: &str) -> bool {
    let priority = stem.strip_prefix("entry-").and_then(|rest| rest.strip_suffix('-'));
    priority.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
