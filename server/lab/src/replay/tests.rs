//! Recorded lives as scripts, and what is said of them.

use lockscope_wire::LabRecordedLock;

use super::*;

fn life(rank: i64, joined_ms: i64, held_ms: Option<i64>, left_ms: Option<i64>) -> RecordedLife {
    RecordedLife { rank, lock: 0, session: Some(rank), joined_ms, held_ms, left_ms, has_died: false, is_unsure: false }
}

fn turn(session: i64, joined_ms: i64, held_ms: Option<i64>, left_ms: i64) -> RecordedTurn {
    RecordedTurn { session, lock: 0, joined_ms, held_ms, left_ms, has_died: false }
}

fn source(recipe: &str) -> LabReplaySource {
    LabReplaySource {
        ensemble: "prod".to_owned(),
        path: "/secret/lock".to_owned(),
        recipe: recipe.to_owned(),
        from_ms: 1_000,
        to_ms: 9_000,
        further_locks: Vec::new(),
        recorded_part: 0.999,
        cut: LabRangeCut::default(),
    }
}

#[test]
fn who_came_before_queues_up_first_and_in_order_and_who_stays_goes_at_the_end() {
    let lives = [
        life(4, 2_000, None, None),
        life(3, 400, Some(5_000), Some(6_000)),
        // It holds, although another came before it.
        life(2, 500, Some(600), Some(5_000)),
        life(1, 0, Some(10), Some(1_000)),
        RecordedLife { has_died: true, is_unsure: true, ..life(5, 3_000, Some(6_000), Some(9_500)) },
        life(6, 9_000, None, Some(9_100)),
        RecordedLife { has_died: true, session: None, ..life(7, 3_000, None, Some(4_000)) },
    ];
    let (turns, cut) = turns_in(&lives, &(1_000..9_000), 2);
    assert_eq!(cut, LabRangeCut { before: 2, after: 2, unsure: 1 });
    let expected = [
        turn(2, 1_000 - 4 * LEAD_MS, Some(1_000 - 4 * LEAD_MS), 5_000),
        turn(3, 1_000 - 2 * LEAD_MS, Some(5_000), 6_000),
        turn(4, 2_000, None, 9_000),
        // Its session outlived the range.
        turn(5, 3_000, Some(6_000), 9_000),
        RecordedTurn { has_died: true, ..turn(!7, 3_000, None, 4_000) },
    ];
    assert_eq!(turns, expected);
}

#[test]
fn an_order_has_as_many_clients_as_the_script_and_its_words_do_not_name_the_lock() {
    let lives = [life(1, 2_000, Some(2_000), Some(4_000)), life(2, 2_100, Some(4_000), Some(5_000))];
    let replay = Replay::new(&lives, source("sequential_mutex"), 10, 20).unwrap();
    let order = replay.order(None, vec![Strategy::Predecessor, Strategy::HerdExists], true);
    assert_eq!((order.clients, order.rounds), (2, 1));
    assert_eq!(replay.words(), "a recorded lock is replayed 10 times as fast as it was: 2 contenders by 2 sessions");
    let notes = replay.notes();
    assert!(notes[0].contains("All 2 contenders") && notes[0].contains("99 % of the range"), "{notes:?}");
    assert!(!notes.iter().any(|note| note.contains("secret")) && notes.iter().any(|note| note.contains("10 times")));
    let limits = Limits { duration_ms_max: 599, ..Limits::default() };
    let why = replay.check(&order, &limits).unwrap_err().to_string();
    assert!(why.contains("at least 600 ms") && why.contains("the limit is 599 ms"), "{why}");
    assert_eq!(replay.check(&LabOrder { in_turn: false, ..order }, &limits), Ok(()));
}

#[test]
fn what_the_lab_does_not_play_is_refused() {
    let lives = [life(1, 2_000, Some(2_000), Some(4_000)), life(2, 2_100, Some(4_000), Some(5_000))];
    let why = |lives: &[RecordedLife], recipe: &str, speed| {
        Replay::new(lives, source(recipe), speed, 20).unwrap_err().to_string()
    };
    assert!(why(&lives, "read_write", 1).contains("is a read_write"));
    let with = |recipe: &str, number| {
        let other = LabRecordedLock { path: "/secret/other".to_owned(), recipe: recipe.to_owned() };
        let source = LabReplaySource { further_locks: vec![other; number], ..source("sequential_mutex") };
        Replay::new(&lives, source, 1, 20)
    };
    assert!(with("semaphore", 1).unwrap_err().to_string().contains("/secret/other is a semaphore"));
    assert!(with("", 16).unwrap_err().to_string().contains("17 locks are named"));
    let two = with("", 1).unwrap();
    assert!(two.words().starts_with("2 recorded locks are replayed as fast as they were"), "{}", two.words());
    assert!(!two.notes().iter().any(|note| note.contains("secret")));
    assert!(two.notes().iter().any(|note| note.contains("held one lock and asked for another")));
    assert!(why(&lives, "sequential_mutex", 0).contains("the speed is 1 to 100"));
    assert!(why(&lives[..1], "sequential_mutex", 1).contains("fewer than two"));
    assert!(why(&vec![lives[0]; SCRIPT_TURNS_MAX + 1], "sequential_mutex", 1).contains("5000 at most"));
}

#[test]
fn recorded_and_played_stand_side_by_side_and_what_was_not_played_is_said() {
    let figures = |p50, p95| TurnFigures {
        held: 3,
        left_waiting: 1,
        wait_p50_ms: p50,
        wait_p95_ms: p95,
        ..TurnFigures::default()
    };
    let lane = |name, played, p50| LabReplayedStrategy {
        name,
        played,
        figures: figures(p50, 2 * p50),
        locks: vec![figures(p50, 2 * p50)],
    };
    let report = LabReplay {
        source: source("sequential_mutex"),
        speed: 10,
        clients: 4,
        turns: 4,
        recorded: figures(1_500, 3_100),
        locks: vec![LabReplayedLock { path: "/secret/lock".to_owned(), turns: 4, recorded: figures(1_500, 3_100) }],
        strategies: vec![lane(Strategy::Predecessor, 4, 155), lane(Strategy::HerdExists, 3, 170)],
        sentence: String::new(),
    };
    assert_eq!(
        sentence(&report),
        "Recorded, divided by the speed of 10: 3 held, half of them after 150 ms or less and 95 in 100 after 310 ms; 1 left waiting; predecessor: 3 held, 155 ms and 310 ms, 1 left waiting; herd_exists: 3 held, 170 ms and 340 ms, 1 left waiting (3 of 4 turns were played)."
    );
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<LabReplay>(&text).unwrap(), report);
}
