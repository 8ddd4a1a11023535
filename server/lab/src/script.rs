//! A recorded incident as a script for real sessions: who comes when, for how long each holds or waits, and whose session
//! ends, at one lock or at several. Pure: whoever has the recording hands in what it has of these locks, and is refused what
//! the lab does not play.
//!
//! What a recording does not say is not made up. Somebody who gave up, or whose session ended, while it waited is not known to
//! have wanted the lock for any time: where it gets the lock in the script, since another strategy is quicker, it lets go at once.

mod casting;
#[cfg(test)]
mod tests;

use lockscope_wire::TurnFigures;

use casting::Casting;
pub use casting::{Cue, CueKind, ScriptClient};

/// Turns of a script, of all clients together.
pub const SCRIPT_TURNS_MAX: usize = 5_000;
/// Locks of a script.
pub const SCRIPT_LOCKS_MAX: usize = 16;
/// The longest script as it is played, ms.
pub const SCRIPT_MS_MAX: i64 = 30 * 60_000;
/// The fastest that one is played: so many times as fast as it was.
pub const SCRIPT_SPEED_MAX: u32 = 100;

/// What was recorded of one contender, in milliseconds since any one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTurn {
    /// Its session.
    pub session: i64,
    /// Which of the locks, from 0.
    pub lock: usize,
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
        /// How long it holds; behind a cue, from there on.
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
    /// When it queues up, ms after the script began, or after its cue; at once where its turn before is not over by then.
    pub arrives_ms: u64,
    /// What has to happen to another turn of its session first.
    pub arrives_after: Option<Cue>,
    /// What comes then.
    pub end: TurnEnd,
    /// From when on its hold counts, where its session asks for another lock meanwhile: not from when it begins to hold.
    pub holds_after: Option<Cue>,
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Who plays: each the turns of one session at one lock, in order.
    pub clients: Vec<ScriptClient>,
    /// Sessions that they share. One that queued up again at a lock before its turn there was over is two.
    pub sessions: usize,
    /// Locks that they play at.
    pub locks: usize,
    /// How many times as fast as it was.
    pub speed: u32,
    /// How long it lasts as it is played, if nobody waits for longer than was recorded.
    pub lasts_ms: u64,
    /// What was recorded, as it was: not sped up.
    pub recorded: TurnFigures,
    turns: Vec<RecordedTurn>,
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
    /// Too many locks.
    #[error("{0} locks are named, and a script has {SCRIPT_LOCKS_MAX} at most; name fewer")]
    TooManyLocks(usize),
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
        let locks = turns.iter().map(|turn| turn.lock + 1).max().unwrap_or(0);
        if locks > SCRIPT_LOCKS_MAX {
            return Err(ScriptError::TooManyLocks(locks));
        }
        let Casting { clients, sessions } = Casting::new(&turns, begin_ms, speed);
        match sessions {
            0 | 1 => Err(ScriptError::Nobody),
            needed if needed > clients_max => Err(ScriptError::TooManyClients { needed, most: clients_max }),
            _ => {
                let (lasts_ms, recorded) = (lasts_ms.unsigned_abs(), figures(&turns));
                Ok(Self { clients, sessions, locks, speed, lasts_ms, recorded, turns })
            }
        }
    }

    /// Of each client, its session and its lock.
    pub fn seats(&self) -> Vec<(usize, usize)> {
        self.clients.iter().map(|client| (client.session, client.lock)).collect()
    }

    /// How many turns there are.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// What was recorded at one of the locks, and how many turns that are.
    pub fn recorded_at(&self, lock: usize) -> (usize, TurnFigures) {
        let there = turns_at(&self.turns, lock);
        (there.len(), figures(&there))
    }
}

/// Those at one of the locks.
pub fn turns_at(turns: &[RecordedTurn], lock: usize) -> Vec<RecordedTurn> {
    turns.iter().filter(|turn| turn.lock == lock).copied().collect()
}

fn is_forward(turn: &RecordedTurn) -> bool {
    let held_ms = turn.held_ms.unwrap_or(turn.joined_ms);
    turn.joined_ms <= held_ms && held_ms <= turn.left_ms
}

/// What turns come to, whoever took them.
pub fn figures(turns: &[RecordedTurn]) -> TurnFigures {
    let mut waits: Vec<u64> =
        turns.iter().filter_map(|turn| Some((turn.held_ms? - turn.joined_ms).unsigned_abs())).collect();
    waits.sort_unstable();
    let mut held: Vec<(i64, &RecordedTurn)> = turns.iter().filter_map(|turn| Some((turn.held_ms?, turn))).collect();
    held.sort_by_key(|(held_ms, turn)| (turn.lock, *held_ms, turn.left_ms));
    let pairs = held.iter().zip(held.iter().skip(1));
    let mut hand_offs: Vec<u64> = pairs
        .filter(|((_, before), (_, next))| next.lock == before.lock)
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
