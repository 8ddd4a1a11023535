//! The blocking tree: who makes whom wait, from those that wait for nobody down.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use lockscope_core::znode::SessionId;
use lockscope_view::{self as view, TREE_CHILDREN_MAX, TREE_DEPTH_MAX, TREE_ROOTS_MAX, TREE_ROWS_MAX};

use super::blocking::{Behind, Blocking, Number};
use super::{ProjectionContext, count32};

/// Blockers whose whole tree is counted to rank them; of more those with most right behind them.
const RANKED_MAX: usize = 64;

/// Znodes of one session that are listed.
pub(super) const SPOTS_MAX: usize = 64;

pub(super) struct RootTree {
    /// The waiting time in all behind it.
    pub(super) waiting_ms: i64,
    /// Its rows, itself first.
    pub(super) rows: Vec<view::WaitBranch>,
}

/// A row that is to be made, and the rows under it.
struct Sketch {
    number: Number,
    depth: u32,
    /// The lock in which it waits for the row above, and since when.
    waits: Option<(usize, i64)>,
    children: Vec<usize>,
    left_out: u32,
}

impl ProjectionContext<'_> {
    /// The trees of the worst blockers, and how many other blockers there are. `parts`: the tree is shared by so many.
    pub(super) fn blocking_trees(
        &self,
        blocking: &mut Blocking<'_>,
        cycles: &BTreeMap<SessionId, view::Verdict>,
        parts: usize,
    ) -> (Vec<RootTree>, u32) {
        let (roots, left_out) = self.roots_of_waiting(blocking, cycles, (TREE_ROOTS_MAX / parts).max(1));
        let sketches = sketch(blocking, &roots, TREE_ROWS_MAX / parts);
        let trees = roots.iter().enumerate().map(|(at, (number, behind))| {
            let mut rows = Vec::new();
            self.branches(blocking, &sketches, at, cycles, &mut rows);
            if let Some(root) = rows.first_mut() {
                debug_assert_eq!(Some(root.session_id.0), blocking.party(*number).map(|party| party.id.0));
                write_behind(root, *behind);
            }
            RootTree { waiting_ms: behind.waiting_ms(self.now.0), rows }
        });
        (trees.collect(), left_out)
    }

    /// Blockers that wait for nobody, and for each circle that none of them is behind one that is in it; by the waiting
    /// time in all behind them.
    fn roots_of_waiting(
        &self,
        blocking: &mut Blocking<'_>,
        cycles: &BTreeMap<SessionId, view::Verdict>,
        roots_max: usize,
    ) -> (Vec<(Number, Behind)>, u32) {
        let blockers = blocking.blockers(self.now.0);
        let is_free = |number: &Number| blocking.party(*number).is_some_and(|party| party.waits_since_ms.is_none());
        let (free, bound): (Vec<Number>, Vec<Number>) = blockers.into_iter().partition(is_free);
        let mut roots = Vec::new();
        let mut reached: HashSet<Number> = HashSet::new();
        for number in free.iter().take(RANKED_MAX) {
            roots.push((
                *number,
                blocking.behind(*number, |below| {
                    reached.insert(below);
                }),
            ));
        }
        // Of many blockers not all were followed: who waits then may wait for one of the others.
        if free.len() <= RANKED_MAX {
            let is_in_cycle =
                |number: &Number| blocking.party(*number).is_some_and(|party| cycles.contains_key(&party.id));
            let (first, rest): (Vec<Number>, Vec<Number>) = bound.into_iter().partition(is_in_cycle);
            for number in first.into_iter().chain(rest) {
                if roots.len() < RANKED_MAX && reached.insert(number) {
                    roots.push((
                        number,
                        blocking.behind(number, |below| {
                            reached.insert(below);
                        }),
                    ));
                }
            }
        }
        roots.sort_by_key(|(_, behind)| Reverse(behind.waiting_ms(self.now.0)));
        let all = roots.len() + free.len().saturating_sub(RANKED_MAX);
        roots.truncate(roots_max);
        (roots.clone(), count32(all - roots.len()))
    }

    /// The rows of a sketch and of all under it.
    fn branches(
        &self,
        blocking: &mut Blocking<'_>,
        sketches: &[Sketch],
        at: usize,
        cycles: &BTreeMap<SessionId, view::Verdict>,
        rows: &mut Vec<view::WaitBranch>,
    ) {
        let Some(sketch) = sketches.get(at) else { return };
        if let Some(mut row) = self.branch(blocking, sketch, cycles) {
            // What is behind a root was counted to rank it.
            if sketch.depth > 0 && row.holds.is_some() {
                write_behind(&mut row, blocking.behind(sketch.number, |_| ()));
            }
            rows.push(row);
        }
        for child in &sketch.children {
            self.branches(blocking, sketches, *child, cycles, rows);
        }
    }

    fn branch(
        &self,
        blocking: &Blocking<'_>,
        sketch: &Sketch,
        cycles: &BTreeMap<SessionId, view::Verdict>,
    ) -> Option<view::WaitBranch> {
        let session = blocking.party(sketch.number)?.id;
        let (held, more_holds) = blocking.worst_held_by(sketch.number).unzip();
        let hold = held.and_then(|held| held.holders.iter().find(|hold| hold.owner == Some(session)));
        let waits = sketch.waits.and_then(|(at, since_ms)| Some((blocking.model(at)?, since_ms)));
        let label = self.spots(session).take(SPOTS_MAX).find_map(|spot| self.label_of(&spot));
        Some(view::WaitBranch {
            depth: sketch.depth,
            ensemble: self.ensemble.name.clone(),
            tag: self.ensemble.tag(),
            session_id: view::SessionId(session.0),
            label,
            waits: waits.map(|(lock, since_ms)| view::LockSince {
                lock: lock.path.to_string(),
                since_ms,
                is_lower_bound: false,
            }),
            holds: held.zip(hold).map(|(held, hold)| view::LockSince {
                lock: held.path.to_string(),
                since_ms: hold.since.0,
                is_lower_bound: hold.is_lower_bound,
            }),
            more_holds: count32(more_holds.unwrap_or_default()),
            behind: 0,
            behind_since_sum_ms: 0,
            is_lower_bound: false,
            left_out: sketch.left_out,
            cycle_verdict: cycles.get(&session).copied(),
        })
    }
}

