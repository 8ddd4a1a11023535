//! A recorded lock replayed on a real server: who comes when, who holds for how long, who gives up and whose session ends,
//! in each way of waiting.

use std::collections::BTreeSet;

use lab::LabRefusal;
use lab::replay::{RecordedLife, Replay};
use lockscope_wire::{
    Fault, FaultOrder, LabRangeCut, LabRecordedLock, LabReplay, LabReplaySource, LabRun, LabState, Strategy,
    TurnFigures,
};

use super::drain::{has_ended, lab, until};
use super::scene::{is_clean, sessions};
use crate::harness::{Truth, zookeeper};

const ALL: [Strategy; 4] = [Strategy::Predecessor, Strategy::HerdChildren, Strategy::HerdExists, Strategy::HerdLowest];

fn life(session: i64, joined_ms: i64, held_ms: Option<i64>, left_ms: i64, has_died: bool) -> RecordedLife {
    let left_ms = Some(left_ms);
    RecordedLife {
        rank: session,
        lock: 0,
        session: Some(session),
        joined_ms,
        held_ms,
        left_ms,
        has_died,
        is_unsure: false,
    }
}

fn source(from_ms: i64, to_ms: i64) -> LabReplaySource {
    LabReplaySource {
        ensemble: "default".to_owned(),
        path: "/orders".to_owned(),
        recipe: "sequential_mutex".to_owned(),
        from_ms,
        to_ms,
        further_locks: Vec::new(),
        recorded_part: 1.0,
        cut: LabRangeCut::default(),
    }
}

/// Plays it to its end; nothing of it remains.
async fn played(lives: &[RecordedLife], speed: u32, strategies: &[Strategy]) -> (LabRun, LabReplay) {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let before: BTreeSet<String> = sessions(&server).await;
    let lab = lab(&server);
    let replay = Replay::new(lives, source(0, 60_000), speed, 500).unwrap();
    let order = replay.order(None, strategies.to_vec(), true);
    let id = lab.start_run(order, Some(replay), "ada").unwrap();
    let refused = lab.throw(&id, FaultOrder { fault: Fault::Kill, strategy: None }).await.unwrap_err();
    assert!(matches!(&refused, LabRefusal::NotNow(why) if why.contains("takes no faults")), "{refused}");
    let run = until(&lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""), "{run:?}");
    let replay = lab.replay(&id).unwrap();
    is_clean(&server, &truth, &before).await;
    (LabRun::clone(&run), LabReplay::clone(&replay))
}

