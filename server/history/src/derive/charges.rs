//! To whom a wait is charged: to who held at each instant of it, and to who those waited for in the end.
//!
//! Several that hold at once share evenly. A share is counted in millionths of a millisecond and rounded once, so that all
//! charges of a wait, the time when nobody held, and the time of which nothing is known make the wait, to the millisecond.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockscope_core::keyed_hash::KeyedMap;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;

use super::holder_log::{HeldBy, Holder, HolderLog, Totals, WaitRange};
use super::lock::LockState;
use super::sessions::Sessions;
use crate::store::rows::{Charge, Charged, Charges};

/// Sessions that a wait names, those charged most. Overflow policy: what further ones are charged is one number.
pub const CHARGES_MAX: usize = 8;
/// Parts of a millisecond.
const PARTS: i64 = 1_000_000;
/// Sessions that a charge is passed on over. Overflow policy: it stays with the last.
const PASSED_MAX: usize = 16;
/// Waits and pieces of time that are looked at to pass on what one wait is charged: so many at most, and so many in any
/// case. Overflow policy: what is left stays where it is.
const LOOKS_MAX: u32 = 8_192;
const LOOKS_MIN: u32 = 64;
/// The same of all waits together, a millisecond, and how many are saved up: sessions that wait in many locks for each other
/// would take any time there is.
const LOOKS_A_MS: i64 = 100;
const LOOKS_SAVED_MAX: i64 = 400_000;

/// How much may be looked at to pass on charges.
#[derive(Debug)]
pub(super) struct Allowance {
    looks: i64,
    at: TimeMs,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { looks: LOOKS_SAVED_MAX, at: TimeMs(0) }
    }
}

impl Allowance {
    /// Looks for a wait that is over now.
    fn of_wait(&mut self, now: TimeMs) -> u32 {
        let more = now.since(self.at).saturating_mul(LOOKS_A_MS);
        self.looks = self.looks.saturating_add(more).min(LOOKS_SAVED_MAX);
        self.at = self.at.max(now);
        u32::try_from(self.looks).unwrap_or(0).clamp(LOOKS_MIN, LOOKS_MAX)
    }

    fn spend(&mut self, looks: u32) {
        self.looks = self.looks.saturating_sub(i64::from(looks)).max(0);
    }
}

/// Parts, by who is charged.
type Parts = BTreeMap<Holder, i64>;

pub(super) fn charges_of(
    locks: &KeyedMap<Arc<str>, LockState>,
    sessions: &Sessions,
    lock: &HolderLog,
    wait: WaitRange,
    allowance: &mut Allowance,
) -> Charges {
    let WaitRange { from, until, before } = wait;
    let wait_ms = until.since(from);
    let Totals { held_ms, free_ms } = lock.totals_at(until).since(before);
    let (mut direct, mut root, mut seen) = (Parts::new(), Parts::new(), Totals::default());
    let looks = allowance.of_wait(until);
    let mut walk = Walk { locks, sessions, looks };
    lock.pieces(from, until, &mut |from, until, by| {
        seen.add(by, until.since(from));
        let shares = shares(by, PARTS);
        for (holder, share) in shares {
            add(&mut direct, holder, from, until, share);
            match holder {
                Holder::Session(session) => {
                    walk.pass(session, (from, until), share, &mut Vec::new(), &mut root);
                }
                Holder::Unread(_) => add(&mut root, holder, from, until, share),
            }
        }
    });
    allowance.spend(looks - walk.looks);
    // Of pieces that are forgotten only the sums are known.
    let held_ms = held_ms.max(seen.held_ms).clamp(0, wait_ms);
    let hand_off_ms = free_ms.max(seen.free_ms).clamp(0, wait_ms - held_ms);
    Charges {
        direct: listed(&direct, held_ms),
        root: listed(&root, held_ms),
        hand_off_ms,
        unknown_ms: wait_ms - held_ms - hand_off_ms,
    }
}

/// What each of those who held has of a whole; all have all of it, unless there are more than are kept.
fn shares(by: &HeldBy, whole: i64) -> impl Iterator<Item = (Holder, i64)> {
    let (some, count) = by.holders();
    let count = i64::from(count.max(1));
    let rest = whole % count;
    (0..).zip(some).map(move |(at, holder)| (*holder, whole / count + i64::from(at < rest)))
}

fn add(parts: &mut Parts, holder: Holder, from: TimeMs, until: TimeMs, share: i64) {
    let of = parts.entry(holder).or_default();
    *of = of.saturating_add(until.since(from).saturating_mul(share));
}

