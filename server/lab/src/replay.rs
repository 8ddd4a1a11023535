//! A recorded incident as an order for the lab, and what came of it beside what was recorded. Pure: whoever has the
//! recording hands in the lives of one lock, or of several.

use std::ops::Range;
use std::sync::Arc;

use lockscope_wire::{
    LabOrder, LabRangeCut, LabReplay, LabReplaySource, LabReplayedLock, LabReplayedStrategy, Strategy, TurnFigures,
};

use super::script::{RecordedTurn, SCRIPT_LOCKS_MAX, SCRIPT_TURNS_MAX, Script, ScriptError};
use super::{LabRefusal, Limits};

/// Contenders who had come before the range queue up so far apart, ms as it is played: a few round trips, so that they
/// keep their order.
pub const LEAD_MS: i64 = 20;
/// Recipes of locks that one contender holds at a time, which is what the lab plays.
const EXCLUSIVE: [&str; 3] = ["sequential_mutex", "single_node_mutex", "election"];

/// What was recorded of one contender, in ms since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedLife {
    /// Its place in the order of coming: the czxid of its znode.
    pub rank: i64,
    /// Which of the locks, from 0.
    pub lock: usize,
    /// Its session; None for a persistent znode.
    pub session: Option<i64>,
    /// When it queued up.
    pub joined_ms: i64,
    /// When it held first; None: never.
    pub held_ms: Option<i64>,
    /// When it was gone; None while it is there.
    pub left_ms: Option<i64>,
    /// It went with its session.
    pub has_died: bool,
    /// It may have come, held or gone at another time: it was read late, or there is a gap.
    pub is_unsure: bool,
}

/// A script, and where it comes from.
#[derive(Clone, Debug)]
pub struct Replay {
    /// What is played.
    pub script: Arc<Script>,
    /// What was recorded.
    pub source: LabReplaySource,
}

/// The turns of a range. Whoever came before it queues up right before it begins: those that held first, then in the order in
/// which they came. Whoever is there after it goes when it ends. Nobody is left out.
pub fn turns_in(lives: &[RecordedLife], range: &Range<i64>, speed: u32) -> (Vec<RecordedTurn>, LabRangeCut) {
    let is_there =
        |life: &&RecordedLife| life.joined_ms < range.end && life.left_ms.is_none_or(|left_ms| left_ms > range.start);
    let mut lives: Vec<&RecordedLife> = lives.iter().filter(is_there).collect();
    let held_at_begin = |life: &RecordedLife| life.held_ms.is_some_and(|held_ms| held_ms <= range.start);
    lives.sort_by_key(|life| {
        let came = if life.joined_ms < range.start { (0, !held_at_begin(life)) } else { (1, false) };
        (came, life.joined_ms, life.rank)
    });
    let before = lives.iter().filter(|life| life.joined_ms < range.start).count();
    let mut cut = LabRangeCut { before, ..LabRangeCut::default() };
    let mut turns = Vec::with_capacity(lives.len());
    for (at, life) in lives.into_iter().enumerate() {
        let ahead = i64::try_from(before.saturating_sub(at)).unwrap_or(i64::MAX);
        let joined_ms = life.joined_ms.max(range.start - ahead.saturating_mul(LEAD_MS * i64::from(speed)));
        let held_ms = life.held_ms.filter(|held_ms| *held_ms < range.end);
        let held_ms = held_ms.map(|held_ms| if held_at_begin(life) { joined_ms } else { held_ms });
        let goes = life.left_ms.filter(|left_ms| *left_ms <= range.end);
        cut.after += usize::from(goes.is_none());
        cut.unsure += usize::from(life.is_unsure);
        turns.push(RecordedTurn {
            session: life.session.unwrap_or(!life.rank),
            lock: life.lock,
            joined_ms,
            held_ms,
            left_ms: goes.unwrap_or(range.end),
            has_died: life.has_died && goes.is_some(),
        });
    }
    (turns, cut)
}

impl Replay {
    /// Makes one of what was recorded; what was cut is noted in the source.
    ///
    /// # Errors
    /// The lab does not play it; one sentence with the remedy.
    pub fn new(
        lives: &[RecordedLife],
        mut source: LabReplaySource,
        speed: u32,
        clients_max: u32,
    ) -> Result<Self, LabRefusal> {
        let refused = |error: ScriptError| LabRefusal::Bad(error.to_string());
        if lives.len() > SCRIPT_TURNS_MAX {
            return Err(refused(ScriptError::TooManyTurns(lives.len())));
        }
        let locks = source.further_locks.len() + 1;
        if locks > SCRIPT_LOCKS_MAX {
            return Err(refused(ScriptError::TooManyLocks(locks)));
        }
        let (turns, cut) = turns_in(lives, &(source.from_ms..source.to_ms), speed);
        let clients_max = usize::try_from(clients_max).unwrap_or(usize::MAX);
        let script = Script::new(turns, speed, clients_max).map_err(refused)?;
        if !is_exclusive(&source.recipe) {
            return Err(not_exclusive("the lock", &source.recipe));
        }
        // Of one at which nobody was, nothing is known.
        let other = source.further_locks.iter().find(|other| !other.recipe.is_empty() && !is_exclusive(&other.recipe));
        if let Some(other) = other {
            return Err(not_exclusive(&other.path, &other.recipe));
        }
        source.cut = cut;
        Ok(Self { script: Arc::new(script), source })
    }

    /// How many locks are played, those at which nobody was included.
    pub(super) fn locks(&self) -> usize {
        self.source.further_locks.len() + 1
    }

