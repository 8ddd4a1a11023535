//! One lock: what it was recognised as, who holds it as we saw it, and what was counted. The queue itself
//! stays in the mirror; nothing here grows with its length.

mod capacity;
mod edges;
mod held;
mod line;
mod parts;
mod timed;
mod watchers;
mod woken;

use std::collections::VecDeque;
use std::sync::Arc;

pub use capacity::{Capacity, Maximum};
pub use edges::{TARGETS_MAX, WaitTarget};
pub use held::Held;
pub use parts::{ContenderRef, Parts, lock_paths};
pub use watchers::{Shown, WATCHERS_MAX, Watchers};
pub use woken::{Woken, WokenBasis};

use super::departure::Departure;
use super::evidence::{ClientState, Liveness};
use super::label::label_of;
use super::mirror::{Child, ChildKey, Mirror, Read, Totals};
use super::missing::MissingSet;
use super::offset::ClockOffset;
use super::recipe::{Access, Recognition, Shape};
use super::root::RootId;
use super::tally::{Attempts, Depth, GaveUp, HandOffs, Histogram};
use super::time::TimeMs;
use super::znode::{SessionId, Zxid, join_path};

/// Holders kept one by one; the rest of a large group of readers or members is only counted.
pub const HOLDERS_MAX: usize = 64;
/// Past holders kept; the oldest goes first.
pub const PAST_MAX: usize = 16;

/// One hold, as we saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The directory its znode is in.
    pub directory: Arc<str>,
    /// Znode name.
    pub name: Box<str>,
    /// What it holds.
    pub access: Access,
    /// Identity; None until it is read.
    pub czxid: Option<Zxid>,
    /// Owner; None until it is read, and for a persistent znode.
    pub owner: Option<SessionId>,
    /// Label from its payload, as of `version`.
    pub label: Option<Box<str>>,
    /// Data version.
    pub version: i32,
    /// Holds since, as we saw it.
    pub since: TimeMs,
    /// It held already when we first looked: it may have held for longer.
    pub is_lower_bound: bool,
    /// Its client, as far as the members report it.
    pub peer: Option<Box<ClientState>>,
}

impl Hold {
    /// Full path of its znode.
    pub fn path(&self) -> String {
        join_path(&self.directory, &self.name)
    }

    /// Its client is connected to no member.
    pub fn is_disconnected(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.liveness == Liveness::Disconnected)
    }

    /// The leader says when its session runs out.
    pub fn is_ending(&self) -> bool {
        self.peer.as_ref().and_then(|peer| peer.runs_out).is_some_and(|end| end.is_told)
    }

    /// Its znode is another name for this one.
    pub fn is(&self, directory: &str, key: &ChildKey, child: &Child) -> bool {
        let is_same = |(czxid, read): (Zxid, &Read)| (czxid, self.owner) == (read.czxid, read.owner());
        &*self.name == key.name()
            && &*self.directory == directory
            && self.czxid.zip(child.read.as_ref()).is_none_or(is_same)
    }
}

/// A hold that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastHold {
    /// The hold.
    pub hold: Hold,
    /// When it ended, or when we next looked.
    pub until: TimeMs,
    /// How it ended.
    pub how: Departure,
    /// Sessions that its going woke, by the last tables of watches; None while they were not read.
    pub woke: Option<u32>,
}

/// What was counted since we watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Times somebody new held.
    pub acquisitions: u64,
    /// Contenders that went before they could be read.
    pub owner_unknown: u64,
    /// Holds seen from beginning to end.
    pub holds: Histogram,
    /// Waits seen to end in a hold.
    pub waits: Histogram,
    /// Waiters over time.
    pub depth: Depth,
    /// How often it changes hands.
    pub hand_offs: HandOffs,
    /// Who came and went lately.
    pub attempts: Attempts,
    /// The last holders, newest first.
    pub past: VecDeque<PastHold>,
    /// Times its directory was deleted and made again.
    pub reaped: u32,
}

/// An instant, on the clock it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// A ctime, on the ensemble's clock.
    Created(i64),
    /// An arrival, on ours.
    Arrived(TimeMs),
}

impl Since {
    /// A contender is there since its creation; before its first read, since its arrival.
    pub fn of(child: &Child) -> Self {
        child.read.as_ref().map_or(Self::Arrived(child.arrived_at), |read| Self::Created(read.ctime_ms))
    }

    /// On our clock.
    pub fn to_ours(self, offset: &ClockOffset) -> TimeMs {
        match self {
            Self::Created(ctime_ms) => offset.to_ours(ctime_ms),
            Self::Arrived(at) => at,
        }
    }
}

