//! Who plays which turn, and what each waits for. Pure.
//!
//! A session that holds one lock and asks for another does so here as well: it asks as long after it got the first as it did
//! in the recording, and keeps the first until as long after it had, or lost, the second. So where it waits for longer, or
//! less, than was recorded, it holds for longer, or less.

use std::collections::BTreeMap;

use super::{RecordedTurn, ScriptTurn, TurnEnd};

/// What happens to a turn that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CueKind {
    /// It holds, or is over without.
    Held,
    /// It is over.
    Gone,
}

/// Something that happens to a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cue {
    /// Whose, from 0.
    pub client: usize,
    /// Which of its turns, from 0.
    pub turn: usize,
    /// What.
    pub kind: CueKind,
}

/// The turns of one session at one lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptClient {
    /// Its session, from 0.
    pub session: usize,
    /// Its lock, from 0.
    pub lock: usize,
    /// Its turns, in order.
    pub turns: Vec<ScriptTurn>,
}

/// Who plays.
#[derive(Clone, Debug, Default)]
pub(super) struct Casting {
    pub(super) clients: Vec<ScriptClient>,
    pub(super) sessions: usize,
}

/// A session of the lab.
#[derive(Debug, Default)]
struct Player {
    /// Its number.
    session: usize,
    /// When it ends.
    dies_ms: Option<i64>,
    /// Of each lock, its client and when that is free again.
    at_lock: BTreeMap<usize, (usize, i64)>,
    /// Its turns, in the order in which they came.
    turns: Vec<Placed>,
}

/// A turn and where it is played.
#[derive(Clone, Copy, Debug)]
struct Placed {
    turn: RecordedTurn,
    client: usize,
    number: usize,
}

impl Placed {
    fn cue(&self, kind: CueKind) -> Cue {
        Cue { client: self.client, turn: self.number, kind }
    }
}

impl Casting {
    /// Of turns in the order in which they came.
    pub(super) fn new(turns: &[RecordedTurn], begin_ms: i64, speed: u32) -> Self {
        let mut casting = Self::default();
        let mut of_session: BTreeMap<i64, Vec<Player>> = BTreeMap::new();
        for turn in turns {
            casting.place(of_session.entry(turn.session).or_default(), turn);
        }
        let scaled = |ms: i64| ms.unsigned_abs() / u64::from(speed);
        for player in of_session.values().flatten() {
            for (at, placed) in player.turns.iter().enumerate() {
                let turn = &placed.turn;
                let (arrives_after, from_ms) = arrival(&player.turns, at).unzip();
                let (holds_after, held_ms) = end_of_hold(&player.turns, at).unzip();
                let hold_ms = turn.held_ms.map(|own_ms| scaled(turn.left_ms - held_ms.unwrap_or(own_ms)));
                let wait_ms = scaled(turn.left_ms - turn.joined_ms);
                let end = match (hold_ms, turn.has_died) {
                    (Some(hold_ms), false) => TurnEnd::LetsGo { hold_ms },
                    (Some(hold_ms), true) => TurnEnd::DiesHolding { hold_ms },
                    (None, false) => TurnEnd::GivesUp { wait_ms },
                    (None, true) => TurnEnd::DiesWaiting { wait_ms },
                };
                let arrives_ms = scaled(turn.joined_ms - from_ms.unwrap_or(begin_ms));
                if let Some(client) = casting.clients.get_mut(placed.client) {
                    client.turns.push(ScriptTurn { arrives_ms, arrives_after, end, holds_after });
                }
            }
        }
        casting
    }

    /// Gives a turn to a session that is there and not at this lock, or to another one.
    fn place(&mut self, players: &mut Vec<Player>, turn: &RecordedTurn) {
        let can_play = |player: &Player| {
            let is_there = player.dies_ms.is_none_or(|dies_ms| turn.joined_ms < dies_ms);
            is_there && player.at_lock.get(&turn.lock).is_none_or(|(_, free_ms)| *free_ms <= turn.joined_ms)
        };
        let at = players.iter().position(can_play).unwrap_or_else(|| {
            players.push(Player { session: self.sessions, ..Player::default() });
            self.sessions += 1;
            players.len() - 1
        });
        let Some(player) = players.get_mut(at) else { return };
        let session = player.session;
        let client = player.at_lock.get(&turn.lock).map_or_else(
            || {
                self.clients.push(ScriptClient { session, lock: turn.lock, turns: Vec::new() });
                self.clients.len() - 1
            },
            |(client, _)| *client,
        );
        player.at_lock.insert(turn.lock, (client, turn.left_ms));
        if turn.has_died {
            player.dies_ms = Some(player.dies_ms.map_or(turn.left_ms, |dies_ms| dies_ms.min(turn.left_ms)));
        }
        let number = player.turns.iter().filter(|placed| placed.client == client).count();
        player.turns.push(Placed { turn: *turn, client, number });
    }
}

/// What a turn comes after, and when that was: the last thing that its session did while it held another lock. None where it
/// held none.
fn arrival(turns: &[Placed], at: usize) -> Option<(Cue, i64)> {
    let own = &turns.get(at)?.turn;
    let before = turns.get(..at)?;
    let holds = |placed: &&Placed| {
        let held_ms = placed.turn.held_ms.filter(|held_ms| *held_ms <= own.joined_ms);
        placed.turn.lock != own.lock && held_ms.is_some() && own.joined_ms < placed.turn.left_ms
    };
    let held = before.iter().filter(holds).filter_map(|placed| Some((placed.cue(CueKind::Held), placed.turn.held_ms?)));
    let first_ms = held.clone().map(|(_, held_ms)| held_ms).min()?;
    let inside = |placed: &&Placed| placed.turn.joined_ms >= first_ms && placed.turn.left_ms <= own.joined_ms;
    let gone = before.iter().filter(inside).map(|placed| (placed.cue(CueKind::Gone), placed.turn.left_ms));
    held.chain(gone).max_by_key(|(_, at_ms)| *at_ms)
}

/// From what on a hold counts, and when that was: the last thing that happened to another turn of its session that came
/// while it held. None where nothing did.
fn end_of_hold(turns: &[Placed], at: usize) -> Option<(Cue, i64)> {
    let own = &turns.get(at)?.turn;
    let held_ms = own.held_ms?;
    let inside = |placed: &&Placed| {
        let turn = &placed.turn;
        turn.lock != own.lock && turn.joined_ms >= held_ms && turn.joined_ms < own.left_ms
    };
    let after = turns.iter().skip(at + 1).filter(inside);
    let happened = after.flat_map(|placed| {
        let held = placed.turn.held_ms.map(|at_ms| (placed.cue(CueKind::Held), at_ms));
        held.into_iter().chain([(placed.cue(CueKind::Gone), placed.turn.left_ms)])
    });
    happened.filter(|(_, at_ms)| *at_ms <= own.left_ms).max_by_key(|(_, at_ms)| *at_ms)
}
