//! Ephemeral sequential children: the lowest number holds, each other waits for the one right before it.
//!
//! Sources: Curator `LockInternals`/`StandardLockInternalsDriver`, kazoo `recipe/lock.py`, ZooKeeper recipes
//! `WriteLock`, go-zookeeper `lock.go`, zookeeper-client `LockPrefix`, menagerie `ReentrantZkLock`, and
//! ZooKeeper's own recipe page.

use super::{Confidence, Counts, Dialect, LINE, Rule, after_hex_uuid};

/// The family. The last rule takes any other prefix with a number; it counts only once a session owns it.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "Curator InterProcessMutex or LeaderSelector",
        evidence: "names are _c_<uuid>-lock-<sequence>; zookeeper-client's new_curator(\"lock-\") writes the same",
        matches: |name| name.is_curator("-lock-"),
        dialect: Dialect::CuratorLock,
        ..LINE
    },
    Rule {
        label: "go-zookeeper Lock",
        evidence: "names are _c_<32 hex>-lock-<sequence>",
        matches: |name| {
            name.number.is_some() && name.stem.strip_prefix("_c_").and_then(after_hex_uuid) == Some("-lock-")
        },
        dialect: Dialect::Lock,
        ..LINE
    },
    Rule {
        label: "kazoo Lock",
        evidence: "names are <32 hex>__lock__<sequence>; kazoo's WriteLock and Election write the same",
        matches: |name| name.is_kazoo("__lock__"),
        dialect: Dialect::Kazoo,
        elected: "kazoo Election",
        ..LINE
    },
    Rule {
        label: "ZooKeeper recipes WriteLock",
        evidence: "names are x-<session id>-<sequence>",
        matches: |name| name.number.is_some() && is_write_lock(name.stem),
        ..LINE
    },
    Rule {
        label: "npm zookeeper-client lock",
        confidence: Confidence::Medium,
        evidence: "ephemeral children named -lock<sequence>",
        matches: |name| name.number.is_some() && name.stem == "-lock",
        counts: Counts::WhenOwned,
        ..LINE
    },
    Rule {
        label: "plain sequential lock or menagerie ReentrantZkLock",
        confidence: Confidence::Medium,
        evidence: "ephemeral children named lock-<sequence>; menagerie, ZooKeeper's documentation and zookeeper-client's new_shared(\"lock-\") write the same",
        matches: |name| name.number.is_some() && name.stem == "lock-",
        counts: Counts::WhenOwnedFirst,
        dialect: Dialect::Lock,
        ..LINE
    },
    Rule {
        label: "plain sequential lock",
        confidence: Confidence::Medium,
        evidence: "ephemeral children with a common prefix and a sequence number",
        matches: |name| name.is_clearly_numbered(),
        counts: Counts::WhenOwned,
        elected: "sequential election",
        ..LINE
    },
];

/// `x-<session id in decimal>-`.
fn is_write_lock(stem: &str) -> bool {
    stem.strip_prefix("x-")
        .and_then(|rest| rest.strip_suffix('-'))
        .map(|id| id.strip_prefix('-').unwrap_or(id))
        .is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}
