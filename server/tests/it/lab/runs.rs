//! The life of a run: stopped, kept, refused, ended with the server; and whatever happens, nothing is left.

use std::time::Duration;

use lockscope_demo::PrivateZooKeeper;
use lockscope_lab::{Lab, LabRefusal, Limits};
use lockscope_runtime::clock::Clock;
use lockscope_view::{LabOrder, LabState, Strategy};
use lockscope_zookeeper::members::four_letter::cons;

use super::drain::{has_ended, lab, order, until};
use super::place;
use crate::harness::{DEADLINE, Truth, options, started, zookeeper};

const TWO: [Strategy; 2] = [Strategy::Predecessor, Strategy::HerdExists];

/// So long that it does not end by itself.
fn endless() -> LabOrder {
    LabOrder { rounds: 1_000, hold_ms: 5, think_ms: 20, in_turn: false, ..order(&TWO, 10) }
}

/// Waits until no session but one of the test's own is connected, and sees that no znode is left.
async fn nothing_is_left(server: &PrivateZooKeeper) {
    let truth = Truth::new(&server.address()).await;
    let own = truth.client.session_id().0;
    crate::served::until(async || {
        // A server that takes no more connections does not tell: not even of ours.
        let text = server.four_letter("cons").await.unwrap_or_default();
        cons::packets(&text).is_ok_and(|told| told.keys().map(|session| session.0).eq([own]))
    })
    .await;
    let left = truth.trees(&["/".to_owned()]).await;
    assert!(left.keys().all(|path| !path.contains("lockscope-lab")), "{:?}", left.keys());
    let dump = server.four_letter("dump").await.unwrap();
    assert!(!dump.contains("lockscope-lab"), "{dump}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_run_leaves_nothing() {
    let server = zookeeper().await;
    let lab = lab(&server);
    let id = lab.start(endless(), "ada").unwrap();
    let run =
        until(&lab, &id, |run| run.state == LabState::Running && run.strategies.iter().all(|lane| lane.releases > 5))
            .await;
    assert_eq!(run.strategies[0].watch_events_expected, None, "theory tells of draining only");
    assert_eq!(lab.start(endless(), "bob"), Err(LabRefusal::Busy(id.clone())));
    lab.stop(&id, "bob").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Stopped, "stopped by bob"));
    assert!(run.strategies.iter().all(|lane| lane.state == LabState::Stopped && lane.broken == 0), "{run:?}");
    assert!(run.conclusion.starts_with("Stopped early: "), "{}", run.conclusion);
    nothing_is_left(&server).await;
    lab.stop(&id, "bob").expect("nothing is left to stop");
    assert!(matches!(lab.stop("0123456789abcdef", "bob"), Err(LabRefusal::Unknown(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_stopped_while_it_opens_leaves_nothing() {
    let server = zookeeper().await;
    let lab = lab(&server);
    let id = lab.start(order(&TWO, 200), "ada").unwrap();
    lab.stop(&id, "ada").unwrap();
    until(&lab, &id, has_ended).await;
    nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ordered_time_ends_a_run() {
    let server = zookeeper().await;
    let lab = lab(&server);
    let id = lab.start(LabOrder { duration_ms: Some(5_000), ..endless() }, "ada").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""));
    assert!(
        run.strategies
            .iter()
            .all(|lane| lane.releases > 0 && lane.releases < lane.acquisitions_wanted && lane.broken == 0),
        "{run:?}"
    );
    nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_server_ends_a_run() {
    let server = zookeeper().await;
    let lab = lab(&server);
    let id = lab.start(endless(), "ada").unwrap();
    until(&lab, &id, |run| run.state == LabState::Running).await;
    assert!(lab.close(DEADLINE).await);
    assert_eq!(lab.run(&id).unwrap().why, "the server ends");
    assert!(lab.close(Duration::ZERO).await, "nothing runs any more");
    nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_run_is_read_again_after_a_restart() {
    let server = zookeeper().await;
    let folder = tempfile::tempdir().unwrap();
    let open = || Lab::new(vec![place(&server)], Limits::default(), Some(folder.path().to_owned()), Clock::system());
    let lab = open();
    let first = lab.start(order(&TWO, 5), "ada").unwrap();
    until(&lab, &first, has_ended).await;
    assert!(lab.close(DEADLINE).await, "also kept");
    let second = lab.start(order(&TWO, 4), "bob").unwrap();
    until(&lab, &second, has_ended).await;
    assert!(lab.close(DEADLINE).await);
    let told = lab.run(&first).unwrap();
    std::fs::write(folder.path().join("lab/0123456789abcdef.json"), "{half").unwrap();
    drop(lab);
    let lab = open();
    assert_eq!(lab.run(&first).unwrap(), told);
    let ids: Vec<_> = lab.runs().runs.into_iter().map(|run| run.id).collect();
    assert_eq!(ids, [second, first.clone()]);
    assert_eq!((lab.run("0123456789abcdef"), lab.run("../lab"), lab.run("")), (None, None, None));
    lab.stop(&first, "ada").expect("it has ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_takes_no_more_connections_is_named() {
    let server = started(options(&[("maxClientCnxns", "20")], &[])).await;
    let lab = lab(&server);
    let id = lab.start(order(&TWO, 50), "ada").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert_eq!(run.state, LabState::Failed);
    assert!(
        [server.address().as_str(), "predecessor", "maxClientCnxns"].iter().all(|part| run.why.contains(part)),
        "{}",
        run.why
    );
    assert!(run.conclusion.starts_with("The run failed and shows nothing"), "{}", run.conclusion);
    nothing_is_left(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_fails_the_run() {
    let mut server = zookeeper().await;
    server.stop().await.unwrap();
    let lab = lab(&server);
    let id = lab.start(order(&TWO, 5), "ada").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert!(run.state == LabState::Failed && run.why.contains(&server.address()), "{run:?}");
}
