//! Which lock recipe a directory follows, told from the names of its children.
//!
//! A family is one file with one [`Family`] value and one line in [`FAMILIES`]. Recognition is incremental:
//! the mirror keeps a census of children by naming rule, so a new child costs one classification.

mod election;
mod sequential_mutex;
mod single_node_mutex;
mod unread;

use super::mirror::Directory;
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

/// How sure a recognition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// Where the znodes of a family stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Children with a sequence number, in one queue.
    Sequence,
    /// One child of a fixed name; the lock is the directory, unless that is `/`.
    FixedInDirectory,
    /// One child of a name of its own; the lock is the znode itself.
    FixedAlone,
    /// Told by name, not read yet: no holder is claimed.
    Unread,
}

/// How contenders with the same sequence number fare; numbers repeat once the counter sticks at 2147483647.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Only a strictly lower number blocks: all of the lowest hold (kazoo and Curator, measured).
    AllHold,
    /// The rest of the name decides (ZooKeeper's WriteLock, zookeeper-client).
    NameDecides,
}

/// A recipe family.
#[derive(Debug)]
pub struct Family {
    /// Its name.
    pub recipe: Recipe,
    /// What a contender of it wants.
    pub access: Access,
    /// Where its znodes stand.
    pub place: Place,
    /// The names it is told by; the first that fits wins.
    pub rules: &'static [Rule],
}

/// One way of naming contenders.
#[derive(Debug)]
pub struct Rule {
    /// What the operator knows it as.
    pub label: &'static str,
    /// How sure the name makes us.
    pub confidence: Confidence,
    /// The evidence in words.
    pub evidence: &'static str,
    /// Whether a name is of this kind.
    pub matches: fn(&Name<'_>) -> bool,
    /// The name says enough by itself: it counts before it was read, and when it is persistent.
    pub strong: bool,
    /// Equal numbers.
    pub ties: Ties,
}

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

/// Names a rule: family and place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleId {
    family: u8,
    rule: u8,
}

/// Every family. Order matters: names are offered to them in turn, the catch-all rule comes last.
const FAMILIES: [&Family; 5] =
    [&unread::FAMILY, &election::FAMILY, &single_node_mutex::IN_DIRECTORY, &single_node_mutex::ALONE, &sequential_mutex::FAMILY];

/// What a directory was recognised as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// The rule most children fit; None for a directory that is only known to have been used.
    pub rule: Option<RuleId>,
    /// Where its contenders stand.
    pub place: Place,
    /// Family.
    pub recipe: Recipe,
    /// What the operator knows it as.
    pub label: Box<str>,
    /// How sure.
    pub confidence: Confidence,
}

/// The rule a name fits.
pub fn rule_of(name: &str) -> Option<RuleId> {
    let found = sequence::parse(name);
    let name = Name { full: name, stem: found.map_or(name, |found| found.stem), number: found.map(|found| found.number) };
    (0_u8..).zip(FAMILIES).find_map(|(family, candidate)| {
        let rule = (0_u8..).zip(candidate.rules).find(|(_, rule)| (rule.matches)(&name))?.0;
        Some(RuleId { family, rule })
    })
}

/// The family of a rule.
pub fn family(id: RuleId) -> &'static Family {
    FAMILIES.get(usize::from(id.family)).copied().unwrap_or(&sequential_mutex::FAMILY)
}

/// A rule by its id; None only for an id from elsewhere.
pub fn rule(id: RuleId) -> Option<&'static Rule> {
    family(id).rules.get(usize::from(id.rule))
}

/// Whether names of this rule count before they are read.
pub fn is_strong(id: RuleId) -> bool {
    rule(id).is_some_and(|rule| rule.strong)
}

/// The rule that most children of a directory fit; None when nothing in it looks like a lock. Queues come
/// before single znodes, the more frequent rule before the rarer, the more specific before the catch-all.
pub fn leading_rule(directory: &Directory) -> Option<RuleId> {
    let counted = directory.census().iter().filter(|(id, count)| *count > 0 && family(*id).place != Place::FixedAlone);
    counted.max_by_key(|(id, count)| (family(*id).place != Place::FixedInDirectory, *count, std::cmp::Reverse(*id))).map(|(id, _)| *id)
}

