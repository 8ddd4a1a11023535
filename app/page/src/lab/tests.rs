//! Runs of the lab, for tests.

use lockscope_view::{
    Fault, LabOrder, LabRequests, LabRun, LabState, Lane, ServerCounter, Spread, Strategy, ThrownFault,
};

pub(crate) const BEGAN_MS: i64 = 1_795_270_000_000;

/// What is ordered by the preset of fifty.
pub(crate) fn order(clients: u32, strategies: &[Strategy]) -> LabOrder {
    LabOrder {
        ensemble: Some("default".to_owned()),
        strategies: strategies.to_vec(),
        clients,
        rounds: 1,
        hold_ms: 100,
        think_ms: 0,
        duration_ms: None,
        in_turn: false,
        seed: Some(42),
    }
}

/// A lane of which so many have had the lock.
pub(crate) fn lane(name: Strategy, clients: u32, done: u32, state: LabState) -> Lane {
    let is_herd = name != Strategy::Predecessor;
    let seat = |at: u32| match () {
        () if state == LabState::Opening => {
            if at.is_multiple_of(3) {
                'w'
            } else {
                'o'
            }
        }
        () if at < done => 'd',
        () if at == done => 'h',
        () if is_herd && done > 0 => 'k',
        () => 'w',
    };
    // The last one's release wakes nobody.
    let releases = done.min(clients - 1);
    let per_release: Vec<(u32, u32)> =
        (1..=releases).map(|at| (clients - at, if is_herd { clients - at } else { 1 })).collect();
    let events: u64 = per_release.iter().map(|(_, events)| u64::from(*events)).sum();
    let slow = if is_herd { 4.0 + f64::from(clients) / 12.0 } else { 1.0 };
    let bucket = |at: u64| {
        ((300.0 * slow * 1.25_f64.powi(at as i32)) as u64, (12 - at.abs_diff(5).min(4) * 3) * u64::from(done) / 50)
    };
    Lane {
        name,
        path: format!("/lockscope-lab/run-00ff00ff00ff00ff/{name}"),
        state,
        seats: (0..clients).map(seat).collect(),
        took_ms: f64::from(done) * (100.0 + slow),
        acquisitions: u64::from(done),
        acquisitions_wanted: u64::from(clients),
        releases: u64::from(done),
        watch_events: events,
        watch_events_expected: Some(if is_herd {
            u64::from(clients) * u64::from(clients - 1) / 2
        } else {
            u64::from(clients) - 1
        }),
        woken: if done == 0 {
            0
        } else if is_herd {
            clients - done
        } else {
            1
        },
        wasted: if is_herd { events.saturating_sub(u64::from(done)) } else { 0 },
        reads: events * 2,
        requests: LabRequests {
            create: events + u64::from(clients),
            delete: u64::from(done),
            children: events,
            exists: events,
            data: 0,
            ping: 12,
            other: u64::from(clients),
        },
        bytes: events * 320,
        bytes_in: events * 200,
        bytes_out: events * 120,
        handoff_ms: Spread {
            count: u64::from(done),
            p50: 0.9 * slow,
            p90: 1.6 * slow,
            p99: 2.4 * slow,
            max: 3.1 * slow,
        },
        handoff_us: (0..10).map(bucket).filter(|(_, count)| *count > 0).collect(),
        wait_ms: Spread { count: u64::from(done), p50: 2_500.0, p90: 4_600.0, p99: 5_000.0, max: 5_120.0 },
        inversions: if is_herd { 311 } else { 0 },
        per_release,
        broken: 0,
        server_packets: (state == LabState::Finished).then_some(events * 5),
        own_packets: (state == LabState::Finished).then_some(events * 5),
        server_events: (state == LabState::Finished).then_some(events),
    }
}

/// A run with both lanes of a preset so far.
pub(crate) fn run(clients: u32, done: [u32; 2], state: LabState, strategies: [Strategy; 2]) -> LabRun {
    let is_over = matches!(state, LabState::Finished | LabState::Stopped | LabState::Failed);
    let lane_state = |done: u32| if state == LabState::Running && done == clients { LabState::Finished } else { state };
    LabRun {
        id: "00ff00ff00ff00ff".to_owned(),
        revision: 7,
        ensemble: "default".to_owned(),
        root: "/lockscope-lab/run-00ff00ff00ff00ff".to_owned(),
        state,
        why: String::new(),
        order: order(clients, &strategies),
        by: "operator-1".to_owned(),
        ordered_at_ms: BEGAN_MS,
        ended_at_ms: is_over.then_some(BEGAN_MS + 9_400),
        strategies: strategies
            .into_iter()
            .zip(done)
            .map(|(name, done)| lane(name, clients, done, lane_state(done)))
            .collect(),
        faults: Vec::new(),
        loop_lag_ms: Spread { count: 900, p50: 0.1, p90: 0.4, p99: 1.9, max: 6.2 },
        server: vec![ServerCounter {
            member: "127.0.0.1:2181".to_owned(),
            name: "zk_packets_received".to_owned(),
            grew: 6_400,
        }],
        conclusion: String::new(),
        notes: Vec::new(),
    }
}

const FIFTY: [Strategy; 2] = [Strategy::Predecessor, Strategy::HerdChildren];

pub(crate) fn opening() -> LabRun {
    run(50, [0, 0], LabState::Opening, FIFTY)
}

pub(crate) fn running() -> LabRun {
    run(50, [17, 12], LabState::Running, FIFTY)
}

pub(crate) fn finished() -> LabRun {
    let conclusion = "To pass the lock through 50 clients the herd was sent 1,225 watch events where the predecessor lane was sent 49: 25 times as many.";
    LabRun {
        conclusion: conclusion.to_owned(),
        notes: vec!["Both lanes shared the machine.".to_owned()],
        ..run(50, [50, 50], LabState::Finished, FIFTY)
    }
}

pub(crate) fn famous() -> LabRun {
    let mut run = run(500, [500, 203], LabState::Running, [Strategy::Predecessor, Strategy::HerdLowest]);
    run.order.in_turn = true;
    run.order.hold_ms = 10;
    run
}

pub(crate) fn stopped() -> LabRun {
    LabRun { why: "stopped by operator-1".to_owned(), ..run(50, [20, 9], LabState::Stopped, FIFTY) }
}

pub(crate) fn failed() -> LabRun {
    LabRun {
        why: "no session could be opened: 127.0.0.1:2181 refuses; look at /status".to_owned(),
        ..run(50, [0, 0], LabState::Failed, FIFTY)
    }
}

/// Thrown into: a holder killed, one that believes, an orphan, and the fencing counter saw two.
pub(crate) fn broken() -> LabRun {
    let mut run = run(50, [17, 12], LabState::Running, FIFTY);
    if let Some(lane) = run.strategies.first_mut() {
        lane.broken = 1;
        lane.watch_events_expected = None;
        let odd = ['x', 'b', 'p', 'g', '.', 'o'];
        lane.seats = lane
            .seats
            .chars()
            .enumerate()
            .map(|(at, seat)| if (20..26).contains(&at) { odd[at - 20] } else { seat })
            .collect();
    }
    let thrown = |fault, expect: &str| ThrownFault {
        fault,
        strategy: Strategy::Predecessor,
        client: Some(20),
        path: "/lockscope-lab/run-00ff00ff00ff00ff/predecessor/lock-0000000017".to_owned(),
        at_ms: BEGAN_MS + 2_000,
        expect: expect.to_owned(),
    };
    run.faults = vec![thrown(Fault::Kill, "expiring, then the next holds"), thrown(Fault::Pause, "double owner")];
    run
}
