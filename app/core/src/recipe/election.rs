//! Leader elections: numbered candidates that queue like a mutex, or one fixed znode that says who leads.
//!
//! Sources: Curator `LeaderLatch`, ZooKeeper recipes `LeaderElectionSupport`, Solr `LeaderElector`, ClickHouse
//! `LeaderElection`, ZooKeeper's recipe page ("guid-n_"), Patroni `patroni/dcs/zookeeper.py`.

use super::{Access, Confidence, Counts, Dialect, LINE, NodeRole, Recipe, Rule, RuleId, Shape};

const ELECTION: Rule = Rule { recipe: Recipe::Election, access: Access::Leader, ..LINE };

/// The rule before the one that its neighbours make it.
const LEADER: &str = "leader on one znode";

/// The family.
pub(super) const RULES: &[Rule] = &[
    Rule {
        label: "Curator LeaderLatch",
        evidence: "names are _c_<uuid>-latch-<sequence>; zookeeper-client's new_curator(\"latch-\") writes the same",
        matches: |name| name.is_curator("-latch-"),
        dialect: Dialect::CuratorLatch,
        ..ELECTION
    },
    Rule {
        label: "Solr election",
        evidence: "names are <session id>-<node>-n_<sequence>",
        matches: |name| name.number.is_some() && solr_node(name.stem).is_some(),
        composite: Some(Shape::LeaderElection),
        ..ELECTION
    },
    Rule {
        label: "ClickHouse LeaderElection",
        evidence: "names are leader_election-<sequence>",
        matches: |name| name.number.is_some() && name.stem == "leader_election-",
        ..ELECTION
    },
    Rule {
        label: "ZooKeeper recipes LeaderElectionSupport",
        confidence: Confidence::Medium,
        evidence: "ephemeral children named n_<sequence>",
        matches: |name| name.number.is_some() && name.stem == "n_",
        counts: Counts::WhenOwned,
        ..ELECTION
    },
    Rule {
        label: "sequential election",
        confidence: Confidence::Medium,
        evidence: "ephemeral children named <id>-n_<sequence>, as ZooKeeper's documentation has it",
        matches: |name| name.number.is_some() && name.stem.ends_with("n_"),
        counts: Counts::WhenOwned,
        ..ELECTION
    },
    Rule {
        label: LEADER,
        role: NodeRole::Alone,
        confidence: Confidence::Medium,
        evidence: "an ephemeral znode named leader; its creator leads",
        matches: |name| matches!(name.full, "leader" | "Leader"),
        counts: Counts::WhenOwned,
        ..ELECTION
    },
    // No name alone tells it: its znode is the one above, in a cluster's directory.
    Rule {
        label: "Patroni leader",
        role: NodeRole::Alone,
        evidence: "an ephemeral znode named leader beside members and initialize or config; its data names the leader",
        counts: Counts::WhenOwned,
        ..ELECTION
    },
];

/// What a leader's znode is by the directory it is in: Patroni's `ZooKeeper` class keeps its cluster's `members`,
/// `initialize`, `config` and others beside `leader`. Members watch `leader` and do not contend with a znode of their own.
pub(super) fn by_neighbours(id: RuleId, is_there: impl Fn(&str) -> bool) -> RuleId {
    let is_leader = super::rule(id).label == LEADER;
    if is_leader && is_there("members") && (is_there("initialize") || is_there("config")) {
        return RuleId { rule: id.rule + 1, ..id };
    }
    id
}

/// The node in `<session id in decimal>-<node>-n_`.
pub(super) fn solr_node(stem: &str) -> Option<&str> {
    let (id, node) = stem.strip_suffix("-n_")?.split_once('-')?;
    (id.len() > 9 && !node.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then_some(node)
}
