//! Every fault of the lab, and what the board tells of it: what was said to be expected is what is seen, and an
//! operator's release lets the run go on.

use std::sync::atomic::{AtomicBool, Ordering};

use lockscope_core::assessment::AssessedLock;
use lockscope_core::change::Departure;
use lockscope_core::evidence::Liveness;
use lockscope_core::finding::{Code, Severity};
use lockscope_core::lock::Hold;
use lockscope_core::verdict::Verdict;
use lockscope_lab::LabRefusal;
use lockscope_view::{Fault, Strategy, ThrownFault};

use super::scene::Scene;

/// Runs until a paused holder was seen to be silent.
const TRIES: u32 = 3;

fn left_by_expiry(lock: &AssessedLock, path: &str) -> bool {
    lock.tally.past.iter().any(|past| past.hold.path() == path && past.how == Departure::SessionEnded)
}

/// Throws a fault at holders until the board has told something of it. The members are asked every 5 s: on a machine
/// that is busy a session may end between two questions, and then nothing can be told.
async fn seen(
    fault: Fault,
    strategy: Strategy,
    (clients, hold_ms): (u32, u32),
    what: impl Fn(&AssessedLock, &str) -> bool,
) -> (Scene, ThrownFault) {
    for _ in 0..TRIES {
        let scene = Scene::of(strategy, clients, hold_ms).await;
        // A session that was never listed may have connected since its member was asked, and is not called lost.
        let is_known = |hold: &Hold| hold.peer.as_ref().is_some_and(|peer| peer.liveness == Liveness::Connected);
        scene.told("connected", |lock| lock.holders.iter().any(is_known)).await;
        let thrown = scene.throw(fault).await.unwrap();
        let is_seen = AtomicBool::new(false);
        scene
            .told("it, or that the znode is gone", |lock| {
                is_seen.fetch_or(what(lock, &thrown.path), Ordering::Relaxed);
                is_seen.load(Ordering::Relaxed) || lock.tally.past.iter().any(|past| past.hold.path() == thrown.path)
            })
            .await;
        if is_seen.into_inner() {
            return (scene, thrown);
        }
        scene.ends().await;
    }
    panic!("in {TRIES} runs {fault} was not told in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_holder_runs_out() {
    let expiring = |lock: &AssessedLock, path: &str| {
        let counts_down =
            |hold: &Hold| hold.path() == path && hold.peer.as_ref().is_some_and(|peer| peer.runs_out.is_some());
        lock.assessment.verdict == Verdict::Expiring
            && lock.holders.iter().any(|hold| hold.is_disconnected() && counts_down(hold))
    };
    let (scene, thrown) = seen(Fault::Kill, Strategy::Predecessor, (3, 6_000), expiring).await;
    assert!(thrown.expect.contains("Expiring") && thrown.expect.contains("10 s"), "{thrown:?}");
    scene.told("it ran out", |lock| left_by_expiry(lock, &thrown.path)).await;
    let run = scene.ends().await;
    let lane = &run.strategies[0];
    assert_eq!(
        (lane.acquisitions, lane.broken, lane.seats.matches('x').count(), lane.seats.matches('d').count()),
        (3, 0, 1, 2),
        "{lane:?}"
    );
}

fn silent(lock: &AssessedLock, path: &str) -> bool {
    let is_silent =
        |hold: &Hold| hold.path() == path && hold.peer.as_ref().is_some_and(|peer| peer.liveness == Liveness::Silent);
    lock.holders.iter().any(is_silent)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_holder_still_believes() {
    let (scene, thrown) = seen(Fault::Pause, Strategy::Predecessor, (3, 8_000), silent).await;
    scene.told("it ran out", |lock| left_by_expiry(lock, &thrown.path)).await;
    scene.finds(Code::DoubleOwnerWindow).await;
    scene.run_until("it believes", |run| run.strategies[0].seats.contains('b') || run.strategies[0].broken == 1).await;
    scene.finds(Code::OldOwnerConnected).await;
    let run = scene.ends().await;
    let lane = &run.strategies[0];
    assert_eq!((lane.acquisitions, lane.broken, lane.seats.as_str()), (4, 1, "ddd"), "{lane:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_holder_of_one_znode_still_believes() {
    let (scene, thrown) = seen(Fault::Pause, Strategy::HerdExists, (3, 8_000), silent).await;
    assert!(thrown.path.ends_with("/herd_exists/lock") && !thrown.expect.contains("old_owner"), "{thrown:?}");
    scene.finds(Code::DoubleOwnerWindow).await;
    let run = scene.ends().await;
    assert_eq!((run.strategies[0].broken, run.strategies[0].seats.as_str()), (1, "ddd"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orphan_is_stuck_until_it_is_released() {
    let scene = Scene::of(Strategy::Predecessor, 12, 250).await;
    let thrown = scene.throw(Fault::Orphan).await.unwrap();
    scene
        .told("stuck", |lock| lock.assessment.verdict == Verdict::Stuck && lock.holders[0].path() == thrown.path)
        .await;
    scene.release(&thrown.path).await;
    let run = scene.ends().await;
    let lane = &run.strategies[0];
    assert_eq!((lane.acquisitions, lane.broken, lane.seats.matches('g').count()), (11, 0, 1), "{lane:?}");
}

async fn loses_a_reply(strategy: Strategy) {
    let scene = Scene::of(strategy, 3, 3_000).await;
    let thrown = scene.throw(Fault::DropReply).await.unwrap();
    assert!(thrown.path.contains("/lock-") && thrown.expect.contains(&thrown.path), "{thrown:?}");
    scene
        .told("a session waits for itself", |lock| {
            let is_it = |severity| {
                lock.assessment
                    .findings
                    .iter()
                    .any(|finding| finding.code == Code::DuplicateSession && finding.severity == severity)
            };
            is_it(Severity::Critical) && lock.holders[0].path() == thrown.path
        })
        .await;
    scene.release(&thrown.path).await;
    let run = scene.ends().await;
    assert_eq!(
        (run.strategies[0].acquisitions, run.strategies[0].broken, run.strategies[0].seats.as_str()),
        (3, 0, "ddd")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_reply_makes_two_of_one_session() {
    loses_a_reply(Strategy::Predecessor).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_reply_in_a_herd_does_too() {
    loses_a_reply(Strategy::HerdLowest).await;
}

async fn leaves_a_stale(strategy: Strategy, name: &str) {
    let scene = Scene::of(strategy, 3, 3_000).await;
    let thrown = scene.throw(Fault::Stale).await.unwrap();
    assert_eq!(thrown.path, format!("{}/{name}", scene.path));
    scene
        .told("orphan", |lock| lock.assessment.verdict == Verdict::Orphan && lock.holders[0].path() == thrown.path)
        .await;
    scene.finds(Code::NeverExpires).await;
    scene.run_until("nobody goes on", |run| !run.strategies[0].seats.contains('h')).await;
    scene.release(&thrown.path).await;
    let run = scene.ends().await;
    assert_eq!(
        (run.strategies[0].acquisitions, run.strategies[0].broken, run.strategies[0].seats.as_str()),
        (3, 0, "ddd")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_number_is_an_orphan() {
    leaves_a_stale(Strategy::Predecessor, "lock-0000000000").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_number_before_a_herd_is_an_orphan() {
    leaves_a_stale(Strategy::HerdLowest, "lock-0000000000").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_znode_is_an_orphan() {
    leaves_a_stale(Strategy::HerdChildren, "lock").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused() {
    let scene = Scene::of(Strategy::HerdExists, 2, 60_000).await;
    for fault in [Fault::Orphan, Fault::DropReply] {
        let refused = scene.throw(fault).await.unwrap_err();
        assert!(
            matches!(&refused, LabRefusal::Bad(why) if why.contains(fault.name()) && why.contains("predecessor")),
            "{refused}"
        );
    }
    scene.lab.stop(&scene.id, "anna").unwrap();
    scene.run_until("it ends", |run| run.ended_at_ms.is_some()).await;
    assert!(matches!(scene.throw(Fault::Kill).await, Err(LabRefusal::NotNow(_))));
}
