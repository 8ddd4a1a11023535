//! Scripts of what was recorded.

use proptest::prelude::*;

use super::*;

fn plays(arrives_ms: u64, end: TurnEnd) -> ScriptTurn {
    ScriptTurn { arrives_ms, arrives_after: None, end, holds_after: None }
}

fn turn(session: i64, joined_ms: i64, held_ms: Option<i64>, left_ms: i64) -> RecordedTurn {
    RecordedTurn { session, lock: 0, joined_ms, held_ms, left_ms, has_died: false }
}

#[test]
fn each_session_plays_its_turns_from_when_the_first_came() {
    let turns = vec![
        turn(2, 5_500, Some(7_000), 9_000),
        turn(1, 5_000, Some(5_000), 6_900),
        turn(1, 8_000, None, 8_500),
        RecordedTurn { has_died: true, ..turn(3, 6_000, Some(9_100), 19_100) },
    ];
    let script = Script::new(turns, 1, 10).unwrap();
    let lets_go = |arrives_ms, hold_ms| plays(arrives_ms, TurnEnd::LetsGo { hold_ms });
    assert_eq!(script.clients[0].turns, [lets_go(0, 1_900), plays(3_000, TurnEnd::GivesUp { wait_ms: 500 })]);
    assert_eq!(script.clients[1].turns, [lets_go(500, 2_000)]);
    let dies = plays(1_000, TurnEnd::DiesHolding { hold_ms: 10_000 });
    assert_eq!((&script.clients[2].turns, script.lasts_ms, script.turns()), (&vec![dies], 14_100, 4));
    let recorded =
        TurnFigures { held: 3, left_waiting: 1, wait_p50_ms: 1_500, wait_p95_ms: 3_100, hand_off_p50_ms: Some(100) };
    assert_eq!(script.recorded, recorded);
}

#[test]
fn a_speed_shortens_the_script_and_not_what_was_recorded() {
    let turns = vec![turn(1, 0, Some(0), 6_000), turn(2, 1_000, Some(6_000), 9_000)];
    let script = Script::new(turns, 10, 10).unwrap();
    assert_eq!(script.clients[1].turns, [plays(100, TurnEnd::LetsGo { hold_ms: 300 })]);
    assert_eq!((script.lasts_ms, script.recorded.wait_p95_ms), (900, 5_000));
}

#[test]
fn a_session_of_several_threads_and_one_that_died_need_more_clients() {
    let at_once = vec![turn(1, 0, Some(0), 100), turn(1, 50, Some(100), 200), turn(1, 200, Some(200), 300)];
    let script = Script::new(at_once, 1, 10).unwrap();
    assert_eq!(script.clients.iter().map(|client| client.turns.len()).collect::<Vec<_>>(), [2, 1]);
    let died = vec![RecordedTurn { has_died: true, ..turn(1, 0, None, 100) }, turn(1, 500, Some(500), 600)];
    let script = Script::new(died, 1, 10).unwrap();
    assert_eq!(script.clients[0].turns, [plays(0, TurnEnd::DiesWaiting { wait_ms: 100 })]);
    assert_eq!(script.clients.len(), 2);
}

#[test]
fn what_is_not_played_is_refused_and_never_cut_short() {
    let two = || vec![turn(1, 0, Some(0), 10), turn(2, 0, Some(10), 20)];
    assert_eq!(Script::new(vec![], 1, 10), Err(ScriptError::Nobody));
    assert_eq!(Script::new(two()[..1].to_vec(), 1, 10), Err(ScriptError::Nobody));
    assert_eq!(Script::new(two(), 1, 1), Err(ScriptError::TooManyClients { needed: 2, most: 1 }));
    for speed in [0, SCRIPT_SPEED_MAX + 1] {
        assert_eq!(Script::new(two(), speed, 10), Err(ScriptError::Speed));
    }
    let many = vec![turn(1, 0, None, 0); SCRIPT_TURNS_MAX + 1];
    assert_eq!(Script::new(many, 1, 10), Err(ScriptError::TooManyTurns(SCRIPT_TURNS_MAX + 1)));
    let long = |speed| Script::new(vec![turn(1, 0, Some(0), SCRIPT_MS_MAX * 2), turn(2, 0, None, 9)], speed, 10);
    assert!(matches!(long(1), Err(ScriptError::TooLong { .. })) && long(2).is_ok());
    for wrong in [turn(1, 5, Some(4), 6), turn(1, 5, Some(7), 6), turn(1, 5, None, 4)] {
        assert_eq!(Script::new(vec![wrong, turn(2, 0, None, 9)], 1, 10), Err(ScriptError::Backwards));
    }
}

