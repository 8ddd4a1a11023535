//! The graph of waiting: sessions, who waits for whom, deadlocks first; and the blocking tree.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use lockscope_core::deadlock::{Cycle, CycleStep};
use lockscope_core::observatory::SessionLock;
use lockscope_core::znode::SessionId;
use lockscope_view::{self as view, BRIEF_EDGES_MAX, GRAPH_EDGES_MAX, GRAPH_NODES_MAX, WAIT_NODES_MAX};

use super::blocking::Blocking;
use super::blocking_tree::{RootTree, SPOTS_MAX};
use super::words::view_access;
use super::{ProjectionContext, as_of_several, count32, english};

/// Sessions followed upwards from those drawn, to know how far each is from one that waits for nobody.
const FOLLOWED_MAX: usize = 4_096;

/// Each pair of sessions of which one waits for the other, with the lock and since when.
type Edges<'a> = BTreeMap<(SessionId, SessionId, &'a str), i64>;

/// The graph of every ensemble: sessions of one never wait for those of another.
pub fn waits(looks: &[ProjectionContext<'_>], query: view::WaitsQuery) -> view::Waits {
    let mut all = view::Waits { as_of: as_of_several(looks), ..view::Waits::default() };
    let parts = looks.len().max(1);
    let mut trees: Vec<RootTree> = Vec::new();
    for (mut one, more) in looks.iter().map(|look| look.waits(parts)) {
        all.nodes.append(&mut one.nodes);
        all.edges.append(&mut one.edges);
        all.cycles.append(&mut one.cycles);
        all.left_out += one.left_out;
        all.locks += one.locks;
        all.contended += one.contended;
        all.waiting += one.waiting;
        all.blocking += one.blocking;
        all.roots_left_out += one.roots_left_out;
        trees.extend(more);
    }
    trees.sort_by_key(|tree| std::cmp::Reverse(tree.waiting_ms));
    all.tree = trees.into_iter().flat_map(|tree| tree.rows).collect();
    if query.brief {
        shorten(&mut all);
    }
    all
}

/// Leaves out what a page doesn't draw. Of what is too large to be drawn as a graph only the longest waits stay.
fn shorten(waits: &mut view::Waits) {
    for node in &mut waits.nodes {
        node.holds = Vec::new();
        node.waits = Vec::new();
    }
    let is_graph = waits.left_out == 0 && waits.nodes.len() <= GRAPH_NODES_MAX && waits.edges.len() <= GRAPH_EDGES_MAX;
    if is_graph {
        return;
    }
    let (nodes, edges) = (waits.nodes.len(), waits.edges.len());
    waits.edges.sort_by_key(|edge| (!edge.in_cycle, edge.since_ms));
    waits.edges.truncate(BRIEF_EDGES_MAX);
    let shown = waits.edges.iter().flat_map(|edge| [edge.from, edge.to]);
    let shown: HashSet<view::SessionId> =
        shown.chain(waits.cycles.iter().flat_map(|cycle| cycle.sessions.iter().copied())).collect();
    waits.nodes.retain(|node| shown.contains(&node.session_id));
    waits.left_out += count32(nodes - waits.nodes.len());
    waits.edges_left_out = count32(edges - waits.edges.len());
}

impl ProjectionContext<'_> {
    /// The waits of one ensemble of so many, but for the tree, which is put together of all.
    fn waits(&self, parts: usize) -> (view::Waits, Vec<RootTree>) {
        let mut blocking = Blocking::of(self);
        let chosen = self.chosen(&blocking, WAIT_NODES_MAX / parts);
        let is_chosen: BTreeSet<SessionId> = chosen.iter().copied().collect();
        let edges = self.edges_of(&is_chosen);
        let layers = layers(&edges);
        let cycles = self.cycle_verdicts();
        let nodes = chosen.iter().map(|session| {
            self.wait_node(*session, cycles.get(session).copied(), layers.get(session).copied().unwrap_or(0))
        });
        let drawn = edges.iter().filter(|((from, to, _), _)| is_chosen.contains(from) && is_chosen.contains(to));
        let (trees, roots_left_out) = self.blocking_trees(&mut blocking, &cycles, parts);
        let waits = view::Waits {
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
            left_out: count32(blocking.sessions.len().saturating_sub(chosen.len())),
            locks: count32(self.locks().count()),
            contended: count32(blocking.locks.len()),
            waiting: blocking.waiting(),
            blocking: blocking.blocking(),
            roots_left_out,
            ..view::Waits::default()
        };
        (waits, trees)
    }

    /// The worst verdict on a circle that a session is in, of those that are in one.
    pub(super) fn cycle_verdicts(&self) -> BTreeMap<SessionId, view::Verdict> {
        let mut cycles: BTreeMap<SessionId, view::Verdict> = BTreeMap::new();
        for cycle in self.observatory.cycles() {
            let verdict = verdict_of(cycle);
            for session in self.sessions_of(cycle) {
                cycles.entry(session).and_modify(|worst| *worst = verdict.max(*worst)).or_insert(verdict);
            }
        }
        cycles
    }

    /// Whom to list: sessions in deadlocks, then those that make others wait longest, each with those that do.
    fn chosen(&self, blocking: &Blocking<'_>, nodes_max: usize) -> Vec<SessionId> {
        let cycles = self.observatory.cycles().iter().flat_map(|cycle| self.sessions_of(cycle));
        let blockers = blocking.blockers(self.now.0).into_iter().flat_map(|number| {
            let waiters = blocking.held_by(number).flat_map(|lock| lock.waiters.iter().map(|(waiter, _)| *waiter));
            std::iter::once(number).chain(waiters).filter_map(|number| Some(blocking.party(number)?.id))
        });
        let mut seen: HashSet<SessionId> = HashSet::new();
        cycles.chain(blockers).filter(|session| seen.insert(*session)).take(nodes_max).collect()
    }

    /// What these sessions wait for, and what those wait for, and so on.
    fn edges_of(&self, chosen: &BTreeSet<SessionId>) -> Edges<'_> {
        let mut edges = Edges::new();
        let (mut open, mut seen): (Vec<SessionId>, BTreeSet<SessionId>) =
            (chosen.iter().copied().collect(), chosen.clone());
        while let Some(from) = open.pop() {
            let waits = self.spots(from).take(SPOTS_MAX).filter(|spot| spot.hold.is_none());
            for spot in waits.filter(|spot| spot.lock.recognition.counts_as_waiting()) {
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

    fn wait_node(&self, session: SessionId, cycle_verdict: Option<view::Verdict>, layer: u32) -> view::WaitNode {
        let (holds, waits): (Vec<SessionLock<'_>>, Vec<SessionLock<'_>>) = self
            .spots(session)
            .filter(|spot| spot.lock.recognition.counts_as_waiting())
            .take(SPOTS_MAX)
            .partition(|spot| spot.hold.is_some());
        let (hold_count, wait_count) = (count32(holds.len()), count32(waits.len()));
        let label = holds.iter().chain(&waits).find_map(|spot| self.label_of(spot));
        let rows = |spots: Vec<SessionLock<'_>>| spots.iter().map(|spot| self.spot(spot)).collect();
        view::WaitNode {
            ensemble: self.ensemble.name.clone(),
            tag: self.ensemble.tag(),
            session_id: view::SessionId(session.0),
            label,
            holds: rows(holds),
            waits: rows(waits),
            in_cycle: cycle_verdict.is_some(),
            cycle_verdict,
            layer,
            hold_count,
            wait_count,
        }
    }

    fn spot(&self, spot: &SessionLock<'_>) -> view::SessionLock {
        view::SessionLock {
            lock: spot.lock.path.to_string(),
            node: spot.contender.path(),
            access: view_access(spot.access),
            since_ms: self.instant(spot.since).0,
        }
    }

    fn wait_edge(&self, from: SessionId, to: SessionId, lock: &str, since_ms: i64) -> view::WaitEdge {
        let is_in =
            |cycle: &&Cycle| cycle.steps.iter().any(|step| (step.from, step.to, &*step.lock) == (from, to, lock));
        let cycle_verdict = self.observatory.cycles().iter().filter(is_in).map(verdict_of).max();
        view::WaitEdge {
            from: view::SessionId(from.0),
            to: view::SessionId(to.0),
            lock: lock.to_owned(),
            since_ms,
            in_cycle: cycle_verdict.is_some(),
            cycle_verdict,
        }
    }

    fn cycle(&self, cycle: &Cycle) -> Option<view::Cycle> {
        let victim = cycle.victim_step()?;
        Some(view::Cycle {
            sessions: cycle.sessions().map(|session| view::SessionId(session.0)).collect(),
            locks: cycle.locks().map(ToString::to_string).collect(),
            verdict: verdict_of(cycle),
            sentence: self.observatory.cycle_sentence(cycle),
            victim: view::SessionId(victim.to.0),
            victim_lock: victim.lock.to_string(),
            victim_node: victim.holder.to_string(),
            victim_why: victim_why(cycle, victim),
            confidence: if cycle.is_doubtful { view::Confidence::Medium } else { view::Confidence::High },
            caveat: english::caveat(cycle.is_doubtful).to_owned(),
            since_ms: cycle.since.0,
        })
    }
}

/// Why one of a circle was chosen. The core takes those in the fewest locks, and of these who held shortest.
fn victim_why(cycle: &Cycle, victim: &CycleStep) -> String {
    let held_shortest = cycle.steps.iter().all(|step| step.held_since <= victim.held_since);
    english::victim_why(cycle.since.since(victim.held_since), held_shortest)
}

/// Whether a circle is a deadlock, or only looks like one.
pub(super) fn verdict_of(cycle: &Cycle) -> view::Verdict {
    if cycle.is_certain { view::Verdict::Deadlocked } else { view::Verdict::MaybeDeadlocked }
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
