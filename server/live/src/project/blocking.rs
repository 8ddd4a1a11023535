//! Who waits in which locks and who holds these, as numbers: for questions that go over several locks. Made in one pass
//! over the contenders of the locks in which somebody waits.

use std::cmp::Reverse;
use std::collections::HashMap;

use lockscope_core::assessment::AssessedLock;
use lockscope_core::lock::Since;
use lockscope_core::znode::SessionId;

use super::{ProjectionContext, count32};

/// Steps that one answer takes at most to count who waits behind whom: what takes more is counted in part.
const STEPS_MAX: usize = 400_000;

/// A session's place in [`Blocking::sessions`].
pub(super) type Number = usize;

#[derive(Default)]
pub(super) struct ContendedLock {
    /// Who waits, and since when.
    pub(super) waiters: Vec<(Number, i64)>,
}

impl ContendedLock {
    pub(super) fn waiters_of(&self, holder: Number) -> impl Iterator<Item = (Number, i64)> + '_ {
        self.waiters.iter().copied().filter(move |(waiter, _)| *waiter != holder)
    }
}

/// A session that waits for another, or is waited for.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) id: SessionId,
    /// The locks it holds in which another waits, by their places.
    pub(super) held: Vec<usize>,
    /// Since when it waits for another; its oldest wait.
    pub(super) waits_since_ms: Option<i64>,
}

/// How many wait behind a session.
#[derive(Clone, Copy, Default)]
pub(super) struct Behind {
    pub(super) count: u32,
    /// Sum of the instants since when they wait.
    pub(super) since_sum_ms: i64,
    pub(super) is_lower_bound: bool,
}

impl Behind {
    pub(super) fn waiting_ms(self, now_ms: i64) -> i64 {
        i64::from(self.count) * now_ms - self.since_sum_ms
    }
}

#[derive(Default)]
pub(super) struct Blocking<'a> {
    pub(super) sessions: Vec<Party>,
    pub(super) locks: Vec<ContendedLock>,
    /// These locks in the model, in the same order.
    models: Vec<&'a AssessedLock>,
    numbers: HashMap<SessionId, Number>,
    /// For each session the last walk that came by.
    seen_in: Vec<u32>,
    walks: u32,
    steps_left: usize,
}

impl<'a> Blocking<'a> {
    pub(super) fn of(look: &ProjectionContext<'a>) -> Self {
        let mut all = Self { steps_left: STEPS_MAX, ..Self::default() };
        for lock in look.locks().filter(|lock| lock.standing.waiting.count > 0 && lock.recognition.counts_as_waiting())
        {
            all.add(look, lock);
        }
        all
    }

    fn add(&mut self, look: &ProjectionContext<'a>, lock: &'a AssessedLock) {
        let mut owners: Vec<SessionId> = lock.holders.iter().filter_map(|hold| hold.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let contenders = look.observatory.mirror_of(lock).into_iter().flat_map(|mirror| lock.contenders(mirror));
        let waiting = contenders
            .filter(|contender| lock.hold_of(contender).is_none())
            .filter_map(|contender| Some((contender.child.owner()?, look.instant(Since::of(contender.child)).0)));
        let waiting: Vec<(SessionId, i64)> =
            waiting.filter(|(waiter, _)| owners.iter().any(|owner| owner != waiter)).collect();
        if waiting.is_empty() {
            return;
        }
        let at = self.locks.len();
        let waiters: Vec<(Number, i64)> = waiting.iter().map(|(id, since_ms)| (self.number(*id), *since_ms)).collect();
        for (waiter, since_ms) in &waiters {
            if let Some(party) = self.sessions.get_mut(*waiter) {
                party.waits_since_ms = party.waits_since_ms.into_iter().chain([*since_ms]).min();
            }
        }
        let is_waited_for = |owner: &SessionId| waiting.iter().any(|(waiter, _)| waiter != owner);
        for owner in owners.into_iter().filter(is_waited_for) {
            let holder = self.number(owner);
            if let Some(party) = self.sessions.get_mut(holder) {
                party.held.push(at);
            }
        }
        self.locks.push(ContendedLock { waiters });
        self.models.push(lock);
    }

    fn number(&mut self, id: SessionId) -> Number {
        let next = self.sessions.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.sessions.push(Party { id, held: Vec::new(), waits_since_ms: None });
            self.seen_in.push(0);
        }
        number
    }

    pub(super) fn party(&self, number: Number) -> Option<&Party> {
        self.sessions.get(number)
    }

    /// The locks a session holds in which another waits.
    pub(super) fn held_by(&self, number: Number) -> impl Iterator<Item = &ContendedLock> {
        self.party(number).into_iter().flat_map(|party| &party.held).filter_map(|at| self.locks.get(*at))
    }

