//! Ephemeral sequential children: the lowest number holds, each other waits for the one right before it.
//!
//! Sources: Curator `LockInternals`/`StandardLockInternalsDriver`, kazoo `recipe/lock.py`, ZooKeeper recipes
//! `WriteLock`, go-zookeeper `lock.go`, zookeeper-client `LockPrefix`, and ZooKeeper's own recipe page.

use super::{Access, Confidence, Family, Name, Place, Recipe, Rule, Ties, after_curator_guid, after_hex_uuid};

/// The family.
pub(super) const FAMILY: Family = Family {
    recipe: Recipe::SequentialMutex,
    access: Access::Exclusive,
    place: Place::Sequence,
    rules: &[
        Rule {
            label: "Curator InterProcessMutex or LeaderSelector",
            confidence: Confidence::High,
            evidence: "names are _c_<uuid>-lock-<sequence>; zookeeper-client's new_curator(\"lock-\") writes the same",
            matches: |name| name.number.is_some() && after_curator_guid(name.stem) == Some("-lock-"),
            strong: true,
            ties: Ties::AllHold,
        },
        Rule {
            label: "go-zookeeper Lock",
            confidence: Confidence::High,
            evidence: "names are _c_<32 hex>-lock-<sequence>",
            matches: |name| name.number.is_some() && name.stem.strip_prefix("_c_").and_then(after_hex_uuid) == Some("-lock-"),
            strong: true,
            ties: Ties::NameDecides,
        },
        Rule {
            label: "kazoo Lock",
            confidence: Confidence::High,
            evidence: "names are <32 hex>__lock__<sequence>; kazoo's Election writes the same",
            matches: |name| name.number.is_some() && after_hex_uuid(name.stem) == Some("__lock__"),
            strong: true,
            ties: Ties::AllHold,
        },
        Rule {
            label: "ZooKeeper recipes WriteLock",
            confidence: Confidence::High,
            evidence: "names are x-<session id>-<sequence>",
            matches: |name| name.number.is_some() && is_write_lock(name.stem),
            strong: true,
            ties: Ties::NameDecides,
        },
        Rule {
            label: "plain sequential lock",
            confidence: Confidence::Medium,
            evidence: "ephemeral children with a common prefix and a sequence number",
            matches: is_plain,
            strong: false,
            ties: Ties::NameDecides,
        },
    ],
};

/// `x-<session id in decimal>-`.
fn is_write_lock(stem: &str) -> bool {
    stem.strip_prefix("x-")
        .and_then(|rest| rest.strip_suffix('-'))
        .map(|id| id.strip_prefix('-').unwrap_or(id))
        .is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Any other prefix with a number; it counts only once a session is seen to own it.
fn is_plain(name: &Name<'_>) -> bool {
    name.number.is_some()
}
