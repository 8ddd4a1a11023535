//! Locks with all that was counted and derived of them.

use lockscope_core::assessment::{AssessedLock, Assessment, Deadlock};
use lockscope_core::departure::Departure;
use lockscope_core::diagnosis::{Finding, Severity, Verdict};
use lockscope_core::lock::{Hold, Lock, Parts, PastHold, QueueCounts, Shown, Since, Tally, Watchers};
use lockscope_core::mirror::Totals;
use lockscope_core::recipe::{Access, Confidence, Recognition, Shape};
use lockscope_core::tally::{Attempts, Depth, GaveUp, HandOffs, Histogram};
use lockscope_core::time::TimeMs;

use super::super::CodecError;
use super::super::coded::{Coded, coded_enum, coded_struct};
use super::super::tables::{Reader, Writer};

coded_enum!(Departure { Deleted = 0, SessionEnded = 1, DuringGap = 2 });
coded_enum!(Severity { Info = 0, Warning = 1, Critical = 2 });
coded_enum!(Verdict {
    Free = 0,
    Healthy = 1,
    Unknown = 2,
    Slow = 3,
    Expiring = 4,
    NobodyHome = 5,
    Orphan = 6,
    Stuck = 7,
    MaybeDeadlocked = 8,
    DoubleOwner = 9,
    Deadlocked = 10,
});
coded_enum!(Shown { Nothing = 0, Some = 1, All = 2 });
coded_enum!(Access { Exclusive = 0, Read = 1, Write = 2, Lease = 3, Leader = 4, Member = 5, Item = 6 });
coded_enum!(Confidence { Low = 0, Medium = 1, High = 2 });
coded_enum!(Shape {
    Line = 0,
    LeaderElection = 1,
    Fixed = 2,
    Alone = 3,
    LeasesAndLocks = 4,
    LeasesAndSibling = 5,
    Gate = 6,
    Gathering = 7,
    Items = 8,
    TakenItems = 9,
    Group = 10,
    Idle = 11,
});
coded_struct!(Deadlock { sentence, is_certain });
coded_struct!(Finding { code, severity, text, paths, since });
coded_struct!(Assessment { verdict, deadlock, findings, suspects, recheck_at, look_at });
coded_struct!(AssessedLock { lock, assessment });
coded_struct!(Recognition { rule, shape, recipe, label, confidence, is_configured, configured_max });
coded_struct!(Hold { directory, name, access, czxid, owner, label, version, since, is_lower_bound, peer });
coded_struct!(PastHold { hold, until, how, woke });
coded_struct!(Histogram { buckets, count });
coded_struct!(Depth { peaks, until_slice, peak });
coded_struct!(HandOffs { counts, shown });
coded_struct!(GaveUp { at, owner, label });
coded_struct!(Attempts { gave_up, lately });
coded_struct!(Tally { acquisitions, owner_unknown, holds, waits, depth, hand_offs, attempts, past, reaped });
coded_struct!(Totals { count, unread, ctime_sum_ms, arrived_sum_ms });
coded_struct!(QueueCounts { holders, waiting, oldest, pending, contenders_beside, missing });
coded_struct!(Watchers { shown, since, before, more, since_sum_ms });

impl Coded for Since {
    fn put(&self, out: &mut Writer) {
        let (kind, at) = match self {
            Self::Created(ctime_ms) => (0, TimeMs(*ctime_ms)),
            Self::Arrived(at) => (1, *at),
        };
        out.byte(kind);
        at.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match from.bytes.byte()? {
            0 => Ok(Self::Created(TimeMs::take(from)?.0)),
            1 => Ok(Self::Arrived(Coded::take(from)?)),
            _ => Err(CodecError::Malformed("unknown Since")),
        }
    }
}

impl Coded for Lock {
    fn put(&self, out: &mut Writer) {
        // Where its znodes are follows from its path and what it is.
        let Self {
            path,
            root,
            recognition,
            parts: _,
            holders,
            standing,
            watchers,
            tally,
            gone_since,
            kinds,
            left_at,
            revision,
        } = self;
        path.put(out);
        root.put(out);
        recognition.put(out);
        holders.put(out);
        standing.put(out);
        watchers.put(out);
        tally.put(out);
        gone_since.put(out);
        kinds.put(out);
        left_at.put(out);
        revision.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let (path, root, recognition) = (Coded::take(from)?, Coded::take(from)?, Coded::take(from)?);
        Ok(Self {
            parts: Parts::of(&path, &recognition),
            path,
            root,
            recognition,
            holders: Coded::take(from)?,
            standing: Coded::take(from)?,
            watchers: Coded::take(from)?,
            tally: Coded::take(from)?,
            gone_since: Coded::take(from)?,
            kinds: Coded::take(from)?,
            left_at: Coded::take(from)?,
            revision: Coded::take(from)?,
        })
    }
}
