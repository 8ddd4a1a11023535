//! Who waits for whom, by session: finding a circle through one session.
//!
//! A waiter waits for all that hold its lock now, whatever stands between them in the queue, because every recipe
//! here serves in order. Where several may hold at once (a semaphore) one release is enough, so only a semaphore
//! with a single holder makes an edge. Source: the wait-for graph of database lock managers; ZooKeeper knows none.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::time::TimeMs;
use super::znode::SessionId;

/// Sessions visited in one search; a larger knot is not searched to its end.
pub const VISITED_MAX: usize = 4_096;

/// One session waits for another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// Who waits.
    pub from: SessionId,
    /// For whom.
    pub to: SessionId,
    /// In which lock.
    pub lock: Arc<str>,
    /// Znode that waits.
    pub waiter: Box<str>,
    /// Full path of the znode that holds.
    pub holder: Box<str>,
    /// Since when the holder holds, as we saw it.
    pub held_since: TimeMs,
}

/// Sessions that wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The steps, from the smallest session id on.
    pub steps: Vec<Step>,
    /// When we found it.
    pub since: TimeMs,
    /// Index of the step whose holder is cheapest to release.
    pub victim: usize,
    /// Some session in it has more contenders than these: they may belong to other threads.
    pub is_doubtful: bool,
}

impl Cycle {
    /// The locks in it, in order of the steps.
    pub fn locks(&self) -> impl Iterator<Item = &Arc<str>> {
        self.steps.iter().map(|step| &step.lock)
    }

    /// The sessions in it.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.steps.iter().map(|step| step.from)
    }

    /// The step whose holder is cheapest to release.
    pub fn victim_step(&self) -> Option<&Step> {
        self.steps.get(self.victim)
    }

    /// The cycle in words, with whose hold is cheapest to release.
    pub fn sentence(&self, name: impl Fn(SessionId) -> String) -> String {
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("{} waits for {} held by {}", name(step.from), step.lock, name(step.to))).collect();
        let victim =
            self.victim_step().map_or_else(String::new, |step| format!("; cheapest to release is {}'s hold on {}", name(step.to), step.lock));
        format!("Deadlocked: {}{victim}.", steps.join("; "))
    }
}

/// The shortest circle through a session, given the steps that lead on from each; None when there is none.
pub fn circle(start: SessionId, steps_of: impl FnMut(SessionId) -> Vec<Step>) -> Option<Vec<Step>> {
    closed(start, start, BTreeMap::new(), steps_of)
}

/// The shortest circle that begins with a step.
pub fn circle_by(first: Step, steps_of: impl FnMut(SessionId) -> Vec<Step>) -> Option<Vec<Step>> {
    let (start, from) = (first.from, first.to);
    closed(start, from, BTreeMap::from([(from, first)]), steps_of)
}

/// The shortest way on from a session back to the start.
fn closed(
    start: SessionId,
    from: SessionId,
    mut came_by: BTreeMap<SessionId, Step>,
    mut steps_of: impl FnMut(SessionId) -> Vec<Step>,
) -> Option<Vec<Step>> {
    let mut open = VecDeque::from([from]);
    while let Some(session) = open.pop_front() {
        for step in steps_of(session) {
            // A session that waits for itself is no circle of sessions: it may serve many threads.
            if step.to == session {
                continue;
            }
            if step.to == start {
                return Some(rotated(walk_back(start, step, &came_by)));
            }
            if !came_by.contains_key(&step.to) && came_by.len() < VISITED_MAX {
                open.push_back(step.to);
                came_by.insert(step.to, step);
            }
        }
    }
    None
}

fn walk_back(start: SessionId, last: Step, came_by: &BTreeMap<SessionId, Step>) -> Vec<Step> {
    let mut steps = vec![last];
    while let Some(step) = steps.last().filter(|step| step.from != start).and_then(|step| came_by.get(&step.from)) {
        steps.push(step.clone());
    }
    steps.reverse();
    steps
}

/// The same circle told from its smallest session id on, so that it is one circle wherever it was found.
fn rotated(mut steps: Vec<Step>) -> Vec<Step> {
    let first = (0..steps.len()).min_by_key(|at| steps.get(*at).map(|step| step.from)).unwrap_or(0);
    steps.rotate_left(first);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: i64, edges: &[(i64, i64)]) -> Option<Vec<(i64, i64)>> {
        let step = |(from, to): &(i64, i64)| Step {
            from: SessionId(*from),
            to: SessionId(*to),
            lock: format!("/{to}").into(),
            waiter: "w".into(),
            holder: "h".into(),
            held_since: TimeMs(0),
        };
        let steps = circle(SessionId(start), |session| edges.iter().filter(|(from, _)| *from == session.0).map(step).collect());
        steps.map(|steps| steps.iter().map(|step| (step.from.0, step.to.0)).collect())
    }

    #[test]
    fn the_shortest_circle_is_found_and_told_the_same_from_everywhere() {
        assert_eq!(found(1, &[(1, 2), (2, 1)]), Some(vec![(1, 2), (2, 1)]));
        assert_eq!(found(2, &[(1, 2), (2, 1)]), Some(vec![(1, 2), (2, 1)]));
        assert_eq!(found(3, &[(1, 2), (2, 3), (3, 1), (2, 4), (4, 1)]), Some(vec![(1, 2), (2, 3), (3, 1)]));
        assert_eq!(found(1, &[(1, 2), (2, 3), (3, 2)]), None, "a circle that only leads there is found from within");
        assert_eq!(found(1, &[(1, 1)]), None);
        assert_eq!(found(1, &[]), None);
    }
}
