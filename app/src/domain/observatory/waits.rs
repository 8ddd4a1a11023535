//! Who waits for whom across all locks, by session: what a session holds and waits for, and circles of waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Observatory;
use crate::domain::change::Change;
use crate::domain::deadlock::{Cycle, Step, circle, circle_by};
use crate::domain::history::Happening;
use crate::domain::lock::{Lock, Seat, Since, Tenure};
use crate::domain::recipe::{Access, Recipe, Shape};
use crate::domain::time::TimeMs;
use crate::domain::verdict;
use crate::domain::znode::{SessionId, Zxid};

/// Znodes of one session looked at in one search; a session that owns more is searched that far.
const SPOTS_MAX: usize = 256;
/// Sessions kept to be looked at with the next tick. One beyond that is looked at when it next begins to wait or to hold;
/// a circle it closed is found earlier only from another session in it.
const SUSPECTS_MAX: usize = 65_536;
/// Deadlocks told apart; more are not searched for until one comes apart.
const CYCLES_MAX: usize = 64;

/// One znode of a session in one lock.
#[derive(Clone, Debug)]
pub struct Spot<'a> {
    /// The lock.
    pub lock: &'a Lock,
    /// The znode.
    pub seat: Seat<'a>,
    /// It holds; else it waits.
    pub tenure: Option<&'a Tenure>,
    /// What it wants.
    pub access: Access,
    /// Holds since, as we saw it; else waits since.
    pub since: Since,
}

impl Spot<'_> {
    /// Identity of its znode.
    pub fn czxid(&self) -> Option<Zxid> {
        self.seat.child.read.as_ref().map(|read| read.czxid)
    }
}

impl Observatory {
    /// Every session that owns znodes under the roots, with how many.
    pub fn sessions(&self) -> BTreeMap<SessionId, u32> {
        if let [view] = self.roots.as_slice() {
            return view.mirror.sessions().collect();
        }
        let mut sessions = BTreeMap::new();
        for (session, count) in self.roots.iter().flat_map(|view| view.mirror.sessions()) {
            *sessions.entry(session).or_default() += count;
        }
        sessions
    }

    /// How many znodes a session owns under the roots.
    pub fn owned_by(&self, session: SessionId) -> u32 {
        self.roots.iter().map(|view| view.mirror.owned(session)).sum()
    }

