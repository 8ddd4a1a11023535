//! One child: its key, what is believed of it, and sums over many.

use std::borrow::Borrow;
use std::cmp::Ordering;

use crate::recipe::{self, NodeRole, RuleId};
use crate::sequence;
use crate::time::TimeMs;
use crate::znode::{Facts, SessionId, Zxid};

/// Order of children: those without a number first, then by number, then by name. Numbers compare as unsigned: a
/// counter that ran past 2147483647 into negative numbers goes on in the order of creation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChildKey {
    /// Of a child with a number that number, above the highest bit; of another the beginning of its name, so that most
    /// comparisons need not look at the name.
    rank: u64,
    name: Box<str>,
}

/// A key as it is looked for: nothing is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyView<'a> {
    rank: u64,
    name: &'a str,
}

impl<'a> KeyView<'a> {
    pub(super) fn of(name: &'a str) -> Self {
        Self { rank: rank_in(name), name }
    }
}

/// What can be looked for among keys: keys, and names. `BTreeMap` compares what its keys can be borrowed as.
pub(super) trait AsKey {
    fn view(&self) -> KeyView<'_>;
}

impl AsKey for ChildKey {
    fn view(&self) -> KeyView<'_> {
        KeyView { rank: self.rank, name: &self.name }
    }
}

impl AsKey for KeyView<'_> {
    fn view(&self) -> KeyView<'_> {
        *self
    }
}

impl<'a> Borrow<dyn AsKey + 'a> for ChildKey {
    fn borrow(&self) -> &(dyn AsKey + 'a) {
        self
    }
}

impl PartialEq for dyn AsKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl Eq for dyn AsKey + '_ {}

impl PartialOrd for dyn AsKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn AsKey + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.view().cmp(&other.view())
    }
}

const NUMBERED: u64 = 1 << 63;
/// The first number of a counter that ran over, in the order of creation.
const WRAPPED: u32 = 1 << 31;

impl ChildKey {
    /// The key of a name.
    pub fn of(name: &str) -> Self {
        Self::of_name(name.into())
    }

    /// The same of a name that need not be copied.
    pub(super) fn of_name(name: Box<str>) -> Self {
        Self { rank: rank_in(&name), name }
    }

    /// The child's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its sequence number, as in the name.
    pub fn number(&self) -> Option<i32> {
        (self.rank & NUMBERED != 0).then_some((self.rank as u32).cast_signed())
    }

    /// The counter ran over before it.
    pub(super) fn is_wrapped(&self) -> bool {
        self.rank >= NUMBERED | u64::from(WRAPPED)
    }

    /// Comes before every child with this number, and behind every one with a lower number or none.
    pub(super) fn first_of(number: i32) -> Self {
        Self { rank: NUMBERED | u64::from(number.cast_unsigned()), name: "".into() }
    }
}

fn rank_in(name: &str) -> u64 {
    sequence::parse(name).map_or_else(|| rank_of(name), |found| NUMBERED | u64::from(found.number.cast_unsigned()))
}

/// The first bytes of a name as a number that orders as they do, below [`NUMBERED`].
fn rank_of(name: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(name.bytes()).for_each(|(place, byte)| *place = byte);
    u64::from_be_bytes(first) >> 1
}

/// What is believed of one child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// What was read of it; None between its creation event and its first read, and while it is denied.
    pub read: Option<Read>,
    /// Not even its Stat may be read.
    pub denied: bool,
    /// When its creation was seen, or when it was first read.
    pub arrived_at: TimeMs,
    /// The naming rule it fits.
    pub rule: Option<RuleId>,
    /// Counted in its directory's census.
    pub counted: bool,
    /// [`identity_hash`](crate::label::identity_hash) of what was read; 0 while nothing was. Whether two may be the same client is asked all the time.
    pub identity_hash: u16,
}

impl Child {
    /// What its name makes it within its directory.
    pub fn role(&self) -> Option<NodeRole> {
        self.rule.map(|rule| recipe::rule(rule).role)
    }

    /// The session that owns it; None while unread, and when no session does.
    pub fn owner(&self) -> Option<SessionId> {
        self.read.as_ref().and_then(Read::owner)
    }

    /// Its creation was seen, and nothing of it was read yet.
    pub fn is_unread(&self) -> bool {
        self.read.is_none() && !self.denied
    }

    /// Its data or children may not be read.
    pub fn is_unreadable(&self) -> bool {
        self.denied || self.read.as_ref().is_some_and(Read::is_unreadable)
    }

