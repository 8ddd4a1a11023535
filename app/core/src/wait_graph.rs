//! The graph of waiting as one search sees it: sessions wait for locks, locks are held by sessions. Sessions that wait
//! for each other, directly or by way of others, are one strongly connected component; a circle is only looked for
//! inside one. Each vertex is looked at once, so a search costs as much as the graph is large (Tarjan 1972, without
//! recursion). It can be left at any point and taken up later: what was seen before is then as old as that.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::keyed_hash::KeyedMap;
use super::visits::visit;
use super::znode::SessionId;

/// Vertices of one search. What is beyond is not followed; sessions not begun with by then are left to the next search.
pub const VERTICES_MAX: usize = 262_144;
/// Circles looked for in one component; each contains a wait that none before it contained.
pub const CIRCLES_MAX: usize = 64;
/// Edges of known components that cost as much to walk along as a znode costs to look at.
const EDGES_A_STEP: usize = 16;

/// What waits or is waited for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vertex {
    /// A session: it waits for locks.
    Session(SessionId),
    /// A lock: whoever waits for it waits for those that hold it.
    Lock(Arc<str>),
}

/// One session waits for another by way of a lock.
pub type Wait = (SessionId, Arc<str>, SessionId);

/// What may still be done before others get their turn.
#[derive(Clone, Copy, Debug)]
pub struct Budget(usize);

impl Budget {
    /// So many vertices, edges and znodes may be looked at.
    pub fn new(steps: usize) -> Self {
        Self(steps)
    }

    /// Counts what was looked at.
    pub fn spend(&mut self, steps: usize) {
        visit(steps);
        self.0 = self.0.saturating_sub(steps);
    }

    /// Nothing more may be done for now.
    pub fn is_spent(self) -> bool {
        self.0 == 0
    }
}

/// A search under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    state: SearchState,
    /// The places of what was come by: made anew from the state.
    ids: BTreeMap<Vertex, u32>,
}

/// Where a search is. Vertices go by their places in `vertices`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchState {
    /// Sessions to begin with, the last first.
    pub starts: Vec<SessionId>,
    /// What was come by.
    pub vertices: Vec<SearchVertex>,
    /// The way from the start to where the search is: a vertex and how many of its edges were followed.
    pub way: Vec<(u32, usize)>,
    /// Vertices whose component is not known yet, in the order they were found.
    pub open: Vec<u32>,
    /// How many were found.
    pub found: u32,
    /// Sessions of each component of more than one, those of the fewest last once all are known.
    pub components: Vec<Vec<u32>>,
    /// All components are known.
    pub is_sorted: bool,
    /// Session, its edge, the edge of that edge's lock: where the search for circles is within the component that comes
    /// next.
    pub circles_at: (usize, usize, usize),
    /// Circles found in that component.
    pub circles_found: usize,
    /// Waits that are in a circle already.
    pub covered: BTreeSet<(u32, u32, u32)>,
}

/// A session or lock that a search came by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchVertex {
    /// Which.
    pub vertex: Vertex,
    /// What it waits for, or who holds it.
    pub edges: Vec<u32>,
    /// When it was found, from 1; 0 while it was not.
    pub order: u32,
    /// The first that can be reached from it.
    pub low: u32,
    /// Its component is not known yet.
    pub is_open: bool,
    /// Which component it is in, by the order of its first vertex; 0 while that is not known.
    pub component: u32,
}

impl From<SearchState> for Search {
    fn from(state: SearchState) -> Self {
        let ids = (0..).zip(&state.vertices).map(|(id, entry)| (entry.vertex.clone(), id)).collect();
        Self { state, ids }
    }
}

impl Search {
    /// A search for all circles that some of these sessions are in, or lead to.
    pub fn new(sessions: BTreeSet<SessionId>) -> Self {
        SearchState { starts: sessions.into_iter().rev().collect(), ..SearchState::default() }.into()
    }

    /// Where it is.
    pub fn state(&self) -> &SearchState {
        &self.state
    }

    /// Sessions that were not begun with because the search was full.
    pub fn rest(&self) -> impl Iterator<Item = SessionId> {
        self.state.starts.iter().copied()
    }

