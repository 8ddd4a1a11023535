//! The graph of waiting: sessions, who waits for whom, deadlocks first.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use lockscope_core::deadlock::Cycle;
use lockscope_core::lock::Lock;
use lockscope_core::observatory::SessionLock;
use lockscope_core::verdict::duration;
use lockscope_core::znode::SessionId;
use lockscope_wire::{self as wire, WAIT_NODES_MAX};

use super::words::wire_access;
use super::{ProjectionContext, as_of_several, count32};

/// Sessions followed upwards from those drawn, to know how far each is from one that waits for nobody.
const FOLLOWED_MAX: usize = 4_096;

/// Each pair of sessions of which one waits for the other, with the lock and since when.
type Edges<'a> = BTreeMap<(SessionId, SessionId, &'a str), i64>;

/// The graph of every ensemble: sessions of one never wait for those of another.
pub fn waits(looks: &[ProjectionContext<'_>]) -> wire::Waits {
    let mut all = wire::Waits { as_of: as_of_several(looks), ..wire::Waits::default() };
    for mut one in looks.iter().map(|look| look.waits(WAIT_NODES_MAX / looks.len().max(1))) {
        all.nodes.append(&mut one.nodes);
        all.edges.append(&mut one.edges);
        all.cycles.append(&mut one.cycles);
        all.left_out += one.left_out;
        all.locks += one.locks;
    }
    all
}

impl ProjectionContext<'_> {
    fn waits(&self, nodes_max: usize) -> wire::Waits {
        let (ranked, involved) = self.ranked();
        let chosen = self.chosen(&ranked, nodes_max);
        let edges = self.edges_of(&chosen);
        let layers = layers(&edges);
        let mut cycles: BTreeMap<SessionId, wire::Verdict> = BTreeMap::new();
        for cycle in self.observatory.cycles() {
            for session in self.sessions_of(cycle) {
                cycles
                    .entry(session)
                    .and_modify(|worst| *worst = verdict_of(cycle).max(*worst))
                    .or_insert(verdict_of(cycle));
            }
        }
        let nodes = chosen.iter().map(|session| {
            self.wait_node(*session, cycles.get(session).copied(), layers.get(session).copied().unwrap_or(0))
        });
        let drawn = edges.iter().filter(|((from, to, _), _)| chosen.contains(from) && chosen.contains(to));
        wire::Waits {
            as_of: self.as_of_all(),
            nodes: nodes.collect(),
            edges: drawn.map(|((from, to, lock), since_ms)| self.wait_edge(*from, *to, lock, *since_ms)).collect(),
            cycles: self
                .observatory
                .cycles()
                .iter()
                .filter(|cycle| self.sees_all_of(cycle))
                .filter_map(|cycle| self.cycle(cycle))
                .collect(),
            left_out: count32(involved.saturating_sub(chosen.len())),
            locks: count32(self.locks().count()),
        }
    }

    /// Sessions that others wait for, those with most first, and how many sessions wait or are waited for.
    fn ranked(&self) -> (Vec<SessionId>, usize) {
        let mut weights: BTreeMap<SessionId, u32> = BTreeMap::new();
        let mut involved: HashSet<SessionId> = HashSet::new();
        for lock in self.locks().filter(|lock| lock.standing.waiting.count > 0) {
            let holders: BTreeSet<SessionId> = lock.holders.iter().filter_map(|hold| hold.owner).collect();
            let waiters: Vec<SessionId> =
                self.waiters(lock).filter(|waiter| holders.iter().any(|holder| holder != waiter)).collect();
            for holder in holders {
                let others = count32(waiters.iter().filter(|waiter| **waiter != holder).count());
                if others > 0 {
                    *weights.entry(holder).or_default() += others;
                    involved.insert(holder);
                }
            }
            involved.extend(waiters);
        }
        let mut ranked: Vec<(SessionId, u32)> = weights.into_iter().collect();
        ranked.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        (ranked.into_iter().map(|(session, _)| session).collect(), involved.len())
    }

    /// Sessions that wait in a lock, in order.
    fn waiters<'a>(&'a self, lock: &'a Lock) -> impl Iterator<Item = SessionId> + 'a {
        let contenders = self.observatory.mirror_of(lock).into_iter().flat_map(|mirror| lock.contenders(mirror));
        contenders.filter(|contender| lock.hold_of(contender).is_none()).filter_map(|contender| contender.child.owner())
    }

    /// Whom to draw: sessions in deadlocks, then by how many wait for them, each with those that do.
    fn chosen(&self, ranked: &[SessionId], nodes_max: usize) -> BTreeSet<SessionId> {
        let cycles = self.observatory.cycles().iter().flat_map(|cycle| self.sessions_of(cycle));
        let mut chosen: BTreeSet<SessionId> = cycles.take(nodes_max).collect();
        for session in ranked {
            let held = self.spots(*session).filter(|spot| spot.hold.is_some()).map(|spot| spot.lock);
            for one in std::iter::once(*session).chain(held.flat_map(|lock| self.waiters(lock))) {
                if chosen.len() >= nodes_max {
                    return chosen;
                }
                chosen.insert(one);
            }
        }
        chosen
    }

    /// What these sessions wait for, and what those wait for, and so on.
    fn edges_of(&self, chosen: &BTreeSet<SessionId>) -> Edges<'_> {
        let mut edges = Edges::new();
        let (mut open, mut seen): (Vec<SessionId>, BTreeSet<SessionId>) =
            (chosen.iter().copied().collect(), chosen.clone());
        while let Some(from) = open.pop() {
            for spot in self.spots(from).take(SPOTS_MAX).filter(|spot| spot.hold.is_none()) {
                let since_ms = self.instant(spot.since).0;
                for to in spot.lock.holders.iter().filter_map(|hold| hold.owner).filter(|to| *to != from) {
                    let since = edges.entry((from, to, &*spot.lock.path)).or_insert(since_ms);
                    *since = since_ms.min(*since);
                    if seen.len() < FOLLOWED_MAX && seen.insert(to) {
                        open.push(to);
                    }
                }
            }
        }
        edges
    }

    pub(super) fn label_of(&self, spot: &SessionLock<'_>) -> Option<String> {
        self.label(spot.contender.key.name(), spot.contender.child.read.as_ref()?)
    }

    fn wait_node(&self, session: SessionId, cycle_verdict: Option<wire::Verdict>, layer: u32) -> wire::WaitNode {
        let (holds, waits): (Vec<SessionLock<'_>>, Vec<SessionLock<'_>>) =
            self.spots(session).take(SPOTS_MAX).partition(|spot| spot.hold.is_some());
        let label = holds.iter().chain(&waits).find_map(|spot| self.label_of(spot));
        let rows = |spots: Vec<SessionLock<'_>>| spots.iter().map(|spot| self.spot(spot)).collect();
        wire::WaitNode {
            ensemble: self.ensemble.name.clone(),
            tag: self.ensemble.tag(),
            session_id: wire::SessionId(session.0),
            label,
            holds: rows(holds),
            waits: rows(waits),
            in_cycle: cycle_verdict.is_some(),
            cycle_verdict,
            layer,
        }
    }

    fn spot(&self, spot: &SessionLock<'_>) -> wire::SessionLock {
        wire::SessionLock {
            lock: spot.lock.path.to_string(),
            node: spot.contender.path(),
            access: wire_access(spot.access),
            since_ms: self.instant(spot.since).0,
        }
    }

    fn wait_edge(&self, from: SessionId, to: SessionId, lock: &str, since_ms: i64) -> wire::WaitEdge {
        let is_in =
            |cycle: &&Cycle| cycle.steps.iter().any(|step| (step.from, step.to, &*step.lock) == (from, to, lock));
        let cycle_verdict = self.observatory.cycles().iter().filter(is_in).map(verdict_of).max();
        wire::WaitEdge {
            from: wire::SessionId(from.0),
            to: wire::SessionId(to.0),
            lock: lock.to_owned(),
            since_ms,
            in_cycle: cycle_verdict.is_some(),
            cycle_verdict,
        }
    }

    fn cycle(&self, cycle: &Cycle) -> Option<wire::Cycle> {
        let victim = cycle.victim_step()?;
        let held_for = duration(cycle.since.since(victim.held_since));
        let spots = self.spots(victim.to).take(SPOTS_MAX).count();
        Some(wire::Cycle {
            sessions: cycle.sessions().map(|session| wire::SessionId(session.0)).collect(),
            locks: cycle.locks().map(ToString::to_string).collect(),
            verdict: verdict_of(cycle),
            sentence: self.observatory.cycle_sentence(cycle),
            victim: wire::SessionId(victim.to.0),
            victim_lock: victim.lock.to_string(),
            victim_node: victim.holder.to_string(),
            victim_why: format!(
                "is in {spots} locks and had held {} for {held_for} when the circle closed: least is lost by its release.",
                victim.lock
            ),
            confidence: if cycle.is_doubtful { wire::Confidence::Medium } else { wire::Confidence::High },
            caveat: caveat(cycle.is_doubtful).to_owned(),
            since_ms: cycle.since.0,
        })
    }
}

