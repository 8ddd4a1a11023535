//! Draining a lock once: what theory says, what we count and what the server counts must be the same.

use std::sync::Arc;
use std::time::Duration;

use lockscope_demo::{PrivateZooKeeper, ServerOptions};
use lockscope_lab::{Lab, Limits};
use lockscope_runtime::clock::Clock;
use lockscope_view::{LabOrder, LabRun, LabState, Lane, Strategy};
use tokio::time::timeout;

use super::place;
use crate::harness::{options, started, zookeeper};

/// How long a run may take before the test fails: longer than it may take before the lab ends it.
const RUN_MAX: Duration = Duration::from_secs(900);

pub(super) fn order(strategies: &[Strategy], clients: u32) -> LabOrder {
    LabOrder {
        ensemble: None,
        strategies: strategies.to_vec(),
        clients,
        rounds: 1,
        hold_ms: 0,
        think_ms: 0,
        duration_ms: None,
        in_turn: true,
        seed: None,
    }
}

pub(super) fn lab(server: &PrivateZooKeeper) -> Lab {
    Lab::new(vec![place(server)], Limits::default(), None, Clock::system())
}

/// Waits until a run is like this.
pub(super) async fn until(lab: &Lab, id: &str, is_it: impl Fn(&LabRun) -> bool) -> Arc<LabRun> {
    let mut changes = lab.changes();
    let waiting = async {
        loop {
            changes.borrow_and_update();
            if let Some(run) = lab.run(id).filter(|run| is_it(run)) {
                return run;
            }
            changes.changed().await.unwrap();
        }
    };
    timeout(RUN_MAX, waiting).await.unwrap_or_else(|_| panic!("{:?}", lab.run(id)))
}

pub(super) fn has_ended(run: &LabRun) -> bool {
    matches!(run.state, LabState::Finished | LabState::Stopped | LabState::Failed)
}

async fn drained(lab: &Lab, order: LabOrder) -> Arc<LabRun> {
    let id = lab.start(order, "ada").unwrap();
    let run = until(lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""), "{run:?}");
    run
}

fn within_a_percent(what: &str, told: u64, expected: u64) {
    assert!(told.abs_diff(expected) * 100 <= expected, "{what}: {told} instead of {expected}");
}

fn is_as_theory_says(lane: &Lane, n: u64) {
    let expected = if lane.name == Strategy::Predecessor { n - 1 } else { n * (n - 1) / 2 };
    let name = lane.name.name();
    assert_eq!(lane.watch_events_expected, Some(expected), "{name}");
    within_a_percent(name, lane.watch_events, expected);
    within_a_percent(name, lane.server_events.unwrap(), lane.watch_events);
    within_a_percent(name, lane.server_packets.unwrap(), lane.own_packets.unwrap());
    assert_eq!((lane.broken, lane.acquisitions, lane.releases, lane.acquisitions_wanted), (0, n, n, n), "{name}");
    assert_eq!(lane.seats, "d".repeat(usize::try_from(n).unwrap()), "{name}");
    assert_eq!((lane.handoff_ms.count, lane.wait_ms.count), (n - 1, n - 1), "{name}");
    assert_eq!(lane.handoff_us.iter().map(|(_, count)| count).sum::<u64>(), n - 1, "{name}");
    assert_eq!(lane.per_release.first().map(|(waiting, _)| u64::from(*waiting)), Some(n - 1), "{name}");
    let events: u64 = lane.per_release.iter().map(|(_, events)| u64::from(*events)).sum();
    assert_eq!(events, lane.watch_events, "{name}");
    let wasted = lane.watch_events - (n - 1);
    assert_eq!(lane.wasted, wasted, "{name}");
    if lane.name == Strategy::Predecessor {
        assert_eq!(lane.inversions, 0);
    }
}

async fn drain_and_check(strategies: &[Strategy], n: u32, in_turn: bool) -> Arc<LabRun> {
    let server = zookeeper().await;
    let lab = lab(&server);
    let run = drained(&lab, LabOrder { in_turn, ..order(strategies, n) }).await;
    run.strategies.iter().for_each(|lane| is_as_theory_says(lane, n.into()));
    assert!(
        run.loop_lag_ms.count > 0 && run.server.iter().any(|told| told.name == "zk_packets_sent" && told.grew > 0),
        "{run:?}"
    );
    assert!(!run.conclusion.is_empty() && run.ended_at_ms.is_some(), "{run:?}");
    run
}

const ALL: [Strategy; 4] = [Strategy::Predecessor, Strategy::HerdChildren, Strategy::HerdExists, Strategy::HerdLowest];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_in_all_ways_one_after_the_other() {
    let run = drain_and_check(&ALL, 50, true).await;
    assert!(
        run.conclusion.contains("1,225") && run.conclusion.contains("predecessor woke 49 (25 times fewer)"),
        "{}",
        run.conclusion
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_in_two_ways_at_once() {
    drain_and_check(&[Strategy::HerdChildren, Strategy::Predecessor], 50, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_in_all_ways() {
    drain_and_check(&ALL, 200, true).await;
}

/// Takes a minute and prints figures: `cargo test -p lockscope --test it -- lab:: --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes long; for figures"]
async fn the_famous_five_hundred() {
    let server = started(ServerOptions { heap_mb: 256, ..options(&[], &[]) }).await;
    let lab = lab(&server);
    let run = drained(&lab, order(&[Strategy::Predecessor, Strategy::HerdChildren], 500)).await;
    for lane in &run.strategies {
        eprintln!(
            "{}: {} ms, {} events, {} packets by us, {:?} by the server, hand-off {:?}, wait {:?}, wasted {}, inversions {}",
            lane.name.name(),
            lane.took_ms,
            lane.watch_events,
            lane.own_packets.unwrap_or_default(),
            lane.server_packets,
            lane.handoff_ms,
            lane.wait_ms,
            lane.wasted,
            lane.inversions
        );
    }
    eprintln!(
        "{} ms in all, lag {:?}\n{}",
        run.ended_at_ms.unwrap() - run.ordered_at_ms,
        run.loop_lag_ms,
        run.conclusion
    );
    run.strategies.iter().for_each(|lane| is_as_theory_says(lane, 500));
}
