//! Circles of waiting: looking for them within a budget, keeping them in line with the model, saying how sure they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Observatory;
use super::waits::{is_waited_for, makes_edges};
use crate::assessment::Deadlock;
use crate::change::Change;
use crate::deadlock::{Cycle, CycleStep};
use crate::time::TimeMs;
use crate::verdict;
use crate::wait_graph::{Budget, Search, Vertex, Wait};
use crate::znode::SessionId;

/// Znodes of one session looked at in one search; a session that owns more is searched that far.
const SPOTS_MAX: usize = 256;
/// Sessions kept to be looked at with the next tick. One beyond that is looked at when it next begins to wait or to
/// hold; a circle it closed is found earlier only from another session in it.
const SUSPECTS_MAX: usize = 1 << 20;
/// Deadlocks reported at most. Beyond that one that only looks like one gives way to one that is certain; else the one
/// found later is not reported, and looked for again when one is resolved.
const CYCLES_MAX: usize = 64;
/// Vertices, edges and znodes looked at within one tick, a few milliseconds' worth; the rest is for the next.
const STEPS_A_TICK: usize = 16_384;

impl Observatory {
    /// The deadlocks there are, and what looks like some.
    pub fn cycles(&self) -> &[Cycle] {
        &self.state.cycles
    }

    /// The deadlocks a lock is part of, the certain first.
    pub fn cycles_of(&self, path: &str) -> impl Iterator<Item = &Cycle> {
        let of = move |is_certain: bool| {
            let certain = self.state.cycles.iter().filter(move |cycle| cycle.is_certain == is_certain);
            certain.filter(move |cycle| cycle.locks().any(|lock| **lock == *path))
        };
        of(true).chain(of(false))
    }

    /// A deadlock in words; sessions go by what their holds say of them.
    pub fn cycle_sentence(&self, cycle: &Cycle) -> String {
        let hold = |session| {
            let step = cycle.steps.iter().find(|step| step.to == session)?;
            self.locks.get(&step.lock)?.holders.iter().find(|hold| hold.owner == Some(session))
        };
        cycle.sentence(|session| hold(session).map_or_else(|| format!("session {session}"), verdict::name_of))
    }

    /// A session began to wait or to hold: it is looked at with the next tick, once, however often that happens. Whether
    /// it has more than one znode.
    pub(super) fn suspect(&mut self, session: SessionId) -> bool {
        let may_be = self.may_be_in_circle(session);
        if may_be && self.state.suspects.len() < SUSPECTS_MAX {
            self.state.suspects.insert(session);
        }
        may_be
    }

    /// A circle needs one that holds and waits.
    fn may_be_in_circle(&self, session: SessionId) -> bool {
        let mut owned = self.roots_of(session).map(|view| view.mirror.owned_up_to(session, 2));
        owned.try_fold(0, |sum, more| if sum + more < 2 { Ok(sum + more) } else { Err(()) }).is_err()
    }

    /// Looks for circles that sessions which began to wait or to hold are in, or lead to, as far as the budget of one
    /// tick goes.
    pub(super) fn search(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let mut search = match self.state.search.take() {
            Some(search) => search,
            None if self.state.suspects.is_empty() => return,
            None => Box::new(Search::new(std::mem::take(&mut self.state.suspects))),
        };
        let mut budget = Budget::new(STEPS_A_TICK);
        if search.find_components(&mut budget, |vertex, budget| self.follow(vertex, budget)) {
            for wait in self
                .state
                .cycles
                .iter()
                .flat_map(|cycle| &cycle.steps)
                .map(|step| (step.from, Arc::clone(&step.lock), step.to))
            {
                search.cover(&wait);
            }
            let mut changed = Vec::new();
            while let Some(circle) = search.next_circle(&mut budget) {
                self.close(now, &circle, (&mut budget, &mut changed), out);
            }
            self.mark_deadlocked(now, &changed, out);
        }
        if search.is_over() {
            search.rest().for_each(|session| {
                self.suspect(session);
            });
        } else {
            self.state.search = Some(search);
        }
    }

    /// What a session waits for; who holds a lock, as far as they may wait for anything themselves.
    fn follow(&self, vertex: &Vertex, budget: &mut Budget) -> Vec<Vertex> {
        match vertex {
            Vertex::Session(session) => {
                let mut locks: Vec<&Arc<str>> = Vec::new();
                for spot in self.spots(*session).take(SPOTS_MAX) {
                    budget.spend(1);
                    if spot.hold.is_none() && makes_edges(spot.lock) {
                        locks.push(&spot.lock.path);
                    }
                }
                locks.dedup();
                locks.into_iter().map(|path| Vertex::Lock(Arc::clone(path))).collect()
            }
            Vertex::Lock(path) => {
                let holders =
                    self.locks.get(path).into_iter().flat_map(|lock| &lock.holders).filter_map(|hold| hold.owner);
                let holders = holders.inspect(|_| budget.spend(1)).filter(|session| self.may_be_in_circle(*session));
                holders.map(Vertex::Session).collect()
            }
        }
    }

