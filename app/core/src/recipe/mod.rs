//! How lock recipes name their znodes, and which names see each other.
//!
//! A family is one file with its [`Rule`]s and one line in [`FAMILIES`]. A name fits one rule; a directory is
//! recognised from the census of its children by rule ([`recognise`]), so a new child costs one classification.

mod barrier;
mod election;
mod membership;
mod queue;
mod read_write;
pub mod recognise;
mod recognition;
mod semaphore;
mod sequential_mutex;
mod single_node;
pub mod visibility;

pub(crate) use barrier::is_mark;
pub use recognition::{Recognition, Shape};
pub use visibility::Dialect;

use super::sequence;

/// Recipe family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Recipe {
    SequentialMutex,
    ReadWrite,
    Semaphore,
    SingleNodeMutex,
    Election,
    Barrier,
    DoubleBarrier,
    Queue,
    Membership,
    Unknown,
}

/// What a contender wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Access {
    Exclusive,
    Read,
    Write,
    Lease,
    Leader,
    Member,
    Item,
}

impl Access {
    /// Whether two contenders of one lock can't hold at the same time.
    pub fn excludes(self, other: Self) -> bool {
        !(self == Self::Read && other == Self::Read)
    }
}

/// How sure a recognition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// What a znode of a fitting name is within its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeRole {
    /// The one znode of a lock that is the znode itself.
    Alone,
    /// The one znode of a lock that is its directory.
    Fixed,
    /// A member of a group or of a double barrier.
    Member,
    /// An item of a queue.
    Item,
    /// A semaphore's lease.
    Lease,
    /// In a queue of numbered contenders.
    Line,
    /// A lease that ends by the clock. A queue beside it only guards its taking.
    Timed,
}

/// When a znode of a fitting name is evidence of its recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// The name says enough: before it was read, and when it is persistent.
    ByName,
    /// Once a session is seen to own it.
    WhenOwned,
    /// As before; and beside such, or where such were seen, a persistent one contends as well: the recipe's clients
    /// look at names only, so one that was left behind keeps them waiting.
    WhenOwnedFirst,
    /// Once it is seen that no session owns it.
    WhenUnowned,
}

/// One way of naming contenders.
#[derive(Debug)]
pub struct Rule {
    /// What the operator knows it as.
    pub label: &'static str,
    /// Its family.
    pub recipe: Recipe,
    /// What such a contender wants.
    pub access: Access,
    /// What it is within its directory.
    pub role: NodeRole,
    /// How sure the name makes us.
    pub confidence: Confidence,
    /// The evidence in words.
    pub evidence: &'static str,
    /// Whether a name is of this kind.
    pub matches: fn(&Name<'_>) -> bool,
    /// When it is evidence.
    pub counts: Counts,
    /// Which other names its client looks at.
    pub dialect: Dialect,
    /// What the operator knows it as where it elects a leader; empty where its names don't change.
    pub elected: &'static str,
    /// How the lock lies that it is a part of, where neighbours say that it is.
    pub composite: Option<Shape>,
    /// Its holder leads until it fails, and whoever would take over watches its znode.
    pub leads: bool,
}

/// What most rules have in common; used with `..` in the families' tables.
const LINE: Rule = Rule {
    label: "",
    recipe: Recipe::SequentialMutex,
    access: Access::Exclusive,
    role: NodeRole::Line,
    confidence: Confidence::High,
    evidence: "",
    matches: |_| false,
    counts: Counts::ByName,
    dialect: Dialect::All,
    elected: "",
    composite: None,
    leads: false,
};

/// A name taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// All of it.
    pub full: &'a str,
    /// Without its sequence number.
    pub stem: &'a str,
    /// The number.
    pub number: Option<i32>,
}

impl<'a> Name<'a> {
    fn of(full: &'a str) -> Self {
        let found = sequence::parse(full);
        Self { full, stem: found.map_or(full, |found| found.stem), number: found.map(|found| found.number) }
    }

    /// Numbered, and what stands before the number can't be the beginning of a longer number, as in an instant.
    fn is_clearly_numbered(&self) -> bool {
        self.number.is_some() && !self.stem.ends_with(|char: char| char.is_ascii_digit())
    }

    /// Numbered, and the rest of the name behind Curator's protection prefix is this.
    fn is_curator(&self, rest: &str) -> bool {
        self.number.is_some() && after_curator_guid(self.stem) == Some(rest)
    }

