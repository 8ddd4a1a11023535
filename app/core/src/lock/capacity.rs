//! How many a lock admits at once, where that is more than one.

use super::Lock;
use crate::mirror::Mirror;
use crate::recipe::{Recipe, Shape, recognise};

/// The most that may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maximum {
    /// Said by the configuration.
    Configured(u32),
    /// Read from ZooKeeper (kazoo keeps it in the semaphore's data).
    Stored(u32),
    /// Not stored: the head of the queue waits while this many hold, so it is not more.
    Seen(u32),
    /// Not stored, and nobody waits.
    Unknown,
}

impl Maximum {
    /// The number, however it is known.
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Configured(number) | Self::Stored(number) | Self::Seen(number) => Some(number),
            Self::Unknown => None,
        }
    }
}

/// How full a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Leases held, members gathered.
    pub used: u32,
    /// The most there can be, or the number a barrier waits for.
    pub max: Maximum,
}

impl Lock {
    /// How full it is; None for recipes that admit one. `configured` is what the configuration says of it.
    pub fn capacity(&self, mirror: &Mirror, configured: Option<u32>) -> Option<Capacity> {
        let known = configured.map(Maximum::Configured);
        match self.recognition.shape {
            Shape::LeasesAndLocks => {
                let seen = self.standing.pending.is_some().then_some(Maximum::Seen(self.standing.holders));
                Some(Capacity { used: self.standing.holders, max: known.or(seen).unwrap_or(Maximum::Unknown) })
            }
            Shape::LeasesAndSibling => {
                let stored = mirror.node(&self.path).and_then(recognise::maximum).map(Maximum::Stored);
                Some(Capacity { used: self.standing.holders, max: known.or(stored).unwrap_or(Maximum::Unknown) })
            }
            Shape::Gathering => Some(Capacity { used: self.contender_count(), max: known.unwrap_or(Maximum::Unknown) }),
            Shape::Line if self.recognition.recipe == Recipe::Semaphore => {
                Some(Capacity { used: self.standing.holders, max: known.unwrap_or(Maximum::Unknown) })
            }
            Shape::Line
            | Shape::LeaderElection
            | Shape::Fixed
            | Shape::Alone
            | Shape::Gate
            | Shape::Items
            | Shape::TakenItems
            | Shape::Group
            | Shape::Idle => None,
        }
    }
}