    /// Takes in a circle, unless it came apart while others were looked for.
    fn close(
        &mut self,
        now: TimeMs,
        circle: &[Wait],
        (budget, changed): (&mut Budget, &mut Vec<Arc<str>>),
        out: &mut Vec<Change>,
    ) {
        let Some(steps) =
            circle.iter().map(|(from, lock, to)| self.step(*from, lock, *to)).collect::<Option<Vec<CycleStep>>>()
        else {
            circle.iter().for_each(|(session, ..)| {
                self.suspect(*session);
            });
            return;
        };
        let mut spots = |session| {
            let count = self.spots(session).take(SPOTS_MAX).count();
            budget.spend(count);
            count
        };
        let victim = (0..)
            .zip(&steps)
            .min_by_key(|(_, step)| (spots(step.to), std::cmp::Reverse(step.held_since)))
            .map_or(0, |(at, _)| at);
        let is_doubtful = self.is_doubtful(&steps);
        if !self.has_room(is_doubtful, changed, out) {
            return;
        }
        let locks: Vec<Arc<str>> = steps.iter().map(|step| Arc::clone(&step.lock)).collect();
        self.state.cycles.push(Cycle {
            steps,
            since: now,
            victim,
            is_doubtful,
            still_since: now,
            is_certain: !is_doubtful,
        });
        changed.extend(locks.iter().cloned());
        out.push(Change::DeadlockChanged { locks, is_closed: true });
    }

    /// Whether one more may be reported; one that only looks like a deadlock gives way to a certain one.
    fn has_room(&mut self, is_doubtful: bool, changed: &mut Vec<Arc<str>>, out: &mut Vec<Change>) -> bool {
        if self.state.cycles.len() < CYCLES_MAX {
            return true;
        }
        let least = self.state.cycles.iter().rposition(|cycle| !cycle.is_certain).filter(|_| !is_doubtful);
        least.map(|at| self.state.cycles.remove(at)).is_some_and(|cycle| {
            open(&cycle, changed, out);
            true
        })
    }

    /// How one session waits for another in a lock now.
    fn step(&self, from: SessionId, path: &Arc<str>, to: SessionId) -> Option<CycleStep> {
        let lock = self.locks.get(path).filter(|lock| makes_edges(lock))?;
        let hold = lock.holders.iter().find(|hold| hold.owner == Some(to))?;
        let waiter = self.waiting_in(lock, from)?;
        Some(CycleStep {
            from,
            to,
            lock: Arc::clone(&lock.path),
            waiter,
            holder: hold.path().into(),
            held_since: hold.since,
        })
    }

    /// Whether a session has more contenders than a circle explains: one that holds and one that waits.
    fn is_doubtful(&self, steps: &[CycleStep]) -> bool {
        let contends =
            |session| self.spots(session).take(SPOTS_MAX).filter(|spot| is_waited_for(spot.lock)).take(3).count();
        steps.iter().any(|step| contends(step.from) > 2)
    }

