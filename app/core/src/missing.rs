//! What is known to be missing from what is shown: one notion, from a directory that was read in part to the totals of
//! all locks. "Nobody waits", 0 and `free` are said only of what misses nothing.

/// One thing that may be there and is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Missing {
    /// Children that may not be read: no event reports when another such child comes or goes.
    UnreadableChildren,
    /// A directory that was not looked through since something may have happened there unseen.
    Unswept,
    /// Waiters that only the members' tables of watches show, and these were not read since the lock changed hands.
    WatchesNotRead,
    /// Waiters that have no znode and may be in no table either: they watch a list of children, or poll.
    WaitersWithoutZnodes,
}

impl Missing {
    /// Every kind, in order.
    pub const ALL: [Self; 4] =
        [Self::UnreadableChildren, Self::Unswept, Self::WatchesNotRead, Self::WaitersWithoutZnodes];

    /// Contenders with znodes may be missing, so that even who holds is not sure.
    pub fn hides_holders(self) -> bool {
        matches!(self, Self::UnreadableChildren | Self::Unswept)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of them, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingSet(u8);

impl MissingSet {
    /// Nothing is missing.
    pub const NONE: Self = Self(0);

    /// The same and one more, where that is so.
    #[must_use]
    pub fn with(self, missing: Missing, is_so: bool) -> Self {
        if is_so { Self(self.0 | missing.bit()) } else { self }
    }

    /// All that is missing from either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether something of this kind is missing.
    pub fn has(self, missing: Missing) -> bool {
        self.0 & missing.bit() != 0
    }

    /// Nothing is missing.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Even who holds is not sure.
    pub fn hides_holders(self) -> bool {
        self.iter().any(Missing::hides_holders)
    }

    /// Each kind, in order.
    pub fn iter(self) -> impl Iterator<Item = Missing> {
        Missing::ALL.into_iter().filter(move |missing| self.has(*missing))
    }
}

impl From<Missing> for MissingSet {
    fn from(missing: Missing) -> Self {
        Self(missing.bit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_the_order_of_its_kinds() {
        let set = MissingSet::from(Missing::WatchesNotRead)
            .with(Missing::UnreadableChildren, true)
            .with(Missing::Unswept, false);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Missing::UnreadableChildren, Missing::WatchesNotRead]);
        assert!(set.hides_holders() && !MissingSet::from(Missing::WaitersWithoutZnodes).hides_holders());
        assert_eq!(MissingSet::NONE.and(set), set);
        for missing in Missing::ALL {
            assert_eq!(MissingSet::from(missing).iter().collect::<Vec<_>>(), [missing]);
        }
    }
}
