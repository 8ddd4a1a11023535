//! A recorded incident as a script for real sessions: who comes when, for how long each holds or waits, and whose session
//! ends. Pure: whoever has the recording hands in what it has of one lock, and is refused what the lab does not play.
//!
//! What a recording does not say is not made up. Somebody who gave up, or whose session ended, while it waited is not known to
//! have wanted the lock for any time: where it gets the lock in the script, since another strategy is quicker, it lets go at once.

use std::collections::BTreeMap;

use lockscope_wire::TurnFigures;

/// Turns of a script, of all clients together.
pub const SCRIPT_TURNS_MAX: usize = 5_000;
/// The longest script as it is played, ms.
pub const SCRIPT_MS_MAX: i64 = 30 * 60_000;
/// The fastest that one is played: so many times as fast as it was.
pub const SCRIPT_SPEED_MAX: u32 = 100;

/// What was recorded of one contender, in milliseconds since any one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTurn {
    /// Its session.
    pub session: i64,
    /// When it queued up.
    pub joined_ms: i64,
    /// When it held first; None: never.
    pub held_ms: Option<i64>,
    /// When it was gone.
    pub left_ms: i64,
    /// It went with its session.
    pub has_died: bool,
}

/// How a turn goes on once its client queued up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It waits as long as it takes, holds for so long, and lets go.
    LetsGo {
        /// How long it holds.
        hold_ms: u64,
    },
    /// The same, and its session ends instead.
    DiesHolding {
        /// How long it holds.
        hold_ms: u64,
    },
    /// It waits for so long and gives up.
    GivesUp {
        /// How long it waits.
        wait_ms: u64,
    },
    /// It waits for so long, and its session ends.
    DiesWaiting {
        /// How long it waits.
        wait_ms: u64,
    },
}

/// One turn of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptTurn {
    /// When it queues up, ms after the script began; at once where its turn before is not over by then.
    pub arrives_ms: u64,
    /// What comes then.
    pub end: TurnEnd,
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The turns of each client, in order. A session that queued up again before its turn was over is two clients.
    pub clients: Vec<Vec<ScriptTurn>>,
    /// How many times as fast as it was.
    pub speed: u32,
    /// How long it lasts as it is played, if nobody waits for longer than was recorded.
    pub lasts_ms: u64,
    /// What was recorded, as it was: not sped up.
    pub recorded: TurnFigures,
}

/// Why there is no script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Nobody to compete with.
    #[error("fewer than two contenders were recorded in that time; choose a longer range")]
    Nobody,
    /// Too many turns.
    #[error(
        "{0} contenders were recorded in that time, and a script has {SCRIPT_TURNS_MAX} at most; choose a shorter range"
    )]
    TooManyTurns(usize),
    /// Too many sessions.
    #[error("the script needs {needed} sessions at once and the lab allows {most}; choose a shorter range")]
    TooManyClients {
        /// How many.
        needed: usize,
        /// How many are allowed.
        most: usize,
    },
    /// It lasts for too long.
    #[error(
        "the script lasts {lasts_ms} ms at that speed and {most_ms} ms are allowed; choose a shorter range or a higher speed"
    )]
    TooLong {
        /// How long it lasts.
        lasts_ms: i64,
        /// How long it may.
        most_ms: i64,
    },
    /// The speed.
    #[error("the speed is 1 to {SCRIPT_SPEED_MAX}")]
    Speed,
    /// The recording contradicts itself.
    #[error("a contender is recorded to have left before it came or held; its day may be damaged")]
    Backwards,
}