/// Within a second more and a few milliseconds less.
fn about(what: &str, ms: u64, expected: u64) {
    assert!(ms + 20 >= expected && ms <= expected + 1_000, "{what}: {ms} instead of {expected}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_clients_are_played_in_all_ways_as_they_were_recorded() {
    let lives = [
        life(1, 1_000, Some(1_000), 9_000, true),
        life(2, 2_000, Some(9_000), 14_000, false),
        life(3, 3_000, None, 5_000, false),
        // The same session comes again.
        life(2, 14_500, Some(14_500), 15_000, false),
    ];
    let (run, replay) = played(&lives, 10, &ALL).await;
    assert!(run.script.contains("4 contenders by 3 sessions") && !run.script.contains("orders"), "{}", run.script);
    let recorded =
        TurnFigures { held: 3, left_waiting: 1, wait_p50_ms: 0, wait_p95_ms: 7_000, hand_off_p50_ms: Some(0) };
    assert_eq!((replay.recorded, replay.clients, replay.turns, replay.speed), (recorded, 3, 4, 10));
    for (lane, told) in run.strategies.iter().zip(&replay.strategies) {
        let name = lane.name.name();
        assert_eq!(
            (told.name, told.played, told.figures.held, told.figures.left_waiting),
            (lane.name, 4, 3, 1),
            "{name}"
        );
        about(name, told.figures.wait_p95_ms, 700);
        assert!(told.figures.hand_off_p50_ms.is_some(), "{name}");
        assert_eq!((lane.broken, lane.acquisitions, lane.acquisitions_wanted, lane.releases), (0, 3, 3, 3), "{name}");
        assert_eq!((lane.seats.as_str(), lane.watch_events_expected), ("xdd", None), "{name}");
        assert!(lane.took_ms >= 1_350.0, "{name}: {}", lane.took_ms);
    }
    assert!(run.conclusion.starts_with("Recorded, divided by the speed of 10: 3 held"), "{}", run.conclusion);
    assert!(run.notes.iter().any(|note| note.contains("All 4 contenders")), "{:?}", run.notes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_died_waiting_and_who_was_there_before_leave_the_order_of_the_others_alone() {
    // Twenty came before the range, in order; every third one's session ends while it waits.
    let mut lives = vec![life(100, -9_000, Some(-8_000), 800, false)];
    for number in 0..20_i64 {
        let (died, held_ms) = (number % 3 == 0, 800 + 20 * number);
        lives.push(if died {
            life(number, -500 + number, None, 400, true)
        } else {
            life(number, -500 + number, Some(held_ms), held_ms + 20, false)
        });
    }
    let (run, replay) = played(&lives, 1, &[Strategy::Predecessor, Strategy::HerdExists]).await;
    assert_eq!(replay.source.cut, LabRangeCut { before: 21, after: 0, unsure: 0 });
    for (lane, told) in run.strategies.iter().zip(&replay.strategies) {
        let name = lane.name.name();
        assert_eq!((told.played, told.figures.held, told.figures.left_waiting, lane.broken), (21, 14, 7, 0), "{name}");
        assert_eq!(lane.seats.matches('x').count(), 7, "{name}: {}", lane.seats);
    }
    assert_eq!(run.strategies[0].inversions, 0, "who came first is first");
}

/// Two sessions that deadlock over two locks until the session of the first ends, and a third that waits behind them.
fn deadlock() -> Vec<RecordedLife> {
    let at = |lock, rank, life: RecordedLife| RecordedLife { lock, rank, ..life };
    vec![
        at(0, 1, life(1, 1_000, Some(1_000), 16_000, true)),
        at(1, 2, life(2, 1_500, Some(1_500), 19_000, false)),
        at(1, 3, life(1, 3_000, None, 16_000, true)),
        at(0, 4, life(2, 3_500, Some(16_000), 18_000, false)),
        at(0, 5, life(3, 5_000, Some(18_000), 20_000, false)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_deadlock_over_two_locks_is_one_again_in_all_ways() {
    let server = zookeeper().await;
    let truth = Truth::new(&server.address()).await;
    let before: BTreeSet<String> = sessions(&server).await;
    let lab = lab(&server);
    let other = LabRecordedLock { path: "/shop/b".to_owned(), recipe: "sequential_mutex".to_owned() };
    let source = LabReplaySource { further_locks: vec![other], ..source(0, 60_000) };
    let replay = Replay::new(&deadlock(), source, 10, 3).unwrap();
    let order = replay.order(None, ALL.to_vec(), true);
    let id = lab.start_run(order, Some(replay), "ada").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""), "{run:?}");
    assert!(run.script.starts_with("2 recorded locks are replayed"), "{}", run.script);
    assert!(!format!("{run:?}").contains("/shop/b") && !format!("{run:?}").contains("/orders"), "{run:?}");
    let told = lab.replay(&id).unwrap();
    assert_eq!((told.clients, told.turns, told.locks.len()), (3, 5, 2));
    let of = |figures: &TurnFigures| (figures.held, figures.left_waiting);
    assert_eq!((of(&told.locks[0].recorded), of(&told.locks[1].recorded)), ((3, 0), (1, 1)));
    for (lane, played) in run.strategies.iter().zip(&told.strategies) {
        let name = lane.name.name();
        assert_eq!((played.played, of(&played.figures)), (5, (4, 1)), "{name}: {played:?}");
        let [first, second] = played.locks.as_slice() else { panic!("{name}: {played:?}") };
        assert_eq!((of(first), of(second)), ((3, 0), (1, 1)), "{name}");
        // The second waits for A from 0.35 s on, until the session of the first ends at 1.6 s; the third until it let go.
        // In a herd the third, which came at 0.5 s, may be quicker than the second.
        let second_or_third = if lane.name == Strategy::Predecessor { 1_250 } else { 1_100 };
        about(name, first.wait_p50_ms, second_or_third);
        about(name, first.wait_p95_ms, 1_300);
        // Both of the first session, which hold and wait at different locks, are cut off at once.
        assert_eq!((lane.seats.as_str(), lane.broken), ("xdxdd", 0), "{name}");
        assert!(lane.took_ms >= 1_850.0, "{name}: {}", lane.took_ms);
    }
    is_clean(&server, &truth, &before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_less_in_a_chain_holds_for_less() {
    // A holder of A asks for B, which another holds; it keeps A until a second after it had B. In the recording B was handed
    // over 4 s late, by a poll; in the lab it is handed over at once.
    let at = |lock, rank, life: RecordedLife| RecordedLife { lock, rank, ..life };
    let lives = [
        at(1, 1, life(1, 1_000, Some(1_000), 3_000, false)),
        at(0, 2, life(2, 1_500, Some(1_500), 8_500, false)),
        at(1, 3, life(2, 2_000, Some(7_000), 8_000, false)),
        at(0, 4, life(3, 2_500, Some(8_500), 9_000, false)),
    ];
    let other = LabRecordedLock { path: "/shop/b".to_owned(), recipe: "sequential_mutex".to_owned() };
    let source = LabReplaySource { further_locks: vec![other], ..source(0, 60_000) };
    let server = zookeeper().await;
    let lab = lab(&server);
    let replay = Replay::new(&lives, source, 1, 3).unwrap();
    let order = replay.order(None, vec![Strategy::Predecessor], true);
    let id = lab.start_run(order, Some(replay), "ada").unwrap();
    let run = until(&lab, &id, has_ended).await;
    assert_eq!((run.state, run.why.as_str()), (LabState::Finished, ""), "{run:?}");
    let told = lab.replay(&id).unwrap();
    let played = &told.strategies[0];
    assert_eq!(played.played, 4);
    assert_eq!(told.locks[0].recorded.wait_p95_ms, 6_000);
    about("the last in A", played.locks[0].wait_p95_ms, 2_000);
}