    /// Drops the deadlocks of a lock that came apart. Where the same sessions wait for each other by other znodes than
    /// before, it is the same circle, and did not stand still.
    pub(super) fn verify_cycles(&mut self, now: TimeMs, path: &Arc<str>, out: &mut Vec<Change>) {
        if self.state.cycles.is_empty() || self.locks.get(path).is_some_and(|lock| lock.assessment.deadlock.is_none()) {
            return;
        }
        let (mut kept, mut broken, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        for mut cycle in std::mem::take(&mut self.state.cycles) {
            let before = cycle.still_since;
            let stands = self.follow_steps(now, &mut cycle, path);
            if stands && cycle.still_since != before {
                moved.extend(cycle.locks().cloned());
            }
            if stands { &mut kept } else { &mut broken }.push(cycle);
        }
        self.state.cycles = kept;
        for cycle in broken {
            open(&cycle, &mut moved, out);
            // Another circle may have been hidden by this one.
            cycle.sessions().for_each(|session| {
                self.suspect(session);
            });
        }
        self.mark_deadlocked(now, &moved, out);
    }

    /// Brings the steps of a circle in line that go through a lock; false when one is no more.
    fn follow_steps(&self, now: TimeMs, cycle: &mut Cycle, path: &Arc<str>) -> bool {
        for step in cycle.steps.iter_mut().filter(|step| step.lock == *path) {
            if self.stands(step) {
                continue;
            }
            let Some(other) = self.step(step.from, &step.lock, step.to) else { return false };
            *step = other;
            cycle.still_since = now;
            cycle.is_certain = !cycle.is_doubtful;
        }
        true
    }

    /// Whether the same znodes wait and hold.
    fn stands(&self, step: &CycleStep) -> bool {
        let Some(lock) = self.locks.get(&step.lock).filter(|lock| makes_edges(lock)) else { return false };
        let holds = |hold: &crate::lock::Hold| hold.owner == Some(step.to) && hold.since == step.held_since;
        lock.holders.iter().any(|hold| holds(hold) && hold.path() == *step.holder)
            && self.waiting_in(lock, step.from).is_some_and(|waiter| waiter == step.waiter)
    }

    /// Says anew how sure the circles are: sessions in them may have begun or ended to contend elsewhere, and one that
    /// stands still for longer than its locks are ever held is certain.
    pub(super) fn judge_cycles(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let mut changed: Vec<Arc<str>> = Vec::new();
        for at in 0..self.state.cycles.len() {
            let Some(cycle) = self.state.cycles.get(at) else { return };
            let is_doubtful = self.is_doubtful(&cycle.steps);
            let is_certain = !is_doubtful || now.since(cycle.still_since) >= self.stuck_ms(cycle);
            let Some(cycle) = self.state.cycles.get_mut(at) else { return };
            if cycle.is_certain != is_certain {
                changed.extend(cycle.locks().cloned());
            }
            (cycle.is_doubtful, cycle.is_certain) = (is_doubtful, is_certain);
        }
        self.mark_deadlocked(now, &changed, out);
    }

    /// How long all the locks of a circle may be held before the last of them is called stuck.
    fn stuck_ms(&self, cycle: &Cycle) -> i64 {
        let locks = cycle.locks().filter_map(|path| self.locks.get(path));
        locks.map(|lock| self.settings.thresholds.stuck_after_ms(lock)).max().unwrap_or(i64::MAX)
    }

    /// Says of locks whether a circle goes through them: the first that is certain, else the first. Each circle is
    /// walked once and put into words once.
    fn mark_deadlocked(&mut self, now: TimeMs, locks: &[Arc<str>], out: &mut Vec<Change>) {
        let mut marks: BTreeMap<Arc<str>, Option<Deadlock>> =
            locks.iter().map(|path| (Arc::clone(path), None)).collect();
        if marks.is_empty() {
            return;
        }
        for is_certain in [true, false] {
            for cycle in self.state.cycles.iter().filter(|cycle| cycle.is_certain == is_certain) {
                let mut words: Option<Deadlock> = None;
                for path in cycle.locks() {
                    if let Some(mark) = marks.get_mut(path).filter(|mark| mark.is_none()) {
                        let words = words.get_or_insert_with(|| Deadlock {
                            sentence: self.cycle_sentence(cycle).into(),
                            is_certain,
                        });
                        *mark = Some(words.clone());
                    }
                }
            }
        }
        for (path, deadlock) in marks {
            let Some(lock) = self.locks.get_mut(&path).filter(|lock| lock.assessment.deadlock != deadlock) else {
                continue;
            };
            lock.assessment.deadlock = deadlock;
            lock.revision = self.revision + 1;
            self.judge_again(now, &path, out);
            self.plan_look(now, &path);
        }
    }

    /// After a gap every session that owns several znodes may have come to be in a circle: the next few from one on.
    /// Gives the session to go on with.
    pub(super) fn suspect_from(&mut self, root: super::RootId, from: SessionId, number: usize) -> Option<SessionId> {
        let view = self.roots.get(root.0 as usize)?;
        let some: Vec<SessionId> = view.mirror.sessions_from(from).take(number).map(|(session, _)| session).collect();
        some.iter().for_each(|session| {
            self.suspect(*session);
        });
        some.last().filter(|_| some.len() == number).map(|last| SessionId(last.0.saturating_add(1)))
    }
}

/// A circle is no longer reported.
fn open(cycle: &Cycle, changed: &mut Vec<Arc<str>>, out: &mut Vec<Change>) {
    let locks: Vec<Arc<str>> = cycle.locks().cloned().collect();
    changed.extend(locks.iter().cloned());
    out.push(Change::DeadlockChanged { locks, is_closed: false });
}
