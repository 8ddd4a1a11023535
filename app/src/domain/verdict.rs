//! The one word on a lock.

/// Worst last. Meanings as in the wire's enum of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as on the wire, documented there")]
pub enum Verdict {
    Free,
    Healthy,
    Unknown,
    Slow,
    Expiring,
    NobodyHome,
    Orphan,
    Stuck,
    DoubleOwner,
    Deadlocked,
}