/// How many hold and wait, as of the last change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Contenders that hold.
    pub holders: u32,
    /// Contenders that wait, and since when in all.
    pub waiting: Totals,
    /// Since when the first in line waits.
    pub oldest: Option<Since>,
    /// A lease that neither holds nor waits and is not listed: only asked for (Curator's semaphore), or run out
    /// (kazoo's `NonBlockingLease`).
    pub pending: Option<Box<str>>,
    /// Those who wait have znodes of their own beside the one that is held (HBase's other masters).
    pub contenders_beside: bool,
    /// What is missing from its directories.
    pub missing: MissingSet,
}

/// One lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its path: what a client was given.
    pub path: Arc<str>,
    /// The root it lies under.
    pub root: RootId,
    /// What it was recognised as.
    pub recognition: Recognition,
    /// Where its znodes are.
    pub parts: Parts,
    /// Who holds it, in queue order; the first [`HOLDERS_MAX`].
    pub holders: Vec<Hold>,
    /// How many hold and wait, by their znodes.
    pub standing: QueueCounts,
    /// Those who wait without a znode.
    pub watchers: Watchers,
    /// Counters.
    pub tally: Tally,
    /// Its directory is gone; since when.
    pub gone_since: Option<TimeMs>,
    /// The kinds of names it was recognised by.
    pub kinds: (u64, u64),
    /// When a contender left last, or might have in a gap: whoever waited for it has begun to wait for another.
    pub left_at: TimeMs,
    /// The observatory's revision at the last change.
    pub revision: u64,
}

impl Lock {
    /// A lock nobody was seen to hold yet.
    pub fn new(path: Arc<str>, root: RootId, recognition: Recognition) -> Self {
        let parts = Parts::of(&path, &recognition);
        Self {
            path,
            root,
            recognition,
            parts,
            holders: Vec::new(),
            standing: QueueCounts::default(),
            watchers: Watchers::default(),
            tally: Tally::default(),
            gone_since: None,
            kinds: (0, 0),
            left_at: TimeMs(i64::MIN),
            revision: 0,
        }
    }

    /// Takes on another recognition at the same path.
    pub fn become_known_as(&mut self, recognition: Recognition) {
        self.parts = Parts::of(&self.path, &recognition);
        self.recognition = recognition;
    }

    /// The end of a slice of depths changes something of it.
    pub(crate) fn has_open_slice(&self) -> bool {
        !(self.tally.depth.is_steady(self.waiters_seen()) && self.tally.hand_offs.is_steady())
    }

    /// How many contend with a znode.
    pub fn contender_count(&self) -> u32 {
        self.standing.holders + self.standing.waiting.count
    }

    /// The hold of a contender that holds and is kept one by one.
    pub fn hold_of(&self, contender: &ContenderRef<'_>) -> Option<&Hold> {
        self.holders.iter().find(|hold| &*hold.name == contender.key.name() && *hold.directory == **contender.directory)
    }

    /// Its first holder's znode as believed.
    pub fn child_of<'a>(&self, mirror: &'a Mirror, hold: &Hold) -> Option<(&'a ChildKey, &'a Child)> {
        mirror.directory(&hold.directory)?.child(&hold.name)
    }

    /// Notes that a contender left: one that waited may have given up. A semaphore's queue is left by those who got a
    /// lease as well; their wait ends there, and how long it was is given.
    pub fn note_departure(
        &mut self,
        mirror: &Mirror,
        offset: &ClockOffset,
        now: TimeMs,
        key: &ChildKey,
        child: &Child,
        held: bool,
    ) -> Option<i64> {
        let (shape, owner) = (self.recognition.shape, child.owner());
        if held
            || !matches!(shape, Shape::Line | Shape::LeaderElection | Shape::LeasesAndLocks | Shape::LeasesAndSibling)
        {
            return None;
        }
        let leases = mirror.directory(&self.parts.main).zip(owner).filter(|_| self.has_leases());
        let has_lease = leases.is_some_and(|(directory, session)| mirror.owned_in(directory, session).next().is_some());
        if !has_lease {
            let label = child.read.as_ref().and_then(|read| label_of(key.name(), &read.payload)).map(Into::into);
            self.tally.attempts.note(GaveUp { at: now, owner, label });
            return None;
        }
        let waited_ms = now.since(offset.to_ours(child.read.as_ref()?.ctime_ms));
        self.tally.waits.note(waited_ms);
        Some(waited_ms)
    }

    /// Those that hold are not those that waited: leases and queue are different znodes.
    pub fn has_leases(&self) -> bool {
        matches!(self.recognition.shape, Shape::LeasesAndLocks | Shape::LeasesAndSibling)
    }

    /// Ends a hold. Its length counts, and is given, only when both ends were seen.
    pub fn end_hold(&mut self, hold: Hold, now: TimeMs, how: Departure) -> Option<i64> {
        let held_ms = (how != Departure::DuringGap && !hold.is_lower_bound).then(|| now.since(hold.since));
        held_ms.into_iter().for_each(|ms| self.tally.holds.note(ms));
        self.tally.past.truncate(PAST_MAX - 1);
        self.tally.past.push_front(PastHold { hold, until: now, how, woke: None });
        held_ms
    }
}
