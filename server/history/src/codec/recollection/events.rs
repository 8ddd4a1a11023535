//! What happened: the events of sessions and the event log.

use lockscope_core::change::{Change, Event, EventRecord};
use lockscope_core::history::{SessionEvent, What};
use lockscope_core::root::RootState;

use super::super::CodecError;
use super::super::coded::{Coded, coded_enum, coded_struct};
use super::super::tables::{Reader, Writer};

coded_enum!(What { Joined = 0, Held = 1, Released = 2, Left = 3, SessionEnded = 4, GoneInGap = 5 });
coded_enum!(RootState { Live = 0, Syncing = 1, Stale = 2, Partial = 3, Denied = 4, Gone = 5, Reduced = 6 });
coded_struct!(SessionEvent { at, session, lock, node, what });
coded_struct!(EventRecord { number, at, what });

const ROOT: u8 = 255;

impl Coded for Event {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::Changed(change) => change.put(out),
            Self::Root(root, state) => {
                out.byte(ROOT);
                root.put(out);
                state.put(out);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        match from.bytes.byte()? {
            ROOT => Ok(Self::Root(Coded::take(from)?, Coded::take(from)?)),
            kind => take_change(from, kind).map(Self::Changed),
        }
    }
}

impl Coded for Change {
    fn put(&self, out: &mut Writer) {
        match self {
            Self::LinkChanged(link) => (0_u8, *link).put(out),
            Self::RootChanged(root) => (1_u8, *root).put(out),
            Self::LockAppeared { lock } => (2_u8, lock.clone()).put(out),
            Self::LockVanished { lock } => (3_u8, lock.clone()).put(out),
            Self::Arrived { lock, node } => (4_u8, (lock.clone(), node.clone())).put(out),
            Self::Identified { lock, czxid, owner } => (5_u8, (lock.clone(), (*czxid, *owner))).put(out),
            Self::Left { lock, node, czxid, owner, how } => {
                (6_u8, (lock.clone(), node.clone())).put(out);
                (*czxid, (*owner, *how)).put(out);
            }
            Self::HolderChanged { lock, node } => (7_u8, (lock.clone(), node.clone())).put(out),
            Self::SessionEnded { session, znodes } => (8_u8, (*session, *znodes)).put(out),
            Self::EvidenceChanged => out.byte(9),
            Self::DeadlockChanged { locks, is_closed } => (10_u8, (locks.clone(), *is_closed)).put(out),
            Self::FindingChanged { lock, code, is_raised } => (11_u8, (lock.clone(), (*code, *is_raised))).put(out),
            Self::VerdictChanged { lock, verdict } => (12_u8, (lock.clone(), *verdict)).put(out),
            Self::LockTouched { lock } => (13_u8, lock.clone()).put(out),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let kind = from.bytes.byte()?;
        take_change(from, kind)
    }
}

fn take_change(from: &mut Reader<'_>, kind: u8) -> Result<Change, CodecError> {
    Ok(match kind {
        0 => Change::LinkChanged(Coded::take(from)?),
        1 => Change::RootChanged(Coded::take(from)?),
        2 => Change::LockAppeared { lock: Coded::take(from)? },
        3 => Change::LockVanished { lock: Coded::take(from)? },
        4 => Change::Arrived { lock: Coded::take(from)?, node: Coded::take(from)? },
        5 => Change::Identified { lock: Coded::take(from)?, czxid: Coded::take(from)?, owner: Coded::take(from)? },
        6 => Change::Left {
            lock: Coded::take(from)?,
            node: Coded::take(from)?,
            czxid: Coded::take(from)?,
            owner: Coded::take(from)?,
            how: Coded::take(from)?,
        },
        7 => Change::HolderChanged { lock: Coded::take(from)?, node: Coded::take(from)? },
        8 => Change::SessionEnded { session: Coded::take(from)?, znodes: Coded::take(from)? },
        9 => Change::EvidenceChanged,
        10 => Change::DeadlockChanged { locks: Coded::take(from)?, is_closed: Coded::take(from)? },
        11 => {
            Change::FindingChanged { lock: Coded::take(from)?, code: Coded::take(from)?, is_raised: Coded::take(from)? }
        }
        12 => Change::VerdictChanged { lock: Coded::take(from)?, verdict: Coded::take(from)? },
        13 => Change::LockTouched { lock: Coded::take(from)? },
        _ => return Err(CodecError::Malformed("unknown Change")),
    })
}
