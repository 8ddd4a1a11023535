//! Which contenders a client looks at when it decides whether it holds. Clients of several libraries may share
//! a directory; most look only at names of their own kind and do not see the others.

/// The names a client sorts by. Named after the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Curator `StandardLockInternalsDriver` with `lock-`: sorts by what follows `lock-`; other names sort behind.
    CuratorLock,
    /// The same with `latch-`.
    CuratorLatch,
    /// The same with `__READ__` and `__WRIT__`.
    CuratorReadWrite,
    /// kazoo `Lock`: only names with `__lock__` or `__rlock__` (`extra_lock_patterns` is not known to us).
    Kazoo,
    /// Any name that ends in `lock-` and a number.
    Lock,
    /// Everything that ends in a number: ZooKeeper's own recipes, go-zookeeper, home-made clients.
    All,
}

impl Dialect {
    /// Whether clients of this dialect see names of another.
    pub fn sees(self, other: Self) -> bool {
        match self {
            Self::CuratorLock => matches!(other, Self::CuratorLock | Self::Lock),
            Self::CuratorLatch | Self::CuratorReadWrite | Self::Kazoo => self == other,
            Self::Lock | Self::All => true,
        }
    }

    /// Sorts numbers as text, so that a negative number comes before every other (CURATOR `fixForSorting`,
    /// kazoo `_get_sorted_children`; see ZOOKEEPER-2944 for how numbers become negative).
    pub fn sorts_as_text(self) -> bool {
        matches!(self, Self::CuratorLock | Self::CuratorLatch | Self::CuratorReadWrite | Self::Kazoo)
    }

    /// Its clients watch the data or existence of the znode they wait for, always: Curator's `LockInternals` and
    /// `LeaderLatch`, kazoo's `Lock`. Of the others some watch the list of children, or poll.
    pub fn watches_the_one_before(self) -> bool {
        matches!(self, Self::CuratorLock | Self::CuratorLatch | Self::CuratorReadWrite | Self::Kazoo)
    }

    /// Only a strictly lower number blocks: all of the lowest hold, once the counter sticks at 2147483647.
    /// Elsewhere the rest of the name decides.
    pub fn ties_all_hold(self) -> bool {
        self.sorts_as_text()
    }
}
