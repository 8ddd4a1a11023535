//! Who held a lock when: what a waiter's time is charged to.

use std::collections::{BTreeMap, VecDeque};

use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

/// Pieces that a lock keeps. Overflow policy: the oldest go; time in them is charged to nobody in particular.
pub(super) const PIECES_MAX: usize = 512;
/// Pieces that a lock may keep however many locks there are, and that all keep together where each has more.
const PIECES_MIN: usize = 8;
const PIECES_IN_ALL: usize = 1 << 18;
/// How much longer pieces are kept than those need who wait for this lock: whoever held here may have waited for others.
pub(super) const KEPT_MS: i64 = 600_000;
/// Holders of a piece that are kept one by one. Overflow policy: the part of further ones is charged to nobody in
/// particular.
const HOLDERS_MAX: usize = 16;

pub(super) fn pieces_max(locks: usize) -> usize {
    (PIECES_IN_ALL / locks.max(1)).clamp(PIECES_MIN, PIECES_MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    /// A session; a znode that no session owns is of session 0.
    Session(SessionId),
    /// The owner of a znode that was not read yet, by the number of the hold.
    Unread(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeldBy {
    /// Nobody looked.
    Unknown,
    Nobody,
    One(Holder),
    /// The first of them, and how many there were.
    Several {
        some: Box<[Holder]>,
        count: u32,
    },
}

impl HeldBy {
    /// Those that are kept one by one, and how many there were.
    pub(super) fn holders(&self) -> (&[Holder], u32) {
        match self {
            Self::Unknown | Self::Nobody => (&[], 0),
            Self::One(holder) => (std::slice::from_ref(holder), 1),
            Self::Several { some, count } => (some, *count),
        }
    }

    fn replace(&mut self, unread: Holder, holder: Holder) -> bool {
        let places = match self {
            Self::Unknown | Self::Nobody => return false,
            Self::One(one) => std::slice::from_mut(one),
            Self::Several { some, .. } => some,
        };
        let Some(place) = places.iter_mut().find(|one| **one == unread) else { return false };
        *place = holder;
        true
    }
}

/// A piece of time; it begins where the one before ends.
#[derive(Clone, Debug)]
struct Piece {
    until: TimeMs,
    by: HeldBy,
    /// Up to `until`.
    totals: Totals,
}

/// How long somebody held, and nobody, since the log began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) held_ms: i64,
    pub(super) free_ms: i64,
}

/// A wait, and what was counted of its lock before it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitRange {
    pub(super) from: TimeMs,
    pub(super) until: TimeMs,
    pub(super) before: Totals,
}

impl Totals {
    pub(super) fn add(&mut self, by: &HeldBy, ms: i64) {
        match by {
            HeldBy::Unknown => {}
            HeldBy::Nobody => self.free_ms += ms,
            HeldBy::One(_) | HeldBy::Several { .. } => self.held_ms += ms,
        }
    }

    /// The smaller of each.
    pub(super) fn min(self, other: Self) -> Self {
        Self { held_ms: self.held_ms.min(other.held_ms), free_ms: self.free_ms.min(other.free_ms) }
    }

    /// What of it came after an earlier time.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self { held_ms: self.held_ms - earlier.held_ms, free_ms: self.free_ms - earlier.free_ms }
    }
}

#[derive(Debug)]
pub(super) struct HolderLog {
    /// Where the first piece begins.
    from: TimeMs,
    pieces: VecDeque<Piece>,
    /// Where the last one ends.
    since: TimeMs,
    /// Up to `since`.
    totals: Totals,
    /// Who holds now, by their znodes.
    holders: BTreeMap<Box<str>, Holder>,
    next_hold: u64,
}

impl HolderLog {
    pub(super) fn new(now: TimeMs) -> Self {
        Self {
            from: now,
            pieces: VecDeque::new(),
            since: now,
            totals: Totals::default(),
            holders: BTreeMap::new(),
            next_hold: 0,
        }
    }

    pub(super) fn begin(&mut self, node: &str, session: Option<Option<SessionId>>, now: TimeMs) {
        self.close(now);
        let holder = session.map_or(Holder::Unread(self.next_hold), of_session);
        self.next_hold += 1;
        self.holders.insert(node.into(), holder);
    }

    pub(super) fn identify(&mut self, node: &str, session: Option<SessionId>) {
        let Some(holder) = self.holders.get_mut(node).filter(|holder| matches!(holder, Holder::Unread(_))) else {
            return;
        };
        let unread = std::mem::replace(holder, of_session(session));
        let known = *holder;
        for piece in self.pieces.iter_mut().rev() {
            if !piece.by.replace(unread, known) {
                break;
            }
        }
    }