fn write_behind(row: &mut view::WaitBranch, behind: Behind) {
    row.behind = behind.count;
    row.behind_since_sum_ms = behind.since_sum_ms;
    row.is_lower_bound = behind.is_lower_bound;
}

/// Which rows there will be: the roots, then level by level those behind them as long as there is room, so that no root
/// takes it all. Within a tree each session stands once.
fn sketch(blocking: &Blocking<'_>, roots: &[(Number, Behind)], rows_max: usize) -> Vec<Sketch> {
    let root = |(number, _): &(Number, Behind)| Sketch {
        number: *number,
        depth: 0,
        waits: None,
        children: Vec::new(),
        left_out: 0,
    };
    let mut sketches: Vec<Sketch> = roots.iter().map(root).collect();
    let mut placed: BTreeSet<(usize, Number)> =
        roots.iter().enumerate().map(|(tree, (number, _))| (tree, *number)).collect();
    let mut open: VecDeque<(usize, usize)> = (0..sketches.len()).map(|at| (at, at)).collect();
    while let Some((tree, at)) = open.pop_front() {
        let Some((number, depth)) = sketches.get(at).map(|sketch| (sketch.number, sketch.depth)) else { continue };
        let mut next = waiters_below(blocking, number, |waiter| placed.contains(&(tree, waiter)));
        let all = next.len();
        let room = if depth + 1 < TREE_DEPTH_MAX { rows_max.saturating_sub(sketches.len()) } else { 0 };
        let kept = all.min(room).min(TREE_CHILDREN_MAX);
        // Those that make others wait first, then those that wait longest.
        let order = |(waiter, (_, since_ms)): &(Number, (usize, i64))| {
            (blocking.party(*waiter).is_none_or(|party| party.held.is_empty()), *since_ms, *waiter)
        };
        if kept < all && kept > 0 {
            next.select_nth_unstable_by_key(kept - 1, order);
        }
        next.truncate(kept);
        next.sort_unstable_by_key(order);
        if let Some(sketch) = sketches.get_mut(at) {
            sketch.left_out = count32(all - kept);
        }
        for (number, waits) in next {
            let child = sketches.len();
            placed.insert((tree, number));
            sketches.push(Sketch { number, depth: depth + 1, waits: Some(waits), children: Vec::new(), left_out: 0 });
            open.push_back((tree, child));
            if let Some(sketch) = sketches.get_mut(at) {
                sketch.children.push(child);
            }
        }
    }
    sketches
}