/// Whether a circle is a deadlock, or only looks like one.
pub(super) fn verdict_of(cycle: &Cycle) -> wire::Verdict {
    if cycle.is_certain { wire::Verdict::Deadlocked } else { wire::Verdict::MaybeDeadlocked }
}

/// Znodes of one session that are listed.
const SPOTS_MAX: usize = 64;

fn caveat(is_doubtful: bool) -> &'static str {
    if is_doubtful {
        "One session may serve many threads, and a session here is in more locks than the circle needs: the thread that holds may not be the one that waits."
    } else {
        "One session may serve many threads: if the one that holds is not the one that waits, this is no deadlock."
    }
}

/// Layers of a drawing: those who wait for nobody in 0, whoever waits for them next, and so on. Circles that nobody
/// outside can begin are entered at their smallest session.
fn layers(edges: &Edges<'_>) -> BTreeMap<SessionId, u32> {
    let mut waiters: BTreeMap<SessionId, Vec<SessionId>> = BTreeMap::new();
    let mut waits: BTreeSet<SessionId> = BTreeSet::new();
    let mut all: BTreeSet<SessionId> = BTreeSet::new();
    for (from, to, _) in edges.keys() {
        waiters.entry(*to).or_default().push(*from);
        waits.insert(*from);
        all.extend([*from, *to]);
    }
    let mut layers = BTreeMap::new();
    let free: Vec<SessionId> = all.iter().filter(|session| !waits.contains(session)).copied().collect();
    for start in free.into_iter().map(Some).chain([None]).chain(all.iter().map(|session| Some(*session))) {
        let mut open: VecDeque<SessionId> = VecDeque::new();
        match start {
            Some(session) if !layers.contains_key(&session) => {
                layers.insert(session, 0);
                open.push_back(session);
            }
            _ => continue,
        }
        while let Some(session) = open.pop_front() {
            let next = layers.get(&session).copied().unwrap_or(0) + 1;
            for waiter in waiters.get(&session).into_iter().flatten() {
                if !layers.contains_key(waiter) {
                    layers.insert(*waiter, next);
                    open.push_back(*waiter);
                }
            }
        }
    }
    layers
}
