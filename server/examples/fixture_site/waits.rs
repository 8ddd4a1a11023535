//! Made-up waiting: two deadlocks, a chain, and a session that many wait for; in the mode `stale` a crowd of 300.

use lockscope_wire::{Access, AsOf, Confidence, Cycle, SessionId, SessionLock, Verdict, WaitEdge, WaitNode, Waits};

/// A session's number within the fixture, as its id.
fn id(number: i64) -> SessionId {
    SessionId(0x0100_00a1_b2c0_0000 + number)
}

/// Who waits for whom: waiter, holder, lock.
fn pairs(crowd: bool) -> Vec<(i64, i64, String)> {
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
    pairs
}

const CYCLES: [&[i64]; 2] = [&[1, 2], &[3, 4, 5]];

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

/// The graph.
pub(crate) fn waits(as_of: AsOf, started_at_ms: i64, crowd: bool, locks: u32) -> Waits {
    let pairs = pairs(crowd);
    let mut numbers: Vec<i64> = pairs.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let verdict = |number: i64| CYCLES.iter().find(|cycle| cycle.contains(&number)).map(|cycle| verdict_of(cycle));
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
    };
    let edge = |(at, (from, to, lock)): (usize, &(i64, i64, String))| WaitEdge {
        from: id(*from),
        to: id(*to),
        lock: lock.clone(),
        since_ms: started_at_ms - 1_000 * i64::try_from(at).unwrap_or(0),
        in_cycle: verdict(*from).is_some() && verdict(*to).is_some(),
        cycle_verdict: verdict(*from).filter(|_| verdict(*to).is_some()),
    };
    Waits {
        as_of,
        nodes: numbers.iter().map(node).collect(),
        edges: pairs.iter().enumerate().map(edge).collect(),
        cycles: CYCLES.iter().map(|cycle| circle(cycle, &pairs, started_at_ms)).collect(),
        left_out: if crowd { 1_204 } else { 0 },
        locks,
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
        victim_why:
            "is in 2 locks and had held this one for 3.1 s when the circle closed: least is lost by its release."
                .to_owned(),
        confidence: if cycle.len() == 2 { Confidence::High } else { Confidence::Medium },
        caveat:
            "One session may serve many threads: if the one that holds is not the one that waits, this is no deadlock."
                .to_owned(),
        since_ms: started_at_ms - 61_000,
    }
}