    /// The order that it is: as many sessions as it needs, and nothing of its own to repeat.
    pub fn order(&self, ensemble: Option<String>, strategies: Vec<Strategy>, in_turn: bool) -> LabOrder {
        LabOrder {
            ensemble,
            strategies,
            clients: u32::try_from(self.script.sessions).unwrap_or(u32::MAX),
            rounds: 1,
            hold_ms: 0,
            think_ms: 0,
            duration_ms: None,
            in_turn,
            seed: None,
        }
    }

    /// What was recorded beside what was played.
    pub(super) fn report(&self, strategies: Vec<LabReplayedStrategy>) -> LabReplay {
        let Self { script, source } = self;
        let paths = [&source.path].into_iter().chain(source.further_locks.iter().map(|other| &other.path));
        let of_lock = |(lock, path): (usize, &String)| {
            let (turns, recorded) = script.recorded_at(lock);
            LabReplayedLock { path: path.clone(), turns, recorded }
        };
        let report = LabReplay {
            source: source.clone(),
            speed: script.speed,
            clients: script.sessions,
            turns: script.turns(),
            recorded: script.recorded,
            locks: paths.enumerate().map(of_lock).collect(),
            strategies,
            sentence: String::new(),
        };
        LabReplay { sentence: sentence(&report), ..report }
    }

    /// Whether it fits into the time that a run may take.
    pub(super) fn check(&self, order: &LabOrder, limits: &Limits) -> Result<(), LabRefusal> {
        let lanes = if order.in_turn { order.strategies.len() } else { 1 };
        let lasts_ms = self.script.lasts_ms.saturating_mul(u64::try_from(lanes).unwrap_or(u64::MAX));
        if lasts_ms <= limits.duration_ms_max.into() {
            return Ok(());
        }
        Err(LabRefusal::Bad(format!(
            "the replay would take at least {lasts_ms} ms (the strategies one after the other with in_turn), and the limit is {} ms; choose a higher speed, a shorter range or fewer strategies",
            limits.duration_ms_max
        )))
    }

    /// In a few words, without the name of the lock: whoever sees the run may not see that.
    pub(super) fn words(&self) -> String {
        let what = match self.locks() {
            1 => "a recorded lock is".to_owned(),
            locks => format!("{locks} recorded locks are"),
        };
        let Script { speed, sessions, .. } = *self.script;
        format!(
            "{what} replayed {}: {} contenders by {sessions} sessions",
            speed_words(speed, self.locks()),
            self.script.turns()
        )
    }

    /// What was and was not reproduced.
    pub(super) fn notes(&self) -> Vec<String> {
        let LabRangeCut { before, after, unsure } = self.source.cut;
        let mut notes = vec![format!(
            "All {} contenders of the range are played. Of them {before} had come before it and queue up right before it begins, {after} were there after it and go when it ends, and the times of {unsure} are not sure; {} of the range was recorded.",
            self.script.turns(),
            percent(self.source.recorded_part)
        )];
        notes.push("Who arrives, for how long each holds and who goes when is played as recorded, also where others wait for longer; what a holder did, and why it took so long, is not.".to_owned());
        if self.locks() > 1 {
            notes.push("A session that held one lock and asked for another asks as long after it got the first as it did, and keeps the first until as long after it had the other, or lost it, as it did. Of a session that serves several threads it is not known which of them held what: it is played as if it were one.".to_owned());
        }
        notes.push("Sessions are open before the script begins. One that ended in the recording is closed when its znode was gone; the time-out before that is part of the recorded hold.".to_owned());
        notes.push("Contenders that arrive within a few milliseconds of each other, as played, may queue in another order than they did.".to_owned());
        if self.script.speed > 1 {
            notes.push(format!(
                "A hand-off takes as long as ever, so at {} times the speed each weighs {} times as much.",
                self.script.speed, self.script.speed
            ));
        }
        notes
    }
}

/// What was recorded and what was played, side by side, in one sentence.
fn sentence(of: &LabReplay) -> String {
    let recorded = &of.recorded;
    let speed = u64::from(of.speed.max(1));
    let (p50, p95) = (recorded.wait_p50_ms / speed, recorded.wait_p95_ms / speed);
    let mut sentence = format!(
        "Recorded{}: {} held, half of them after {p50} ms or less and 95 in 100 after {p95} ms; {} left waiting",
        if speed > 1 { format!(", divided by the speed of {speed}") } else { String::new() },
        recorded.held,
        recorded.left_waiting
    );
    for lane in &of.strategies {
        let TurnFigures { held, left_waiting, wait_p50_ms, wait_p95_ms, .. } = lane.figures;
        sentence += &format!(
            "; {}: {held} held, {wait_p50_ms} ms and {wait_p95_ms} ms, {left_waiting} left waiting",
            lane.name.name()
        );
        if lane.played < of.turns {
            sentence += &format!(" ({} of {} turns were played)", lane.played, of.turns);
        }
    }
    sentence + "."
}

fn speed_words(speed: u32, locks: usize) -> String {
    let was = if locks == 1 { "it was" } else { "they were" };
    if speed == 1 { format!("as fast as {was}") } else { format!("{speed} times as fast as {was}") }
}

fn is_exclusive(recipe: &str) -> bool {
    EXCLUSIVE.contains(&recipe)
}

fn not_exclusive(which: &str, recipe: &str) -> LabRefusal {
    LabRefusal::Bad(format!(
        "{which} is a {recipe}, and the lab plays locks that one holds at a time; choose one of {}",
        EXCLUSIVE.join(", ")
    ))
}

/// Never the whole where a part is missing.
fn percent(part: f64) -> String {
    format!("{:.0} %", (part * 100.0).clamp(0.0, 100.0).floor())
}

#[cfg(test)]
mod tests;