    /// Finds the components. False when the budget was spent before all were found.
    pub fn find_components(
        &mut self,
        budget: &mut Budget,
        mut follow: impl FnMut(&Vertex, &mut Budget) -> Vec<Vertex>,
    ) -> bool {
        while !self.state.is_sorted {
            if budget.is_spent() {
                return false;
            }
            budget.spend(1);
            if let Some((from, followed)) = self.state.way.last_mut() {
                let (from, at) = (*from, *followed);
                *followed += 1;
                match self.entry(from).and_then(|entry| entry.edges.get(at)).copied() {
                    Some(to) => self.go(from, to, budget, &mut follow),
                    None => self.leave(from),
                }
                continue;
            }
            let Some(start) = self.state.starts.pop_if(|_| self.state.vertices.len() < VERTICES_MAX) else {
                self.state.is_sorted = true;
                self.state.components.sort_by_key(|sessions| std::cmp::Reverse(sessions.len()));
                break;
            };
            if let Some(id) = self.id_of(Vertex::Session(start))
                && self.entry(id).is_some_and(|entry| entry.order == 0)
            {
                self.visit(id, budget, &mut follow);
            }
        }
        true
    }

    fn entry(&self, id: u32) -> Option<&SearchVertex> {
        self.state.vertices.get(id as usize)
    }

    fn id_of(&mut self, vertex: Vertex) -> Option<u32> {
        if let Some(id) = self.ids.get(&vertex) {
            return Some(*id);
        }
        let id = u32::try_from(self.state.vertices.len()).ok().filter(|_| self.state.vertices.len() < VERTICES_MAX)?;
        self.ids.insert(vertex.clone(), id);
        self.state.vertices.push(SearchVertex {
            vertex,
            edges: Vec::new(),
            order: 0,
            low: 0,
            is_open: false,
            component: 0,
        });
        Some(id)
    }

    fn visit(&mut self, id: u32, budget: &mut Budget, follow: &mut impl FnMut(&Vertex, &mut Budget) -> Vec<Vertex>) {
        let Some(vertex) = self.entry(id).map(|entry| entry.vertex.clone()) else { return };
        let edges: Vec<u32> = follow(&vertex, budget).into_iter().filter_map(|next| self.id_of(next)).collect();
        self.state.found += 1;
        let found = self.state.found;
        if let Some(entry) = self.state.vertices.get_mut(id as usize) {
            (entry.edges, entry.order, entry.low, entry.is_open) = (edges, found, found, true);
        }
        self.state.open.push(id);
        self.state.way.push((id, 0));
    }

    fn go(
        &mut self,
        from: u32,
        to: u32,
        budget: &mut Budget,
        follow: &mut impl FnMut(&Vertex, &mut Budget) -> Vec<Vertex>,
    ) {
        match self.entry(to).map(|entry| (entry.order, entry.is_open)) {
            Some((0, _)) => self.visit(to, budget, follow),
            Some((order, true)) => self.lower(from, order),
            Some((_, false)) | None => {}
        }
    }

    fn lower(&mut self, id: u32, low: u32) {
        if let Some(entry) = self.state.vertices.get_mut(id as usize) {
            entry.low = entry.low.min(low);
        }
    }

    /// All edges of a vertex were followed: what is still open behind the first one of a component is the component.
    fn leave(&mut self, id: u32) {
        self.state.way.pop();
        let Some((order, low)) = self.entry(id).map(|entry| (entry.order, entry.low)) else { return };
        if let Some((before, _)) = self.state.way.last() {
            self.lower(*before, low);
        }
        if low != order {
            return;
        }
        let mut sessions = Vec::new();
        while let Some(member) = self.state.open.pop() {
            if let Some(entry) = self.state.vertices.get_mut(member as usize) {
                (entry.is_open, entry.component) = (false, order);
                sessions.extend(matches!(entry.vertex, Vertex::Session(_)).then_some(member));
            }
            if member == id {
                break;
            }
        }
        if sessions.len() > 1 {
            sessions.sort_by(|one, other| {
                self.entry(*one).map(|entry| &entry.vertex).cmp(&self.entry(*other).map(|entry| &entry.vertex))
            });
            self.state.components.push(sessions);
        }
    }

    /// A wait is in a circle already, so that no circle is looked for on its account.
    pub fn cover(&mut self, (from, lock, to): &Wait) {
        let id = |vertex: Vertex| self.ids.get(&vertex).copied();
        let ids = id(Vertex::Session(*from)).zip(id(Vertex::Lock(Arc::clone(lock)))).zip(id(Vertex::Session(*to)));
        self.state.covered.extend(ids.map(|((from, lock), to)| (from, lock, to)));
    }

    /// The next circle, the smallest components first: the shortest that has a wait which no circle before it had.
    /// None when there is no more, or when the budget is spent.
    pub fn next_circle(&mut self, budget: &mut Budget) -> Option<Vec<Wait>> {
        while !budget.is_spent() && !self.state.components.is_empty() {
            budget.spend(1);
            let next = if self.state.circles_found < CIRCLES_MAX { self.next_wait() } else { None };
            let Some(wait) = next else {
                self.state.components.pop();
                (self.state.circles_at, self.state.circles_found) = ((0, 0, 0), 0);
                continue;
            };
            if self.state.covered.contains(&wait) {
                continue;
            }
            self.state.circles_found += 1;
            let Some(circle) = self.shortest(wait, budget) else { continue };
            self.state.covered.extend(circle.iter().copied());
            return Some(self.rotated(circle.into_iter().filter_map(|wait| self.told(wait)).collect()));
        }
        None
    }