    /// Numbered, and the rest of the name behind kazoo's uuid is this.
    fn is_kazoo(&self, rest: &str) -> bool {
        self.number.is_some() && after_hex_uuid(self.stem) == Some(rest)
    }
}

/// Names a rule: family and place in it. Recordings name rules so as well (`tests/core/checkpoint/rules` lists the
/// places).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleId {
    /// The family, in the order in which names are offered to them.
    pub family: u8,
    /// The place within the family.
    pub rule: u8,
}

impl RuleId {
    /// Its bit in a set of rules.
    pub fn bit(self) -> u64 {
        1_u64.rotate_left(u32::from(self.family) * 8 + u32::from(self.rule))
    }
}

/// Every family. Order matters: names are offered to them in turn, the catch-all rule comes last.
const FAMILIES: [&[Rule]; 8] = [
    read_write::RULES,
    semaphore::RULES,
    election::RULES,
    membership::RULES,
    queue::RULES,
    barrier::RULES,
    single_node::RULES,
    sequential_mutex::RULES,
];

/// The rule a name fits; `owned`: whether a session owns the znode, when that is known.
pub fn rule_of(name: &str, owned: Option<bool>) -> Option<RuleId> {
    let name = Name::of(name);
    (0_u8..).zip(FAMILIES).find_map(|(family, rules)| {
        let rule = (0_u8..).zip(rules).find(|(_, rule)| rule.may_be(owned) && (rule.matches)(&name))?.0;
        Some(RuleId { family, rule })
    })
}

impl Rule {
    /// Whether a znode of this name can be of this rule, given whether a session owns it.
    pub fn may_be(&self, owned: Option<bool>) -> bool {
        match self.counts {
            Counts::ByName | Counts::WhenOwnedFirst => true,
            Counts::WhenOwned => owned != Some(false),
            Counts::WhenUnowned => owned != Some(true),
        }
    }

    /// Whether a znode of this rule is evidence, given whether a session owns it.
    pub fn is_evidence(&self, owned: Option<bool>) -> bool {
        match self.counts {
            Counts::ByName => true,
            Counts::WhenOwned | Counts::WhenOwnedFirst => owned == Some(true),
            Counts::WhenUnowned => owned == Some(false),
        }
    }
}

/// The rule that takes any prefix with a number: it says least.
pub fn is_catch_all(id: RuleId) -> bool {
    usize::from(id.family) + 1 == FAMILIES.len() && usize::from(id.rule) + 1 == sequential_mutex::RULES.len()
}

/// A rule by its id.
pub fn rule(id: RuleId) -> &'static Rule {
    FAMILIES.get(usize::from(id.family)).and_then(|rules| rules.get(usize::from(id.rule))).unwrap_or(&LINE)
}

/// `_c_<uuid><rest>`: Curator's protection prefix (`CreateBuilderImpl.PROTECTED_PREFIX`); the rest.
fn after_curator_guid(stem: &str) -> Option<&str> {
    after_uuid(stem.strip_prefix("_c_")?)
}

/// `<uuid><rest>` with dashes; the rest.
fn after_uuid(stem: &str) -> Option<&str> {
    let (guid, rest) = stem.split_at_checked(36)?;
    let fits = guid
        .bytes()
        .enumerate()
        .all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() });
    fits.then_some(rest)
}

/// `<32 hex><rest>`: kazoo's `uuid4().hex`; the rest.
fn after_hex_uuid(stem: &str) -> Option<&str> {
    let (guid, rest) = stem.split_at_checked(32)?;
    guid.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()).then_some(rest)
}

/// The node that a candidate of Solr's election runs on.
pub fn solr_node(name: &str) -> Option<&str> {
    election::solr_node(sequence::parse(name)?.stem)
}

/// The identifier of a member of kazoo's `ShallowParty`.
pub fn party_identifier(name: &str) -> Option<&str> {
    after_hex_uuid(name)?.strip_prefix('-').filter(|identifier| !identifier.is_empty())
}

