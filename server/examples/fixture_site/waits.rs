//! Made-up waiting: two deadlocks, a chain, and a session that many wait for; in the mode `stale` a crowd of 300.

use lockscope_view::{
    Access, AsOf, BRIEF_EDGES_MAX, Confidence, Cycle, LockSince, SessionId, SessionLock, TREE_CHILDREN_MAX, Verdict,
    WaitBranch, WaitEdge, WaitNode, Waits,
};

/// A session's number within the fixture, as its id.
fn id(number: i64) -> SessionId {
    SessionId(0x0100_00a1_b2c0_0000 + number)
}

/// Who waits for whom: waiter, holder, lock.
fn pairs((crowd, turn): (bool, Option<u32>)) -> Vec<(i64, i64, String)> {
    let pair = |from: i64, to: i64, lock: &str| (from, to, lock.to_owned());
    let mut pairs = vec![
        pair(1, 2, "/transfer/b"),
        pair(2, 1, "/transfer/a"),
        pair(3, 4, "/ledger/eu-central-1/settlement"),
        pair(4, 5, "/ledger/eu-central-1/fees"),
        pair(5, 3, "/ledger/eu-central-1/accounts"),
        pair(6, 7, "/reports"),
        pair(8, 6, "/reports/<img src=x onerror=alert(1)>"),
    ];
    let waiters = if crowd { 292 } else { 9 };
    pairs.extend((0..waiters).map(|at| pair(20 + at, 10, "/order")));
    if let Some(turn) = turn.map(i64::from) {
        // With each turn one begins to wait and another ends, and so do deadlocks of two.
        pairs.extend((turn..turn + 6).map(|at| (PASSING_FIRST + at, 10, format!("/passing/{at}"))));
        for first in passing_cycles(turn) {
            pairs.push(pair(first, first + 1, "/transfer/d"));
            pairs.push(pair(first + 1, first, "/transfer/c"));
        }
    }
    pairs
}

/// Sessions that only pass by wait from this number on; from the second on in deadlocks of two.
const PASSING_FIRST: i64 = 1_000;
const PASSING_CYCLES_FIRST: i64 = 0x4000_0000;

/// The first of each two in a deadlock.
fn passing_cycles(turn: i64) -> impl Iterator<Item = i64> {
    (turn..turn + 3).map(|at| PASSING_CYCLES_FIRST + 2 * at)
}

const CYCLES: [&[i64]; 2] = [&[1, 2], &[3, 4, 5]];

/// The deadlock that a session is in.
fn cycle_of(number: i64) -> Option<Vec<i64>> {
    if number >= PASSING_CYCLES_FIRST {
        return Some(vec![number & !1, number | 1]);
    }
    CYCLES.iter().find(|cycle| cycle.contains(&number)).map(|cycle| cycle.to_vec())
}

fn label(number: i64) -> Option<String> {
    match number {
        7 => None,
        8 => Some("a-service-with-a-very-long-name-7f9c4d@ip-10-120-33-41.eu-central-1.compute.internal".to_owned()),
        _ => Some(format!("worker-{number}@app-{}", number % 4 + 1)),
    }
}

/// The first is certain; a session in the other may serve many threads.
fn verdict_of(cycle: &[i64]) -> Verdict {
    if cycle.len() == 2 { Verdict::Deadlocked } else { Verdict::MaybeDeadlocked }
}

/// The graph; of those who pass by, as of a turn.
pub(crate) fn waits(as_of: AsOf, started_at_ms: i64, (crowd, turn): (bool, Option<u32>), locks: u32) -> Waits {
    let pairs = pairs((crowd, turn));
    let mut numbers: Vec<i64> = pairs.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let verdict = |number: i64| cycle_of(number).map(|cycle| verdict_of(&cycle));
    let spot = |lock: &str| SessionLock {
        lock: lock.to_owned(),
        node: format!("{lock}/lock-0000000001"),
        access: Access::Exclusive,
        since_ms: started_at_ms - 40_000,
    };
    let node = |number: &i64| WaitNode {
        ensemble: "default".to_owned(),
        tag: None,
        session_id: id(*number),
        label: label(*number),
        holds: pairs.iter().filter(|(_, to, _)| to == number).take(1).map(|(_, _, lock)| spot(lock)).collect(),
        waits: pairs.iter().filter(|(from, ..)| from == number).map(|(_, _, lock)| spot(lock)).collect(),
        in_cycle: verdict(*number).is_some(),
        cycle_verdict: verdict(*number),
        layer: match number {
            1 | 3 | 7 | 10 => 0,
            5 | 8 => 2,
            _ => 1,
        },
        hold_count: 1,
        wait_count: u32::from(pairs.iter().any(|(from, ..)| from == number)),
    };
    let edge = |(at, (from, to, lock)): (usize, &(i64, i64, String))| WaitEdge {
        from: id(*from),
        to: id(*to),
        lock: lock.clone(),
        since_ms: started_at_ms - 1_000 * i64::try_from(at).unwrap_or(0),
        in_cycle: verdict(*from).is_some() && verdict(*to).is_some(),
        cycle_verdict: verdict(*from).filter(|_| verdict(*to).is_some()),
    };
    let mut edges: Vec<WaitEdge> = pairs.iter().enumerate().map(edge).collect();
    let edges_left_out = if crowd { u32::try_from(edges.len() - BRIEF_EDGES_MAX).unwrap_or(0) } else { 0 };
    edges.truncate(if crowd { BRIEF_EDGES_MAX } else { usize::MAX });
    let mut nodes: Vec<WaitNode> = numbers.iter().map(node).collect();
    nodes.retain(|node| edges.iter().any(|edge| [edge.from, edge.to].contains(&node.session_id)));
    let mut cycles: Vec<Vec<i64>> = CYCLES.iter().map(|cycle| cycle.to_vec()).collect();
    cycles.extend(turn.into_iter().flat_map(|turn| passing_cycles(turn.into())).map(|first| vec![first, first + 1]));
    let mut tree = Vec::new();
    for root in [10, 1, 3, 7] {
        branch((root, 0, None), &pairs, &mut vec![root], started_at_ms, &mut tree);
    }
    Waits {
        as_of,
        nodes,
        edges,
        cycles: cycles.iter().map(|cycle| circle(cycle, &pairs, started_at_ms)).collect(),
        left_out: if crowd { 1_457 } else { 0 },
        locks,
        contended: 8,
        waiting: if crowd { 1_504 } else { 16 },
        blocking: 2,
        edges_left_out,
        tree,
        roots_left_out: if crowd { 3 } else { 0 },
    }
}