    /// All circles were found.
    pub fn is_over(&self) -> bool {
        self.state.is_sorted && self.state.components.is_empty()
    }

    /// The next wait inside the component.
    fn next_wait(&mut self) -> Option<(u32, u32, u32)> {
        let sessions = self.state.components.last()?;
        loop {
            let (at, edge, holder) = self.state.circles_at;
            let from = *sessions.get(at)?;
            let entry = self.state.vertices.get(from as usize)?;
            let Some(lock) =
                entry.edges.get(edge).and_then(|lock| Some((*lock, self.state.vertices.get(*lock as usize)?)))
            else {
                self.state.circles_at = (at + 1, 0, 0);
                continue;
            };
            let Some(to) = lock.1.edges.get(holder) else {
                self.state.circles_at = (at, edge + 1, 0);
                continue;
            };
            self.state.circles_at = (at, edge, holder + 1);
            let is_inside = self.entry(*to).is_some_and(|other| other.component == entry.component);
            if *to != from && is_inside {
                return Some((from, lock.0, *to));
            }
        }
    }

    /// The shortest circle that begins with a wait: breadth first, within its component.
    fn shortest(&self, first: (u32, u32, u32), budget: &mut Budget) -> Option<Vec<(u32, u32, u32)>> {
        let mut edges = 0;
        let circle = self.walk(first, &mut edges);
        budget.spend(edges / EDGES_A_STEP);
        circle
    }

    fn walk(&self, first: (u32, u32, u32), edges: &mut usize) -> Option<Vec<(u32, u32, u32)>> {
        let (start, _, from) = first;
        let component = self.entry(start)?.component;
        // From where each vertex was reached. As large as what is walked: a list of all vertices would cost each walk as much
        // as the graph is large.
        let mut before = KeyedMap::default();
        let mut next = VecDeque::from([from]);
        while let Some(session) = next.pop_front() {
            for lock in self.inside(session, component) {
                *edges += 1;
                if !reach(&mut before, lock, session) {
                    continue;
                }
                for to in self.inside(lock, component) {
                    *edges += 1;
                    if to == start {
                        return Some(walk_back((session, lock, to), first, &before));
                    }
                    if to != from && reach(&mut before, to, lock) {
                        next.push_back(to);
                    }
                }
            }
        }
        None
    }

    fn inside(&self, id: u32, component: u32) -> impl Iterator<Item = u32> {
        let edges = self.entry(id).into_iter().flat_map(|entry| entry.edges.iter().copied());
        edges.filter(move |to| self.entry(*to).is_some_and(|entry| entry.component == component))
    }

    fn told(&self, (from, lock, to): (u32, u32, u32)) -> Option<Wait> {
        match (&self.entry(from)?.vertex, &self.entry(lock)?.vertex, &self.entry(to)?.vertex) {
            (Vertex::Session(from), Vertex::Lock(lock), Vertex::Session(to)) => Some((*from, Arc::clone(lock), *to)),
            _ => None,
        }
    }

    /// The same circle beginning with its smallest session id, so that it is one circle wherever it was found.
    fn rotated(&self, mut circle: Vec<Wait>) -> Vec<Wait> {
        let first = (0..circle.len()).min_by_key(|at| circle.get(*at).map(|wait| wait.0)).unwrap_or(0);
        circle.rotate_left(first);
        circle
    }
}

/// Notes from where a vertex was reached; false when it was reached before.
fn reach(before: &mut KeyedMap<u32, u32>, vertex: u32, from: u32) -> bool {
    let is_new = !before.contains_key(&vertex);
    before.entry(vertex).or_insert(from);
    is_new
}

fn walk_back(last: (u32, u32, u32), first: (u32, u32, u32), before: &KeyedMap<u32, u32>) -> Vec<(u32, u32, u32)> {
    let came_from = |vertex: u32| before.get(&vertex).copied();
    let mut circle = vec![last];
    while let Some((session, ..)) = circle.last().copied().filter(|(session, ..)| *session != first.2) {
        let Some((lock, from)) = came_from(session).and_then(|lock| Some((lock, came_from(lock)?))) else { break };
        circle.push((from, lock, session));
    }
    circle.push(first);
    circle.reverse();
    circle
}

#[cfg(test)]
mod tests;