    pub(super) fn end(&mut self, node: &str, now: TimeMs) {
        if self.holders.contains_key(node) {
            self.close(now);
            self.holders.remove(node);
        }
    }

    /// Of the time from what was known last up to now nothing is known.
    pub(super) fn skip(&mut self, known: TimeMs, now: TimeMs) {
        self.close(known.min(now));
        self.push(now, HeldBy::Unknown);
    }

    fn now(&self) -> HeldBy {
        let mut holders = self.holders.values();
        match (self.holders.len(), holders.next()) {
            (_, None) => HeldBy::Nobody,
            (1, Some(one)) => HeldBy::One(*one),
            (count, Some(_)) => HeldBy::Several {
                some: self.holders.values().take(HOLDERS_MAX).copied().collect(),
                count: u32::try_from(count).unwrap_or(u32::MAX),
            },
        }
    }

    fn close(&mut self, now: TimeMs) {
        if now > self.since {
            self.push(now, self.now());
        }
    }

    fn push(&mut self, until: TimeMs, by: HeldBy) {
        if until <= self.since {
            return;
        }
        self.totals.add(&by, until.since(self.since));
        self.since = until;
        match self.pieces.back_mut() {
            Some(last) if last.by == by => (last.until, last.totals) = (until, self.totals),
            _ => self.pieces.push_back(Piece { until, by, totals: self.totals }),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Forgets what lies before an instant, and all beyond so many.
    pub(super) fn forget(&mut self, before: TimeMs, max: usize) {
        while self.pieces.front().is_some_and(|first| first.until <= before) || self.pieces.len() > max {
            let Some(first) = self.pieces.pop_front() else { return };
            self.from = first.until;
        }
    }

    /// How long somebody held, and nobody, up to an instant; of what is forgotten, up to where it ends.
    pub(super) fn totals_at(&self, at: TimeMs) -> Totals {
        let mut totals = self.totals;
        if at >= self.since {
            // Mostly a hold begins right there, and nothing is to be looked for.
            if at > self.since {
                totals.add(&self.now(), at.since(self.since));
            }
            return totals;
        }
        if let Some((from, piece)) = self.pieces_from(self.first_behind(at)).next() {
            totals = piece.totals;
            totals.add(&piece.by, -piece.until.since(from.max(at)));
        }
        totals
    }

    /// The place of the first piece that ends after an instant. Mostly that is among the last: it is looked for from there,
    /// in steps that double.
    fn first_behind(&self, at: TimeMs) -> usize {
        let (mut end, mut step) = (self.pieces.len(), 1);
        while let Some(before) = end.checked_sub(step) {
            if self.pieces.get(before).is_none_or(|piece| piece.until <= at) {
                break;
            }
            (end, step) = (before, 2 * step);
        }
        // All from `end` on end after it, and what is a step before them does not.
        let mut begin = (end + 1).saturating_sub(step);
        while begin < end {
            let middle = begin.midpoint(end);
            match self.pieces.get(middle) {
                Some(piece) if piece.until <= at => begin = middle + 1,
                _ => end = middle,
            }
        }
        end
    }

    /// The pieces from a place on, each with where it begins.
    fn pieces_from(&self, first: usize) -> impl Iterator<Item = (TimeMs, &Piece)> {
        let before = first.checked_sub(1).and_then(|before| self.pieces.get(before));
        let begins = before.map_or(self.from, |before| before.until);
        self.pieces.range(first..).scan(begins, |begins, piece| {
            let from = std::mem::replace(begins, piece.until);
            Some((from, piece))
        })
    }

    /// The pieces that lie in a range, cut to it. What goes on is one of them.
    pub(super) fn pieces(&self, from: TimeMs, until: TimeMs, each: &mut dyn FnMut(TimeMs, TimeMs, &HeldBy)) {
        let pieces = self.pieces_from(self.first_behind(from));
        for (begin, piece) in pieces.take_while(|(begin, _)| *begin < until) {
            let (begin, end) = (begin.max(from), piece.until.min(until));
            if begin < end {
                each(begin, end, &piece.by);
            }
        }
        if until > self.since {
            each(self.since.max(from), until, &self.now());
        }
    }
}

fn of_session(session: Option<SessionId>) -> Holder {
    Holder::Session(session.unwrap_or(SessionId(0)))
}
