//! The closed enums of the core as numbers.

use lockscope_core::configured::Configured;
use lockscope_core::diagnosis::Code;
use lockscope_core::evidence::{Expiry, Fired, Health, MemberRole, Trouble};
use lockscope_core::finding::Limits;
use lockscope_core::missing::{Missing, MissingSet};
use lockscope_core::observation::{Link, LockConfig, RootTrouble};
use lockscope_core::recipe::Recipe;

use super::CodecError;
use super::coded::{Coded, coded_enum, coded_struct};
use super::tables::{Reader, Writer};

coded_enum!(Link { Live = 0, Stale = 1, Lost = 2 });
coded_enum!(RootTrouble { Gone = 0, Denied = 1, Reduced = 2, Partial = 3 });
coded_enum!(Trouble { Off = 0, Denied = 1, Broken = 2, Spared = 3 });
coded_enum!(MemberRole { Leader = 0, Follower = 1, Observer = 2, Standalone = 3, ReadOnly = 4 });
coded_enum!(Recipe {
    SequentialMutex = 0,
    ReadWrite = 1,
    Semaphore = 2,
    SingleNodeMutex = 3,
    Election = 4,
    Barrier = 5,
    DoubleBarrier = 6,
    Queue = 7,
    Membership = 8,
    Unknown = 9,
});
coded_enum!(Code {
    OrphanContender = 0,
    DuplicateSession = 1,
    LeaseLeak = 2,
    DoubleOwnerWindow = 3,
    LeaderMismatch = 4,
    ContainerReaped = 5,
    WaitingForItself = 6,
    ForeignChild = 7,
    ExpiryOverdue = 8,
    MembersDisagree = 9,
    MissingWatch = 10,
    MixedRecipes = 11,
    SequenceOverflow = 12,
    OrderAnomaly = 13,
    RewrittenNode = 14,
    SameClientNewSession = 15,
    OldOwnerConnected = 16,
    NeverExpires = 17,
    EmptyLocks = 18,
    SessionHoards = 19,
    TryLockChurn = 20,
    Herd = 21,
    Deadlock = 22,
    DeepQueue = 23,
    LockOrder = 24,
    MustBeHeld = 25,
    WatchInversion = 26,
    NeverDrains = 27,
    LongTimeout = 28,
    ShortTimeout = 29,
    WillBeReaped = 30,
    ManyZnodes = 31,
    StaleEphemeral = 32,
});
coded_struct!(Configured { pattern, recipe, max });
coded_struct!(LockConfig { configured, limits });
coded_struct!(Fired { changes, watches });
coded_struct!(Health {
    role,
    version,
    zxid,
    watches,
    connections,
    ephemerals,
    outstanding,
    tick_ms,
    deleted,
    children,
    changed,
    packets,
});

/// Which locks must be held is said since version 3.
impl Coded for Limits {
    fn put(&self, out: &mut Writer) {
        let Self {
            off,
            herd_waiters,
            deep_contenders,
            sequence_percent,
            empty_locks,
            hoard_znodes,
            churn_attempts,
            must_be_held,
        } = self;
        off.put(out);
        for number in [herd_waiters, deep_contenders, sequence_percent, empty_locks, hoard_znodes, churn_attempts] {
            number.put(out);
        }
        must_be_held.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            off: Coded::take(from)?,
            herd_waiters: Coded::take(from)?,
            deep_contenders: Coded::take(from)?,
            sequence_percent: Coded::take(from)?,
            empty_locks: Coded::take(from)?,
            hoard_znodes: Coded::take(from)?,
            churn_attempts: Coded::take(from)?,
            must_be_held: if from.version < 3 { Vec::new() } else { Coded::take(from)? },
        })
    }
}

impl Coded for Expiry {
    fn put(&self, out: &mut Writer) {
        let (kind, ms) = match self {
            Self::Running(ms) => (0, ms),
            Self::QuarterHour(ms) => (1, ms),
        };
        out.byte(kind);
        out.i64(*ms);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match from.bytes.byte()? {
            0 => Ok(Self::Running(from.bytes.i64()?)),
            1 => Ok(Self::QuarterHour(from.bytes.i64()?)),
            _ => Err(CodecError::Malformed("unknown Expiry")),
        }
    }
}

impl Coded for MissingSet {
    fn put(&self, out: &mut Writer) {
        out.byte(self.iter().fold(0, |bits, missing| bits | bit(missing)));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let bits = from.bytes.byte()?;
        if bits >> Missing::ALL.len() != 0 {
            return Err(CodecError::Malformed("unknown Missing"));
        }
        Ok(Missing::ALL.into_iter().fold(Self::NONE, |set, missing| set.with(missing, bits & bit(missing) != 0)))
    }
}

fn bit(missing: Missing) -> u8 {
    1 << match missing {
        Missing::UnreadableChildren => 0,
        Missing::Unswept => 1,
        Missing::WatchesNotRead => 2,
        Missing::WaitersWithoutZnodes => 3,
    }
}
