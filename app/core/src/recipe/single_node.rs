//! One fixed ephemeral znode: whoever managed to create it holds, everybody else watches it or its parent.
//! The waiters have no znode (HBase's apart), so the tree alone can't show them.
//!
//! Sources: the exclusive-lock pattern common in home-made clients, Hadoop `ActiveStandbyElector`, HBase
//! `ActiveMasterManager`, Kafka `KafkaController`, Helix, ClickHouse `ZooKeeperLock`, kazoo `recipe/lease.py` (its
//! clients take a `Lock` in the same directory for as long as they read and write the lease).

use super::{Access, Confidence, Counts, LINE, NodeRole, Recipe, Rule};

/// Words that end in lock and mean something else.
const OTHER_WORDS: [&str; 4] = ["block", "clock", "unlock", "deadlock"];

const ALONE: Rule = Rule { recipe: Recipe::SingleNodeMutex, role: NodeRole::Alone, counts: Counts::WhenOwned, ..LINE };

/// The family. The last rule takes any ephemeral znode whose name ends in lock or mutex.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "exclusive lock on one znode",
        role: NodeRole::Fixed,
        confidence: Confidence::Medium,
        evidence: "an ephemeral child named `lock`; its creator holds",
        matches: |name| name.full == "lock",
        counts: Counts::WhenOwnedFirst,
        ..ALONE
    },
    Rule {
        label: "kazoo NonBlockingLease",
        access: Access::Lease,
        role: NodeRole::Timed,
        evidence: "a persistent child named lease_holder that says who holds and until when",
        matches: |name| name.full == "lease_holder",
        counts: Counts::WhenUnowned,
        ..ALONE
    },
    Rule {
        label: "Hadoop ZKFC active/standby election",
        evidence: "an ephemeral znode named ActiveStandbyElectorLock; its creator is active",
        matches: |name| name.full == "ActiveStandbyElectorLock",
        leads: true,
        ..ALONE
    },
    Rule {
        label: "HBase active master, or a master on one znode",
        confidence: Confidence::Medium,
        evidence: "an ephemeral znode named master; its creator is active",
        matches: |name| name.full == "master",
        leads: true,
        ..ALONE
    },
    Rule {
        label: "Kafka controller",
        confidence: Confidence::Medium,
        evidence: "an ephemeral znode named controller; its creator is the controller",
        matches: |name| name.full == "controller",
        leads: true,
        ..ALONE
    },
    Rule {
        label: "Helix controller leader",
        confidence: Confidence::Medium,
        evidence: "an ephemeral znode named LEADER; its creator leads",
        matches: |name| name.full == "LEADER",
        leads: true,
        ..ALONE
    },
    Rule {
        label: "lock on one znode of its own",
        confidence: Confidence::Low,
        evidence: "an ephemeral znode whose name ends in lock or mutex; its creator holds",
        matches: |name| name.number.is_none() && ends_in_lock(name.full),
        ..ALONE
    },
];

fn ends_in_lock(name: &str) -> bool {
    let ends = |word: &&str| name.ends_with(*word);
    let is_whole =
        |word: &&str| name.strip_suffix(*word).is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    ["lock", "Lock", "LOCK", "mutex", "Mutex"].iter().any(ends) && !OTHER_WORDS.iter().any(is_whole)
}