/// Who waits for a session, each once: in which of its locks, and since when.
fn waiters_below(
    blocking: &Blocking<'_>,
    number: Number,
    is_placed: impl Fn(Number) -> bool,
) -> Vec<(Number, (usize, i64))> {
    let held = blocking.party(number).into_iter().flat_map(|party| &party.held);
    let locks = held.filter_map(|at| Some((*at, blocking.locks.get(*at)?)));
    let mut all: Vec<(Number, (usize, i64))> = locks
        .flat_map(|(at, lock)| lock.waiters_of(number).map(move |(waiter, since_ms)| (waiter, (at, since_ms))))
        .filter(|(waiter, _)| !is_placed(*waiter))
        .collect();
    all.sort_unstable_by_key(|(waiter, (_, since_ms))| (*waiter, *since_ms));
    all.dedup_by_key(|(waiter, _)| *waiter);
    all
}

#[cfg(test)]
mod tests {
    use super::super::blocking::made_up;
    use super::*;

    fn drawn(blocking: &Blocking<'_>, roots: &[Number], rows_max: usize) -> Vec<(i64, u32, u32)> {
        let roots: Vec<(Number, Behind)> = roots.iter().map(|root| (*root, Behind::default())).collect();
        let sketches = sketch(blocking, &roots, rows_max);
        sketches.iter().map(|row| (blocking.sessions[row.number].id.0, row.depth, row.left_out)).collect()
    }

    #[test]
    fn a_session_stands_once_in_a_tree_and_blockers_come_first() {
        let all = made_up(&[(1, 0), (3, 1)], &[(2, 0, 10), (3, 0, 20), (4, 1, 5), (2, 1, 6)]);
        // 2 waits longest, but 3 makes others wait; 2 stands where it was first met.
        assert_eq!(drawn(&all, &[0], 80), [(1, 0, 0), (3, 1, 0), (2, 1, 0), (4, 2, 0)]);
    }

    #[test]
    fn a_circle_is_drawn_to_where_it_closes() {
        let all = made_up(&[(1, 0), (2, 1)], &[(1, 1, 10), (2, 0, 20), (3, 0, 30)]);
        assert_eq!(drawn(&all, &[0], 80), [(1, 0, 0), (2, 1, 0), (3, 1, 0)]);
    }

    #[test]
    fn rows_are_bounded_and_what_is_left_out_is_counted() {
        let crowd: Vec<(i64, usize, i64)> = (0..1_000).map(|at| (100 + at, 0, at)).collect();
        let rows = drawn(&made_up(&[(1, 0)], &crowd), &[0], 80);
        assert_eq!((rows.len(), rows[0]), (1 + TREE_CHILDREN_MAX, (1, 0, 1_000 - TREE_CHILDREN_MAX as u32)));
        assert_eq!(rows[1].0, 100, "who waits longest comes first");
        // The second root has its row before the first has all of its children.
        let mut two = crowd.clone();
        two.extend((0..9).map(|at| (5_000 + at, 1, at)));
        let rows = drawn(&made_up(&[(1, 0), (2, 1)], &two), &[0, 1], 10);
        assert_eq!((rows.len(), rows[1]), (10, (2, 0, 9)));
    }

    #[test]
    fn a_chain_ends_at_the_deepest_level() {
        let holders: Vec<(i64, usize)> = (0..50).map(|at| (at, at as usize)).collect();
        let waiters: Vec<(i64, usize, i64)> = (0..50).map(|at| (at + 1, at as usize, 1)).collect();
        let rows = drawn(&made_up(&holders, &waiters), &[0], 80);
        assert_eq!(rows.len(), TREE_DEPTH_MAX as usize);
        assert_eq!(rows.last().map(|row| row.2), Some(1));
    }
}