/// The GUID by which a client finds its own znode again: Curator's protection id, kazoo's uuid.
pub fn guid_of(name: &str) -> Option<&str> {
    let cut = |rest: &str, start: usize| name.get(start..name.len() - rest.len());
    let curator = after_curator_guid(name).and_then(|rest| cut(rest, 3));
    let go = || name.strip_prefix("_c_").and_then(after_hex_uuid).and_then(|rest| cut(rest, 3));
    curator.or_else(go).or_else(|| after_hex_uuid(name).and_then(|rest| cut(rest, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: Option<(Recipe, &str)>) {
        let found = rule_of(name, None).map(|id| (rule(id).recipe, rule(id).label));
        assert_eq!(found, expect, "{name}");
    }

    #[test]
    fn names_tell_the_recipe() {
        use Recipe::{
            DoubleBarrier, Election, Membership, Queue, ReadWrite, Semaphore, SequentialMutex, SingleNodeMutex,
        };
        check(
            "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000003",
            Some((SequentialMutex, "Curator InterProcessMutex or LeaderSelector")),
        );
        check("_c_6f1e2d3c00004a4a8b8b0123456789ab-lock-0000000003", Some((SequentialMutex, "go-zookeeper Lock")));
        check("6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003", Some((SequentialMutex, "kazoo Lock")));
        check("x-72057655109877762-0000000012", Some((SequentialMutex, "ZooKeeper recipes WriteLock")));
        check("lock-0000000012", Some((SequentialMutex, "plain sequential lock or menagerie ReentrantZkLock")));
        check("-lock0000000012", Some((SequentialMutex, "npm zookeeper-client lock")));
        check("invoices_0000000012", Some((SequentialMutex, "plain sequential lock")));
        check("_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-latch-0000000003", Some((Election, "Curator LeaderLatch")));
        check("n_0000000003", Some((Election, "ZooKeeper recipes LeaderElectionSupport")));
        check("72057655109877762-10.0.0.1:8983_solr-n_0000000003", Some((Election, "Solr election")));
        check("leader_election-0000000003", Some((Election, "ClickHouse LeaderElection")));
        check("lock", Some((SingleNodeMutex, "exclusive lock on one znode")));
        check("orders-lock", Some((SingleNodeMutex, "lock on one znode of its own")));
        check("controller", Some((SingleNodeMutex, "Kafka controller")));
        check(
            "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-__WRIT__0000000003",
            Some((ReadWrite, "Curator InterProcessReadWriteLock")),
        );
        check("6f1e2d3c00004a4a8b8b0123456789ab__rlock__0000000003", Some((ReadWrite, "kazoo ReadLock and WriteLock")));
        check("readLock-0000000003", Some((ReadWrite, "menagerie ReentrantZkReadWriteLock")));
        check("read-0000000003", Some((ReadWrite, "read/write lock of ZooKeeper's documentation")));
        check(
            "_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lease-0000000003",
            Some((Semaphore, "Curator InterProcessSemaphoreV2 or InterProcessSemaphoreMutex")),
        );
        check("6f1e2d3c00004a4a8b8b0123456789ab", Some((Semaphore, "kazoo Semaphore")));
        check("6f1e2d3c-0000-4a4a-8b8b-0123456789ab", Some((DoubleBarrier, "Curator DistributedDoubleBarrier")));
        check("6f1e2d3c00004a4a8b8b0123456789ab__party__0000000003", Some((Membership, "kazoo Party")));
        check("member_0000000003", Some((Membership, "group membership")));
        check("entry-100-0000000003", Some((Queue, "kazoo Queue")));
        check("queue-0000000003", Some((Queue, "Curator DistributedQueue")));
        check("brokers", None);
    }

    #[test]
    fn the_document_names_every_rule() {
        let document = include_str!("../../../../docs/recipes.md");
        for rule in FAMILIES.into_iter().flatten() {
            for label in [rule.label, rule.elected].into_iter().filter(|label| !label.is_empty()) {
                assert!(document.contains(label), "docs/recipes.md has no {label:?}");
            }
        }
    }

    #[test]
    fn the_same_name_may_be_two_things() {
        let label = |owned| rule_of("queue-0000000003", owned).map(|id| rule(id).label);
        assert_eq!(label(Some(false)), Some("Curator DistributedQueue"));
        assert_eq!(label(Some(true)), Some("plain sequential lock"));
        assert_eq!(rule_of("element0000000003", Some(true)).map(|id| rule(id).role), Some(NodeRole::Line));
    }

    #[test]
    fn guids_are_found() {
        assert_eq!(
            guid_of("_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000003"),
            Some("6f1e2d3c-0000-4a4a-8b8b-0123456789ab")
        );
        assert_eq!(
            guid_of("6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003"),
            Some("6f1e2d3c00004a4a8b8b0123456789ab")
        );
        assert_eq!(guid_of("x-72057655109877762-0000000012"), None);
    }
}