    /// The lock at a place.
    pub(super) fn model(&self, at: usize) -> Option<&'a AssessedLock> {
        self.models.get(at).copied()
    }

    /// Of the locks a session holds, the one in which most wait, and how many others there are.
    pub(super) fn worst_held_by(&self, number: Number) -> Option<(&'a AssessedLock, usize)> {
        let held = &self.party(number)?.held;
        let waiters = |at: &usize| self.locks.get(*at).map_or(0, |lock| lock.waiters.len());
        let worst = held.iter().max_by_key(|at| (waiters(at), Reverse(**at)))?;
        Some((self.model(*worst)?, held.len() - 1))
    }

    /// Those that wait for a session themselves, as sums over its locks.
    pub(super) fn right_behind(&self, number: Number) -> Behind {
        let waiters = self.held_by(number).flat_map(|lock| lock.waiters_of(number));
        waiters.fold(Behind::default(), |sum, (_, since_ms)| Behind {
            count: sum.count.saturating_add(1),
            since_sum_ms: sum.since_sum_ms + since_ms,
            ..sum
        })
    }

    /// Those that wait for a session, those that wait for them, and so on, each counted once; and calls `reached` for
    /// each.
    pub(super) fn behind(&mut self, number: Number, mut reached: impl FnMut(Number)) -> Behind {
        self.walks += 1;
        let walk = self.walks;
        let is_new = |seen: &mut Vec<u32>, at: Number| {
            let slot = seen.get_mut(at).filter(|slot| **slot != walk);
            slot.map(|slot| *slot = walk).is_some()
        };
        let mut behind = Behind::default();
        is_new(&mut self.seen_in, number);
        let mut open = vec![number];
        while let Some(holder) = open.pop() {
            let held = self.sessions.get(holder).into_iter().flat_map(|party| &party.held);
            for lock in held.filter_map(|at| self.locks.get(*at)) {
                if self.steps_left < lock.waiters.len() {
                    behind.is_lower_bound = true;
                    continue;
                }
                self.steps_left -= lock.waiters.len();
                for (waiter, _) in &lock.waiters {
                    if is_new(&mut self.seen_in, *waiter) {
                        behind.count += 1;
                        let since = self.sessions.get(*waiter).and_then(|party| party.waits_since_ms);
                        behind.since_sum_ms += since.unwrap_or_default();
                        reached(*waiter);
                        open.push(*waiter);
                    }
                }
            }
        }
        behind
    }

    /// Sessions that others wait for, those that make others wait longest first.
    pub(super) fn blockers(&self, now_ms: i64) -> Vec<Number> {
        let awaited = (0..).zip(&self.sessions).filter(|(_, party)| !party.held.is_empty());
        let mut ranked: Vec<(i64, Number)> =
            awaited.map(|(number, _)| (self.right_behind(number).waiting_ms(now_ms), number)).collect();
        ranked.sort_by_key(|(waiting_ms, _)| Reverse(*waiting_ms));
        ranked.into_iter().map(|(_, number)| number).collect()
    }

    /// Sessions that wait for another.
    pub(super) fn waiting(&self) -> u32 {
        count32(self.sessions.iter().filter(|party| party.waits_since_ms.is_some()).count())
    }

    /// Sessions that others wait for and that wait for nobody.
    pub(super) fn blocking(&self) -> u32 {
        count32(self.sessions.iter().filter(|party| party.waits_since_ms.is_none()).count())
    }
}

/// Waits for tests, of which no model is made: by number, who waits for which lock, and who holds it.
#[cfg(test)]
pub(super) fn made_up(holders: &[(i64, usize)], waiters: &[(i64, usize, i64)]) -> Blocking<'static> {
    let mut all = Blocking { steps_left: STEPS_MAX, ..Blocking::default() };
    let locks = holders.iter().map(|(_, lock)| lock + 1).max().unwrap_or(0);
    all.locks.resize_with(locks, ContendedLock::default);
    for (id, lock) in holders {
        let number = all.number(SessionId(*id));
        all.sessions[number].held.push(*lock);
    }
    for (id, lock, since_ms) in waiters {
        let number = all.number(SessionId(*id));
        let party = &mut all.sessions[number];
        party.waits_since_ms = party.waits_since_ms.into_iter().chain([*since_ms]).min();
        all.locks[*lock].waiters.push((number, *since_ms));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 holds lock 0, for which 2 and 3 wait; 2 holds lock 1, for which 3 and 4 wait.
    fn chain() -> Blocking<'static> {
        made_up(&[(1, 0), (2, 1)], &[(2, 0, 100), (3, 0, 200), (3, 1, 150), (4, 1, 300)])
    }

    #[test]
    fn who_is_behind_is_counted_once_with_its_oldest_wait() {
        let mut all = chain();
        let mut reached = Vec::new();
        let behind = all.behind(0, |number| reached.push(number));
        assert_eq!((behind.count, behind.since_sum_ms, behind.is_lower_bound), (3, 100 + 150 + 300, false));
        reached.sort_unstable();
        assert_eq!(reached, [1, 2, 3]);
        assert_eq!(behind.waiting_ms(1_000), 3 * 1_000 - 550);
        assert_eq!((all.waiting(), all.blocking()), (3, 1));
        assert_eq!(all.right_behind(0).count, 2);
    }

    #[test]
    fn a_circle_ends() {
        let mut all = made_up(&[(1, 0), (2, 1)], &[(1, 1, 10), (2, 0, 20)]);
        assert_eq!(all.behind(0, |_| ()).count, 1);
        assert_eq!((all.waiting(), all.blocking()), (2, 0));
    }

    #[test]
    fn what_takes_too_long_is_a_lower_bound() {
        let mut all = chain();
        all.steps_left = 3;
        let behind = all.behind(0, |_| ());
        assert_eq!((behind.count, behind.is_lower_bound), (2, true));
    }
}