/// In whole milliseconds that make the sum, the largest first.
fn listed(parts: &Parts, sum_ms: i64) -> Charged {
    let session = |(holder, parts): (&Holder, &i64)| match holder {
        Holder::Session(session) => Some((*session, *parts)),
        Holder::Unread(_) => None,
    };
    let known: Vec<(SessionId, i64)> = parts.iter().filter_map(session).collect();
    let known_parts: i64 = known.iter().map(|(_, parts)| parts).sum();
    let others = sum_ms.saturating_mul(PARTS).saturating_sub(known_parts).max(0);
    let mut others_ms = others / PARTS;
    let mut left_ms = sum_ms - others_ms - known.iter().map(|(_, parts)| parts / PARTS).sum::<i64>();
    let mut by_fraction: Vec<usize> = (0..known.len()).collect();
    let fraction = |at: &usize| known.get(*at).map_or(0, |(_, parts)| parts % PARTS);
    by_fraction.sort_by_key(|at| std::cmp::Reverse(fraction(at)));
    let mut charges: Vec<Charge> =
        known.iter().map(|(session, parts)| Charge { session: *session, ms: parts / PARTS }).collect();
    for at in by_fraction {
        if let Some(charge) = charges.get_mut(at).filter(|_| left_ms > 0) {
            charge.ms += 1;
            left_ms -= 1;
        }
    }
    others_ms += left_ms;
    charges.retain(|charge| charge.ms > 0);
    charges.sort_by_key(|charge| (std::cmp::Reverse(charge.ms), charge.session));
    others_ms += charges.iter().skip(CHARGES_MAX).map(|charge| charge.ms).sum::<i64>();
    charges.truncate(CHARGES_MAX);
    Charged { to: charges, others_ms }
}

/// Passes charges on along what holders waited for.
struct Walk<'a> {
    locks: &'a KeyedMap<Arc<str>, LockState>,
    sessions: &'a Sessions,
    looks: u32,
}

impl Walk<'_> {
    /// Whether there are so many looks left; they are done then.
    fn may_look(&mut self, looks: usize) -> bool {
        let left = u32::try_from(looks).ok().and_then(|looks| self.looks.checked_sub(looks));
        self.looks = left.unwrap_or(0);
        left.is_some()
    }

    /// What a holder has of a piece of time: its own where it waited for nothing, else that of those it waited for.
    /// `over` are those over whom it came here, the one who held directly first.
    fn pass(
        &mut self,
        session: SessionId,
        (from, until): (TimeMs, TimeMs),
        share: i64,
        over: &mut Vec<SessionId>,
        out: &mut Parts,
    ) {
        let sessions = self.sessions;
        let is_followed = over.len() < PASSED_MAX && self.may_look(1 + sessions.count(session));
        let waits = if is_followed { sessions.waits(session, from, until) } else { Vec::new() };
        if waits.is_empty() {
            return add(out, Holder::Session(session), from, until, share);
        }
        let mut cuts: Vec<TimeMs> = waits.iter().flat_map(|(_, from, until)| [*from, *until]).collect();
        cuts.extend([from, until]);
        cuts.sort_unstable();
        cuts.dedup();
        if !self.may_look(waits.len() * (cuts.len() - 1)) {
            return add(out, Holder::Session(session), from, until, share);
        }
        over.push(session);
        let mut next = Next::default();
        for (begin, end) in cuts.iter().zip(cuts.iter().skip(1)) {
            let mut locks: Vec<&Arc<str>> = Vec::new();
            for (lock, ..) in waits.iter().filter(|(_, from, until)| from <= begin && end <= until) {
                if !locks.contains(lock) {
                    locks.push(lock);
                }
            }
            if locks.is_empty() {
                add(out, Holder::Session(session), *begin, *end, share);
            }
            let count = locks.len().max(1) as i64;
            for (at, lock) in (0..).zip(locks) {
                let part = share / count + i64::from(at < share % count);
                self.through(lock, (*begin, *end), part, over, &mut next, out);
            }
        }
        for (session, range, share) in next.0 {
            self.pass(session, range, share, over, out);
        }
        over.pop();
    }

    /// The same, for what a session waited for in one lock: to whom it is passed on next.
    fn through(
        &mut self,
        lock: &Arc<str>,
        (from, until): (TimeMs, TimeMs),
        share: i64,
        over: &[SessionId],
        next: &mut Next,
        out: &mut Parts,
    ) {
        let (first, last) = (over.first().copied(), over.last().copied());
        let stays = |session: Option<SessionId>| Holder::Session(session.unwrap_or(SessionId(0)));
        let (mut unseen_ms, mut looks) = (until.since(from), 0);
        if let Some(lock) = self.locks.get(lock) {
            lock.log().pieces(from, until, &mut |from, until, by| {
                unseen_ms -= until.since(from);
                looks += 1;
                let (some, count) = by.holders();
                if some.is_empty() || !lock.is_waited_for(count) {
                    return add(out, stays(last), from, until, share);
                }
                for (holder, part) in shares(by, share) {
                    match holder {
                        // Where they wait in a circle nobody waits for nobody.
                        Holder::Session(session) if over.contains(&session) => {
                            add(out, stays(first), from, until, part);
                        }
                        Holder::Session(session) => next.add(session, (from, until), part),
                        Holder::Unread(_) => add(out, holder, from, until, part),
                    }
                }
            });
        }
        self.may_look(looks);
        add(out, stays(last), TimeMs(0), TimeMs(unseen_ms), share);
    }
}

/// To whom is passed on what one session has of a piece of time: what comes of several locks to one session goes on
/// together.
#[derive(Default)]
struct Next(Vec<(SessionId, (TimeMs, TimeMs), i64)>);

impl Next {
    fn add(&mut self, session: SessionId, range: (TimeMs, TimeMs), share: i64) {
        let known = self.0.iter_mut().find(|(other, its, _)| (*other, *its) == (session, range));
        match known {
            Some((_, _, sum)) => *sum = sum.saturating_add(share),
            None => self.0.push((session, range, share)),
        }
    }
}