/// What a directory is, from the census of its children.
pub fn recognise(directory: &Directory) -> Option<Recognition> {
    recognition(leading_rule(directory)?, None)
}

/// A single znode that is a lock of its own.
pub fn alone(id: RuleId) -> Option<Recognition> {
    recognition(id, Some(Place::FixedAlone))
}

fn recognition(id: RuleId, place: Option<Place>) -> Option<Recognition> {
    let rule = rule(id)?;
    let place = place.unwrap_or(family(id).place);
    Some(Recognition { rule: Some(id), place, recipe: family(id).recipe, label: rule.label.into(), confidence: rule.confidence })
}

/// An empty directory whose counters tell that children came and went, and whose path speaks of locks.
pub fn recognise_idle(path: &str, directory: &Directory) -> Option<Recognition> {
    let used = directory.is_empty() && directory.stat.is_some_and(|stat| stat.children == 0 && stat.creates_ever > 0);
    let path = path.to_ascii_lowercase();
    let hinted = ["lock", "mutex", "leader", "election", "latch"].iter().any(|word| path.contains(word));
    (used && hinted).then(|| Recognition {
        rule: None,
        place: Place::Sequence,
        recipe: Recipe::Unknown,
        label: "idle, recipe not seen yet".into(),
        confidence: Confidence::Low,
    })
}

/// The evidence in words: what the names say, a line a kind.
pub fn evidence(directory: &Directory) -> Vec<String> {
    let line = |(id, count): &(RuleId, u32)| rule(*id).map(|rule| format!("{count} × {}: {}", rule.label, rule.evidence));
    directory.census().iter().filter(|(_, count)| *count > 0).filter_map(line).collect()
}

/// `_c_<uuid><rest>`: Curator's protection prefix (`CreateBuilderImpl.PROTECTED_PREFIX`); the rest.
fn after_curator_guid(stem: &str) -> Option<&str> {
    let (guid, rest) = stem.strip_prefix("_c_")?.split_at_checked(36)?;
    let fits = guid.bytes().enumerate().all(|(at, byte)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() });
    fits.then_some(rest)
}

/// `<32 hex><rest>`: kazoo's `uuid4().hex`; the rest.
fn after_hex_uuid(stem: &str) -> Option<&str> {
    let (guid, rest) = stem.split_at_checked(32)?;
    guid.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: Option<(Recipe, &str)>) {
        let found = rule_of(name).and_then(|id| rule(id).map(|rule| (family(id).recipe, rule.label)));
        assert_eq!(found, expect, "{name}");
    }

    #[test]
    fn names_tell_the_recipe() {
        use Recipe::{Election, Queue, ReadWrite, SequentialMutex, SingleNodeMutex};
        check("_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-lock-0000000003", Some((SequentialMutex, "Curator InterProcessMutex or LeaderSelector")));
        check("_c_6f1e2d3c00004a4a8b8b0123456789ab-lock-0000000003", Some((SequentialMutex, "go-zookeeper Lock")));
        check("6f1e2d3c00004a4a8b8b0123456789ab__lock__0000000003", Some((SequentialMutex, "kazoo Lock")));
        check("x-72057655109877762-0000000012", Some((SequentialMutex, "ZooKeeper recipes WriteLock")));
        check("lock-0000000012", Some((SequentialMutex, "plain sequential lock")));
        check("invoices_0000000012", Some((SequentialMutex, "plain sequential lock")));
        check("_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-latch-0000000003", Some((Election, "Curator LeaderLatch")));
        check("n_0000000003", Some((Election, "ZooKeeper recipes LeaderElectionSupport")));
        check("lock", Some((SingleNodeMutex, "exclusive lock on one znode")));
        check("orders-lock", Some((SingleNodeMutex, "lock on one znode of its own")));
        check("_c_6f1e2d3c-0000-4a4a-8b8b-0123456789ab-__WRIT__0000000003", Some((Recipe::Unknown, "Curator InterProcessReadWriteLock")));
        check("entry-100-0000000003", Some((Recipe::Unknown, "kazoo Queue")));
        check("brokers", None);
        assert_ne!(ReadWrite, Queue);
    }
}