/// A session of the blocking tree and those behind it.
fn branch(
    (number, depth, waits): (i64, u32, Option<&str>),
    pairs: &[(i64, i64, String)],
    placed: &mut Vec<i64>,
    started_at_ms: i64,
    tree: &mut Vec<WaitBranch>,
) {
    let below: Vec<(i64, &str)> = pairs
        .iter()
        .filter(|(from, to, _)| *to == number && !placed.contains(from))
        .map(|(from, _, lock)| (*from, lock.as_str()))
        .collect();
    placed.extend(below.iter().map(|(from, _)| from));
    let lock = |lock: &str, ms: i64| LockSince {
        lock: lock.to_owned(),
        since_ms: started_at_ms - ms * (i64::from(depth) + 1),
        is_lower_bound: ms > 80_000 && number == 10,
    };
    let at = tree.len();
    tree.push(WaitBranch {
        depth,
        ensemble: "default".to_owned(),
        tag: None,
        session_id: id(number),
        label: label(number),
        waits: waits.map(|path| lock(path, 12_000)),
        holds: pairs.iter().find(|(_, to, _)| *to == number).map(|(.., path)| lock(path, 95_000)),
        more_holds: u32::from(number == 10),
        behind: 0,
        behind_since_sum_ms: 0,
        is_lower_bound: false,
        left_out: u32::try_from(below.len().saturating_sub(TREE_CHILDREN_MAX)).unwrap_or(0),
        cycle_verdict: cycle_of(number).map(|cycle| verdict_of(&cycle)),
    });
    for (from, path) in below.iter().take(TREE_CHILDREN_MAX) {
        branch((*from, depth + 1, Some(path)), pairs, placed, started_at_ms, tree);
    }
    let behind = tree.len() - at - 1 + below.len().saturating_sub(TREE_CHILDREN_MAX);
    if let Some(row) = tree.get_mut(at) {
        row.behind = u32::try_from(behind).unwrap_or(0);
        row.behind_since_sum_ms = i64::from(row.behind) * (started_at_ms - 17_000);
    }
}

fn circle(cycle: &[i64], pairs: &[(i64, i64, String)], started_at_ms: i64) -> Cycle {
    let steps: Vec<&(i64, i64, String)> =
        cycle.iter().filter_map(|number| pairs.iter().find(|(from, ..)| from == number)).collect();
    let name = |number: i64| label(number).unwrap_or_default();
    let words: Vec<String> = steps
        .iter()
        .map(|(from, to, lock)| format!("{} waits for {lock} held by {}", name(*from), name(*to)))
        .collect();
    let (victim, lock) = steps.first().map(|(_, to, lock)| (*to, lock.clone())).unwrap_or_default();
    let verdict = verdict_of(cycle);
    let says =
        if verdict == Verdict::Deadlocked { "Deadlocked" } else { "Looks like a deadlock, if one thread does both" };
    Cycle {
        sessions: cycle.iter().map(|number| id(*number)).collect(),
        locks: steps.iter().map(|(.., lock)| lock.clone()).collect(),
        verdict,
        sentence: format!("{says}: {}; cheapest to release is {}'s hold on {lock}.", words.join("; "), name(victim)),
        victim: id(victim),
        victim_node: format!("{lock}/lock-0000000001"),
        victim_lock: lock,
        victim_why: "has held shortest (3.1 s when the deadlock formed), so the least work is lost.".to_owned(),
        confidence: if cycle.len() == 2 { Confidence::High } else { Confidence::Medium },
        caveat: "If these are different threads of one client, this is no deadlock.".to_owned(),
        since_ms: started_at_ms - 61_000,
    }
}