/// When a turn joined, held and left.
type Done = (i64, Option<i64>, i64);

proptest! {
    /// Every turn is played once, by one client at a time, at its instant and for its time.
    #[test]
    fn nothing_is_lost_and_nobody_is_in_two_turns_at_once(
        turns in prop::collection::vec((0..5_i64, 0..1_000_i64, 0..300_i64, 0..300_i64, 0..4_u8), 2..60),
    ) {
        let turns: Vec<_> = turns
            .into_iter()
            .map(|(session, joined_ms, wait_ms, hold_ms, kind)| RecordedTurn {
                session,
                lock: 0,
                joined_ms,
                held_ms: (kind != 0).then_some(joined_ms + wait_ms),
                left_ms: joined_ms + wait_ms + hold_ms,
                has_died: kind == 1,
            })
            .collect();
        let Ok(script) = Script::new(turns.clone(), 1, 1_000) else { return Ok(()) };
        prop_assert_eq!(script.turns(), turns.len());
        let holds = |turn: &ScriptTurn| match turn.end {
            TurnEnd::LetsGo { hold_ms } | TurnEnd::DiesHolding { hold_ms } => hold_ms,
            TurnEnd::GivesUp { .. } | TurnEnd::DiesWaiting { .. } => 0,
        };
        let recorded: i64 = turns.iter().filter_map(|turn| Some(turn.left_ms - turn.held_ms?)).sum();
        prop_assert_eq!(script.clients.iter().flat_map(|client| &client.turns).map(holds).sum::<u64>(), recorded.unsigned_abs());
        for client in &script.clients {
            prop_assert!(client.turns.is_sorted_by_key(|turn| turn.arrives_ms));
            let dies = |turn: &ScriptTurn| matches!(turn.end, TurnEnd::DiesHolding { .. } | TurnEnd::DiesWaiting { .. });
            prop_assert!(client.turns.iter().rev().skip(1).all(|turn| !dies(turn)));
        }
    }
}

/// One holds A and asks for B, another holds B and asks for A: neither gets the other's until the session of the first ends.
fn deadlock() -> Vec<RecordedTurn> {
    let at = |lock, turn: RecordedTurn| RecordedTurn { lock, ..turn };
    let dies = |turn: RecordedTurn| RecordedTurn { has_died: true, ..turn };
    vec![
        at(0, dies(turn(1, 0, Some(0), 20_000))),
        at(1, turn(2, 500, Some(500), 21_500)),
        at(1, dies(turn(1, 1_000, None, 20_000))),
        at(0, turn(2, 1_500, Some(20_000), 21_000)),
    ]
}

#[test]
fn a_session_that_holds_one_lock_and_asks_for_another_plays_both() {
    let script = Script::new(deadlock(), 1, 10).unwrap();
    assert_eq!((script.sessions, script.locks, script.turns()), (2, 2, 4));
    let seats: Vec<_> = script.clients.iter().map(|client| (client.session, client.lock)).collect();
    assert_eq!(seats, [(0, 0), (1, 1), (0, 1), (1, 0)]);
    let of = |client: usize| script.clients[client].turns[0];
    let cue = |client, kind| Some(Cue { client, turn: 0, kind });
    // The first asks for B a second after it got A, and its session ends once it waited for 19 s.
    assert_eq!((of(2).arrives_after, of(2).arrives_ms), (cue(0, CueKind::Held), 1_000));
    assert_eq!(of(2).end, TurnEnd::DiesWaiting { wait_ms: 19_000 });
    assert_eq!((of(0).holds_after, of(0).end), (cue(2, CueKind::Gone), TurnEnd::DiesHolding { hold_ms: 0 }));
    // The second lets go of B half a second after it let go of A, whenever that is.
    assert_eq!((of(3).arrives_after, of(3).arrives_ms), (cue(1, CueKind::Held), 1_000));
    assert_eq!(of(3).end, TurnEnd::LetsGo { hold_ms: 1_000 });
    assert_eq!((of(1).holds_after, of(1).end), (cue(3, CueKind::Gone), TurnEnd::LetsGo { hold_ms: 500 }));
    assert_eq!((script.recorded_at(0).0, script.recorded_at(1).1.left_waiting), (2, 1));
}

