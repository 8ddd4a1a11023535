//! Waits and wake-ups by the members' watch tables.

use super::{Lock, Seat, Target};
use crate::domain::evidence::{Book, Watch};
use crate::domain::mirror::Mirror;
use crate::domain::recipe::{Shape, rule};
use crate::domain::time::TimeMs;
use crate::domain::znode::SessionId;

/// Waiters asked for what they wait for, where no table tells.
const WAITERS_LOOK: usize = 256;
/// An event on the wire, without the path: 4 length, 16 reply header, 4 type, 4 state, 4 length of the path.
const EVENT_BYTES: u64 = 32;

/// How a number of wake-ups is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Counted in every member's table of watches.
    Counted,
    /// From the recipe's rule.
    ByRule,
    /// From some members' tables: at least so many.
    AtLeast,
}

/// What the next release wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// Sessions that get an event.
    pub sessions: u32,
    /// How that is known.
    pub known: Known,
    /// What the events weigh, together.
    pub bytes: u64,
}

impl Lock {
    /// What the watch tables say of one wait. That a watch is missing is said only of clients known to set one on the
    /// znode they wait for; watches on a list of children are in no table.
    pub fn confirm(&self, book: &Book, now: TimeMs, seat: &Seat<'_>, target: &Target<'_>) -> Watch {
        let Some(session) = seat.child.owner() else { return Watch::Unknown };
        let is_lease = matches!(self.recognition.shape, Shape::LeasesAndLocks | Shape::LeasesAndSibling) && *target.directory == self.parts.main;
        if is_lease {
            return Watch::Unknown;
        }
        let since = seat.child.arrived_at.max(self.left_at);
        let must = seat.child.rule.is_some_and(|id| rule(id).dialect.watches_the_one_before());
        match book.watch(now, session, &target.path(), since) {
            Watch::Missing if !must => Watch::Unknown,
            watch => watch,
        }
    }

    /// Sessions that wait at a znode of their lock without a znode of their own, as far as the tables show.
    pub fn hidden_waiters(&self, book: &Book, mirror: &Mirror, now: TimeMs, ours: Option<SessionId>) -> Vec<SessionId> {
        let path = match self.recognition.shape {
            Shape::Alone | Shape::Gate => self.path.to_string(),
            Shape::Fixed => match self.contenders(mirror).next() {
                Some(seat) => seat.path(),
                None => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let mut sessions = book.watchers(now, &path, ours);
        for seat in self.contenders(mirror) {
            seat.child.owner().map(|owner| sessions.remove(&owner));
        }
        sessions.into_iter().collect()
    }

    /// What the release of the first holder wakes; None when nobody holds, or where nothing tells.
    pub fn woken(&self, book: &Book, mirror: &Mirror, now: TimeMs, ours: Option<SessionId>) -> Option<Woken> {
        let holder = self.holders.first()?;
        let path = holder.path();
        let weigh = |sessions: u32, known: Known| Woken { sessions, known, bytes: u64::from(sessions) * (EVENT_BYTES + path.len() as u64) };
        let by_rule = match self.recognition.shape {
            Shape::Line | Shape::Office => Some(self.waiting_for(mirror, &path)),
            // The head of the queue watches the list of leases, in which no table shows it.
            Shape::LeasesAndLocks | Shape::LeasesAndSibling => return Some(weigh(self.waiter_count().min(1), Known::ByRule)),
            // Each watches the list of members.
            Shape::Gathering => return Some(weigh(self.contender_count().saturating_sub(1), Known::ByRule)),
            Shape::Fixed | Shape::Alone | Shape::Gate => None,
            Shape::Items | Shape::TakenItems | Shape::Group | Shape::Idle => return None,
        };
        let counted = || {
            let mut sessions = book.watchers(now, &path, ours);
            holder.owner.map(|owner| sessions.remove(&owner));
            u32::try_from(sessions.len()).unwrap_or(u32::MAX)
        };
        // A table from before the last change of the queue counts those who watched then.
        let is_of_now = |at: &TimeMs| *at > self.left_at && *at > holder.since;
        if book.watches_at(now).is_some_and(|at| is_of_now(&at)) {
            return Some(weigh(counted(), Known::Counted));
        }
        match by_rule {
            Some(number) => Some(weigh(number, Known::ByRule)),
            None => book.some_watches_at().filter(is_of_now).map(|_| weigh(counted(), Known::AtLeast)),
        }
    }

    /// Waiters that by their recipe's rule wait for this znode.
    fn waiting_for(&self, mirror: &Mirror, path: &str) -> u32 {
        if let Some((_, number)) = self.crowd(mirror).filter(|(crowded, _)| crowded == path) {
            return number;
        }
        let waiters = self.contenders(mirror).skip(self.standing.holders as usize).take(WAITERS_LOOK);
        let number = waiters.filter(|seat| self.waits_for(mirror, seat).iter().any(|target| target.path() == path)).count();
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}