    /// What a session holds and waits for in all locks.
    pub fn spots(&self, session: SessionId) -> impl Iterator<Item = Spot<'_>> {
        self.roots.iter().flat_map(move |view| view.mirror.owned_by(session)).filter_map(|(directory, key, child)| {
            let seat = Seat { directory, key, child };
            let own = self.locks.get(&*seat.path()).filter(|lock| lock.is_alone());
            let lock = own.or_else(|| self.lock_at(directory)).filter(|lock| lock.seats(directory, key, child))?;
            let tenure = lock.tenure_of(&seat);
            let since = tenure.map_or_else(|| Since::of(child), |tenure| Since::Arrived(tenure.since));
            Some(Spot { lock, seat, tenure, access: lock.access(&seat), since })
        })
    }

    /// What happened to a session, newest first.
    pub fn happenings(&self, session: SessionId) -> impl Iterator<Item = &Happening> {
        self.history.of(session)
    }

    /// The deadlocks there are.
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles
    }

    /// The deadlocks a lock is part of.
    pub fn cycles_of(&self, path: &str) -> impl Iterator<Item = &Cycle> {
        self.cycles.iter().filter(move |cycle| cycle.locks().any(|lock| **lock == *path))
    }

    /// The sessions a session waits for, by way of which locks.
    pub fn steps_of(&self, session: SessionId) -> Vec<Step> {
        let waits = self.spots(session).take(SPOTS_MAX).filter(|spot| spot.tenure.is_none() && makes_edges(spot.lock));
        let steps = waits.flat_map(|spot| {
            spot.lock.holders.iter().filter_map(move |tenure| {
                Some(Step {
                    from: session,
                    to: tenure.owner?,
                    lock: Arc::clone(&spot.lock.path),
                    waiter: spot.seat.key.name().into(),
                    holder: tenure.path().into(),
                    held_since: tenure.since,
                })
            })
        });
        steps.filter(|step| step.to != session).collect()
    }

    /// A session began to wait or to hold: it is looked at with the next tick, once, however often that happens.
    pub(super) fn suspect(&mut self, session: SessionId) {
        // A circle needs one that holds and waits.
        let roots = || self.roots.iter().filter(|view| view.mirror.owns_at_least(session, 1));
        let owns_several = roots().count() > 1 || roots().any(|view| view.mirror.owns_at_least(session, 2));
        if owns_several && self.suspects.len() < SUSPECTS_MAX {
            self.suspects.insert(session);
        }
    }

    /// Looks for circles through the sessions that began to wait or to hold since the last time.
    pub(super) fn search_suspects(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        while let Some(session) = self.suspects.pop_first() {
            self.search_from(now, session, out);
        }
    }

    /// Looks for the circles through a session, and for those that hang together with them: a session that serves many
    /// threads may be in several. Each wait that is in some circle gets into one.
    fn search_from(&mut self, now: TimeMs, session: SessionId, out: &mut Vec<Change>) {
        if self.cycles.len() >= CYCLES_MAX || circle(session, |session| self.steps_of(session)).is_none() {
            return;
        }
        let (mut open, mut seen) = (vec![session], BTreeSet::from([session]));
        while let Some(session) = open.pop() {
            for first in self.steps_of(session) {
                let Some(steps) = circle_by(first, |session| self.steps_of(session)) else { continue };
                open.extend(steps.iter().map(|step| step.from).filter(|session| seen.insert(*session)));
                self.close(now, steps, out);
            }
        }
    }

    /// Takes in a circle, unless it is known.
    fn close(&mut self, now: TimeMs, steps: Vec<Step>, out: &mut Vec<Change>) {
        if self.cycles.len() >= CYCLES_MAX || self.cycles.iter().any(|cycle| is_same(&cycle.steps, &steps)) {
            return;
        }
        let spots = |session| self.spots(session).take(SPOTS_MAX).count();
        let victim = (0..).zip(&steps).min_by_key(|(_, step)| (spots(step.to), std::cmp::Reverse(step.held_since))).map_or(0, |(at, _)| at);
        let is_doubtful = steps.iter().any(|step| spots(step.from) > 2);
        let locks: Vec<Arc<str>> = steps.iter().map(|step| Arc::clone(&step.lock)).collect();
        self.cycles.push(Cycle { steps, since: now, victim, is_doubtful });
        out.push(Change::DeadlockChanged { locks: locks.clone(), is_closed: true });
        self.mark_deadlocked(now, &locks, out);
    }

    /// Drops the deadlocks of a lock that came apart.
    pub(super) fn verify_cycles(&mut self, now: TimeMs, path: &Arc<str>, out: &mut Vec<Change>) {
        if self.cycles.is_empty() || self.locks.get(path).is_some_and(|lock| lock.deadlock.is_none()) {
            return;
        }
        let cycles = std::mem::take(&mut self.cycles);
        let (kept, broken): (Vec<Cycle>, Vec<Cycle>) =
            cycles.into_iter().partition(|cycle| !cycle.locks().any(|lock| lock == path) || self.still_stands(cycle));
        self.cycles = kept;
        for cycle in broken {
            let locks: Vec<Arc<str>> = cycle.locks().cloned().collect();
            out.push(Change::DeadlockChanged { locks: locks.clone(), is_closed: false });
            self.mark_deadlocked(now, &locks, out);
            // Another circle may have been hidden by this one.
            cycle.sessions().for_each(|session| self.suspect(session));
        }
    }

    fn still_stands(&self, cycle: &Cycle) -> bool {
        let stands = |step: &Step| self.steps_of(step.from).iter().any(|now| (now.to, &now.lock) == (step.to, &step.lock));
        cycle.steps.iter().all(stands)
    }

    fn mark_deadlocked(&mut self, now: TimeMs, locks: &[Arc<str>], out: &mut Vec<Change>) {
        for path in locks {
            let sentence = self.cycles_of(path).next().map(|cycle| self.cycle_sentence(cycle).into());
            if let Some(lock) = self.locks.get_mut(path) {
                lock.deadlock = sentence;
                lock.revision = self.revision + 1;
            }
            self.judge_again(now, path, out);
        }
    }

    /// A deadlock in words; sessions go by what their holds say of them.
    pub fn cycle_sentence(&self, cycle: &Cycle) -> String {
        let tenure = |session| {
            let held = cycle.locks().filter_map(|path| self.locks.get(path)).flat_map(|lock| &lock.holders);
            held.into_iter().find(|tenure| tenure.owner == Some(session))
        };
        cycle.sentence(|session| tenure(session).map_or_else(|| format!("session {session}"), verdict::name_of))
    }

    /// After a gap every session that owns several znodes may have come to be in a circle.
    pub(super) fn search_all(&mut self, now: TimeMs, out: &mut Vec<Change>) {
        let several: Vec<SessionId> = self.sessions().into_iter().filter(|(_, count)| *count > 1).map(|(session, _)| session).collect();
        several.into_iter().for_each(|session| self.search_from(now, session, out));
    }
}

/// Where several may hold at once one release is enough to go on, so only a single holder is waited for.
fn makes_edges(lock: &Lock) -> bool {
    match lock.recognition.shape {
        Shape::Line if lock.recognition.recipe == Recipe::Semaphore => lock.standing.holders == 1,
        Shape::Line | Shape::Office | Shape::Fixed | Shape::Alone => true,
        Shape::LeasesAndLocks | Shape::LeasesAndSibling => lock.standing.holders == 1,
        Shape::Gate | Shape::Gathering | Shape::Items | Shape::TakenItems | Shape::Group | Shape::Idle => false,
    }
}

fn is_same(one: &[Step], other: &[Step]) -> bool {
    let key = |step: &Step| (step.from, step.to, Arc::clone(&step.lock));
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| key(one) == key(other))
}
