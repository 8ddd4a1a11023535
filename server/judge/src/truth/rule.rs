//! Who holds and who waits: rules of this crate's own, which share nothing with those that are judged.

/// How the children of a directory are a lock. The contenders stand in the order of their sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The lowest sequence number holds, the others wait (Curator's mutex, kazoo's Lock, elections).
    Queue,
    /// The same with readers, who share: those with no writer before them hold.
    ReadWrite,
    /// The lock is a directory whose ephemeral child holds; who waits has no znode, so waiters are not judged.
    FixedChild,
    /// The lock is the ephemeral znode itself, and whoever owns it holds; waiters as before.
    FixedNode,
}