impl Script {
    /// Makes a script of what was recorded, in any order.
    ///
    /// # Errors
    /// It can't be played, or is more than the lab plays: nothing is left out of a script.
    pub fn new(mut turns: Vec<RecordedTurn>, speed: u32, clients_max: usize) -> Result<Self, ScriptError> {
        if !(1..=SCRIPT_SPEED_MAX).contains(&speed) {
            return Err(ScriptError::Speed);
        }
        if turns.len() > SCRIPT_TURNS_MAX {
            return Err(ScriptError::TooManyTurns(turns.len()));
        }
        if turns.iter().any(|turn| !is_forward(turn)) {
            return Err(ScriptError::Backwards);
        }
        turns.sort_by_key(|turn| (turn.joined_ms, turn.left_ms, turn.session));
        let begin_ms = turns.first().map_or(0, |turn| turn.joined_ms);
        let end_ms = turns.iter().map(|turn| turn.left_ms).max().unwrap_or(begin_ms);
        let lasts_ms = end_ms.saturating_sub(begin_ms) / i64::from(speed);
        if lasts_ms > SCRIPT_MS_MAX {
            return Err(ScriptError::TooLong { lasts_ms, most_ms: SCRIPT_MS_MAX });
        }
        let clients = clients(&turns, begin_ms, speed);
        match clients.len() {
            0 | 1 => Err(ScriptError::Nobody),
            needed if needed > clients_max => Err(ScriptError::TooManyClients { needed, most: clients_max }),
            _ => Ok(Self { clients, speed, lasts_ms: lasts_ms.unsigned_abs(), recorded: figures(&turns) }),
        }
    }

    /// How many turns there are.
    pub fn turns(&self) -> usize {
        self.clients.iter().map(Vec::len).sum()
    }
}

fn is_forward(turn: &RecordedTurn) -> bool {
    let held_ms = turn.held_ms.unwrap_or(turn.joined_ms);
    turn.joined_ms <= held_ms && held_ms <= turn.left_ms
}

/// Who plays what: each session plays its turns; one that begins a turn before the last one is over needs another client.
fn clients(turns: &[RecordedTurn], begin_ms: i64, speed: u32) -> Vec<Vec<ScriptTurn>> {
    let mut clients: Vec<Vec<ScriptTurn>> = Vec::new();
    // Of each session: its clients, each with when it is free again; none that died ever is.
    let mut of_session: BTreeMap<i64, Vec<(usize, Option<i64>)>> = BTreeMap::new();
    let scaled = |ms: i64| ms.unsigned_abs() / u64::from(speed);
    for turn in turns {
        let own = of_session.entry(turn.session).or_default();
        let is_free =
            |(_, free_ms): &&mut (usize, Option<i64>)| free_ms.is_some_and(|free_ms| free_ms <= turn.joined_ms);
        let free_ms = (!turn.has_died).then_some(turn.left_ms);
        let at = match own.iter_mut().find(is_free) {
            Some(known) => {
                known.1 = free_ms;
                known.0
            }
            None => {
                clients.push(Vec::new());
                own.push((clients.len() - 1, free_ms));
                clients.len() - 1
            }
        };
        let wait_ms = scaled(turn.left_ms - turn.joined_ms);
        let end = match (turn.held_ms.map(|held_ms| scaled(turn.left_ms - held_ms)), turn.has_died) {
            (Some(hold_ms), false) => TurnEnd::LetsGo { hold_ms },
            (Some(hold_ms), true) => TurnEnd::DiesHolding { hold_ms },
            (None, false) => TurnEnd::GivesUp { wait_ms },
            (None, true) => TurnEnd::DiesWaiting { wait_ms },
        };
        if let Some(client) = clients.get_mut(at) {
            client.push(ScriptTurn { arrives_ms: scaled(turn.joined_ms - begin_ms), end });
        }
    }
    clients
}