    /// Whether a session owns it; None while unread.
    pub fn is_owned(&self) -> Option<bool> {
        self.read.as_ref().map(|read| read.owner != 0)
    }
}

/// The part of [`Facts`] that is kept for every znode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Identity.
    pub czxid: Zxid,
    owner: i64,
    /// Creation on the ensemble's clock, ms since the Unix epoch.
    pub ctime_ms: i64,
    /// First bytes of the payload; empty when there is none or it may not be read.
    pub payload: Box<[u8]>,
    /// Size of the whole payload, and in the highest bit whether data or children may not be read: of many znodes each
    /// takes eight bytes less that way.
    size: u32,
    /// Data version.
    pub version: i32,
}

const UNREADABLE: u32 = 1 << 31;

impl Read {
    pub(super) fn new(facts: &Facts, unreadable: bool) -> Self {
        let payload = facts.payload.clone().unwrap_or_default();
        Self::of(facts.czxid, facts.owner, facts.ctime_ms, payload, facts.payload_bytes, unreadable, facts.version)
    }

    /// What is kept of a znode, by its parts. `unreadable`: its data or children may not be read.
    pub fn of(
        czxid: Zxid,
        owner: Option<SessionId>,
        ctime_ms: i64,
        payload: Box<[u8]>,
        payload_bytes: u32,
        unreadable: bool,
        version: i32,
    ) -> Self {
        let size = (payload_bytes & !UNREADABLE) | if unreadable { UNREADABLE } else { 0 };
        Self { czxid, owner: owner.map_or(0, |session| session.0), ctime_ms, payload, size, version }
    }

    /// Whether both are of one znode. Its owner never changes, and two histories may give one number to two znodes.
    pub(crate) fn is_same_znode(&self, other: &Self) -> bool {
        (self.czxid, self.owner) == (other.czxid, other.owner)
    }

    /// Size of the whole payload.
    pub fn payload_bytes(&self) -> u32 {
        self.size & !UNREADABLE
    }

    /// Data or children may not be read.
    pub fn is_unreadable(&self) -> bool {
        self.size & UNREADABLE != 0
    }

    /// Owner session; None for a znode that no session owns.
    pub fn owner(&self) -> Option<SessionId> {
        (self.owner != 0).then_some(SessionId(self.owner))
    }
}

/// Sums over znodes, kept up to date by every change so that nobody has to walk a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many.
    pub count: u32,
    /// Those among them that were not read yet.
    pub unread: u32,
    /// Sum of the creation times of those that were read, on the ensemble's clock.
    pub ctime_sum_ms: i64,
    /// Sum of the arrival times of those that were not, on our clock.
    pub arrived_sum_ms: i64,
}

/// Sums wrap around: with absurd instants they are wrong for as long as those are there, and right again afterwards.
impl Totals {
    /// Takes one in.
    pub fn add(&mut self, child: &Child) {
        self.count += 1;
        match &child.read {
            Some(read) => self.ctime_sum_ms = self.ctime_sum_ms.wrapping_add(read.ctime_ms),
            None => {
                self.unread += 1;
                self.arrived_sum_ms = self.arrived_sum_ms.wrapping_add(child.arrived_at.0);
            }
        }
    }

    /// Takes one out that was taken in.
    pub fn remove(&mut self, child: &Child) {
        self.count = self.count.saturating_sub(1);
        match &child.read {
            Some(read) => self.ctime_sum_ms = self.ctime_sum_ms.wrapping_sub(read.ctime_ms),
            None => {
                self.unread = self.unread.saturating_sub(1);
                self.arrived_sum_ms = self.arrived_sum_ms.wrapping_sub(child.arrived_at.0);
            }
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            unread: self.unread + other.unread,
            ctime_sum_ms: self.ctime_sum_ms.wrapping_add(other.ctime_sum_ms),
            arrived_sum_ms: self.arrived_sum_ms.wrapping_add(other.arrived_sum_ms),
        }
    }

    /// What is left without a part of it.
    #[must_use]
    pub fn minus(self, part: Self) -> Self {
        Self {
            count: self.count.saturating_sub(part.count),
            unread: self.unread.saturating_sub(part.unread),
            ctime_sum_ms: self.ctime_sum_ms.wrapping_sub(part.ctime_sum_ms),
            arrived_sum_ms: self.arrived_sum_ms.wrapping_sub(part.arrived_sum_ms),
        }
    }
}