#[test]
fn hands_of_one_session_are_another_and_locks_without_end_are_refused() {
    let at = |lock, turn: RecordedTurn| RecordedTurn { lock, ..turn };
    // Hand over hand: A is let go while B is held, and C is asked for then.
    let turns = vec![
        at(0, turn(1, 0, Some(0), 300)),
        at(1, turn(1, 100, Some(200), 500)),
        at(2, turn(1, 400, Some(450), 600)),
        at(0, turn(2, 50, Some(300), 400)),
    ];
    let script = Script::new(turns, 1, 10).unwrap();
    let of =
        |lock: usize| script.clients.iter().find(|client| (client.session, client.lock) == (0, lock)).unwrap().turns[0];
    assert_eq!((of(0).holds_after.unwrap().kind, of(0).end), (CueKind::Held, TurnEnd::LetsGo { hold_ms: 100 }));
    assert_eq!((of(1).holds_after.unwrap().kind, of(1).end), (CueKind::Held, TurnEnd::LetsGo { hold_ms: 50 }));
    assert_eq!((of(2).arrives_after.unwrap().kind, of(2).arrives_ms), (CueKind::Held, 200));
    let many = (0..=SCRIPT_LOCKS_MAX).map(|lock| at(lock, turn(1, 0, Some(0), 9))).collect();
    assert_eq!(Script::new(many, 1, 10), Err(ScriptError::TooManyLocks(SCRIPT_LOCKS_MAX + 1)));
}

proptest! {
    /// Where everybody waits for as long as was recorded, everything happens when it was recorded; and no turn waits for
    /// itself, by way of others either.
    #[test]
    fn cues_are_those_of_the_recording_and_lead_back_in_time(
        turns in prop::collection::vec((0..3_i64, 0..3_usize, 0..60_i64, 0..2_500_i64, 0..2_500_i64, 0..4_u8), 2..40),
    ) {
        let turns: Vec<_> = turns
            .into_iter()
            .zip(0..)
            // No two come at the same instant, so that each is known by its own.
            .map(|((session, lock, joined, wait_ms, hold_ms, kind), at)| (session, lock, joined * 64 + at, wait_ms, hold_ms, kind))
            .map(|(session, lock, joined_ms, wait_ms, hold_ms, kind)| RecordedTurn {
                session,
                lock,
                joined_ms,
                held_ms: (kind != 0).then_some(joined_ms + wait_ms),
                left_ms: joined_ms + wait_ms + hold_ms,
                has_died: kind == 1,
            })
            .collect();
        let Ok(script) = Script::new(turns.clone(), 1, 1_000) else { return Ok(()) };
        prop_assert_eq!(script.clients.iter().map(|client| client.turns.len()).sum::<usize>(), turns.len());
        let mut done: Vec<Vec<Option<Done>>> =
            script.clients.iter().map(|client| vec![None; client.turns.len()]).collect();
        let begin_ms = turns.iter().map(|turn| turn.joined_ms).min().unwrap();
        let mut left = turns.clone();
        left.sort_by_key(|turn| (turn.joined_ms, turn.left_ms, turn.session));
        // In the order in which they came: what a turn comes after is known by then.
        let mut next = vec![0; script.clients.len()];
        for turn in &left {
            let fits = |at: &usize| {
                let client = &script.clients[*at];
                let Some(own) = client.turns.get(next[*at]) else { return false };
                let before = own.arrives_after.map(|cue| done[cue.client][cue.turn].map(|(_, held_ms, left_ms)| match cue.kind {
                    CueKind::Held => held_ms.unwrap_or(left_ms),
                    CueKind::Gone => left_ms,
                }));
                let from_ms = match before {
                    None => Some(begin_ms),
                    Some(known) => known,
                };
                client.lock == turn.lock && from_ms.is_some_and(|from_ms| from_ms + own.arrives_ms as i64 == turn.joined_ms)
            };
            let at = (0..script.clients.len()).find(fits);
            prop_assert!(at.is_some(), "{turn:?} of {script:?}");
            let at = at.unwrap();
            done[at][next[at]] = Some((turn.joined_ms, turn.held_ms, turn.left_ms));
            next[at] += 1;
        }
    }
}