/// What turns come to, whoever took them.
pub fn figures(turns: &[RecordedTurn]) -> TurnFigures {
    let mut waits: Vec<u64> =
        turns.iter().filter_map(|turn| Some((turn.held_ms? - turn.joined_ms).unsigned_abs())).collect();
    waits.sort_unstable();
    let mut held: Vec<(i64, &RecordedTurn)> = turns.iter().filter_map(|turn| Some((turn.held_ms?, turn))).collect();
    held.sort_by_key(|(held_ms, turn)| (*held_ms, turn.left_ms));
    let pairs = held.iter().zip(held.iter().skip(1));
    let mut hand_offs: Vec<u64> = pairs
        // Where nobody waited the lock was free, and where both held at once nothing was handed on.
        .filter(|((_, before), (held_ms, next))| next.joined_ms <= before.left_ms && before.left_ms <= *held_ms)
        .map(|((_, before), (held_ms, _))| (held_ms - before.left_ms).unsigned_abs())
        .collect();
    hand_offs.sort_unstable();
    TurnFigures {
        held: waits.len() as u64,
        left_waiting: (turns.len() - waits.len()) as u64,
        wait_p50_ms: quantile(&waits, 50).unwrap_or(0),
        wait_p95_ms: quantile(&waits, 95).unwrap_or(0),
        hand_off_p50_ms: quantile(&hand_offs, 50),
    }
}

/// The smallest value that so many in a hundred do not exceed.
fn quantile(sorted: &[u64], percent: usize) -> Option<u64> {
    sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turn(session: i64, joined_ms: i64, held_ms: Option<i64>, left_ms: i64) -> RecordedTurn {
        RecordedTurn { session, joined_ms, held_ms, left_ms, has_died: false }
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
        let lets_go = |arrives_ms, hold_ms| ScriptTurn { arrives_ms, end: TurnEnd::LetsGo { hold_ms } };
        assert_eq!(
            script.clients[0],
            [lets_go(0, 1_900), ScriptTurn { arrives_ms: 3_000, end: TurnEnd::GivesUp { wait_ms: 500 } }]
        );
        assert_eq!(script.clients[1], [lets_go(500, 2_000)]);
        let dies = ScriptTurn { arrives_ms: 1_000, end: TurnEnd::DiesHolding { hold_ms: 10_000 } };
        assert_eq!((&script.clients[2], script.lasts_ms, script.turns()), (&vec![dies], 14_100, 4));
        let recorded = TurnFigures {
            held: 3,
            left_waiting: 1,
            wait_p50_ms: 1_500,
            wait_p95_ms: 3_100,
            hand_off_p50_ms: Some(100),
        };
        assert_eq!(script.recorded, recorded);
    }

    #[test]
    fn a_speed_shortens_the_script_and_not_what_was_recorded() {
        let turns = vec![turn(1, 0, Some(0), 6_000), turn(2, 1_000, Some(6_000), 9_000)];
        let script = Script::new(turns, 10, 10).unwrap();
        assert_eq!(script.clients[1], [ScriptTurn { arrives_ms: 100, end: TurnEnd::LetsGo { hold_ms: 300 } }]);
        assert_eq!((script.lasts_ms, script.recorded.wait_p95_ms), (900, 5_000));
    }

    #[test]
    fn a_session_of_several_threads_and_one_that_died_need_more_clients() {
        let at_once = vec![turn(1, 0, Some(0), 100), turn(1, 50, Some(100), 200), turn(1, 200, Some(200), 300)];
        let script = Script::new(at_once, 1, 10).unwrap();
        assert_eq!(script.clients.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        let died = vec![RecordedTurn { has_died: true, ..turn(1, 0, None, 100) }, turn(1, 500, Some(500), 600)];
        let script = Script::new(died, 1, 10).unwrap();
        assert_eq!(script.clients[0], [ScriptTurn { arrives_ms: 0, end: TurnEnd::DiesWaiting { wait_ms: 100 } }]);
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
            prop_assert_eq!(script.clients.iter().flatten().map(holds).sum::<u64>(), recorded.unsigned_abs());
            for client in &script.clients {
                prop_assert!(client.is_sorted_by_key(|turn| turn.arrives_ms));
                let dies = |turn: &ScriptTurn| matches!(turn.end, TurnEnd::DiesHolding { .. } | TurnEnd::DiesWaiting { .. });
                prop_assert!(client.iter().rev().skip(1).all(|turn| !dies(turn)));
            }
        }
    }
}
