//! A recorded lock replayed in the lab: what is ordered, and what came of it beside what was recorded.

use serde::{Deserialize, Serialize};

use super::Strategy;

/// Body of `POST /api/v1/lab/replays`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LabReplayOrder {
    /// The ensemble that was recorded; empty where there is only one.
    #[serde(default)]
    pub ensemble: String,
    /// The lock that was recorded.
    pub path: String,
    /// Further locks that were recorded, 15 at most: sessions that hold one and ask for another do so in the lab.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 15)))]
    pub further_locks: Vec<String>,
    /// Where the range that is replayed begins, ms since the Unix epoch.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 253_402_300_799_999_i64)))]
    pub from_ms: i64,
    /// Where it ends.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 253_402_300_799_999_i64)))]
    pub to_ms: i64,
    /// How many times as fast as it was; 30 minutes as they are played are the longest.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub speed: u32,
    /// Ways of waiting, each once.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), extend("uniqueItems" = true)))]
    pub strategies: Vec<Strategy>,
    /// One strategy after the other, so that none disturbs another.
    #[serde(default = "yes")]
    pub in_turn: bool,
    /// The ensemble in whose lab it is played; left out where only one allows the lab.
    #[serde(default)]
    pub lab: Option<String>,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// Waits and hand-offs, ms. A quantile is the smallest value that at least that part of all does not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnFigures {
    /// Turns that held.
    pub held: u64,
    /// Turns that did not.
    pub left_waiting: u64,
    /// From queueing up to holding, the middle one of those that held; 0 where none did.
    pub wait_p50_ms: u64,
    /// The same, of 95 in 100.
    pub wait_p95_ms: u64,
    /// From one that is gone to the next that holds, where somebody waited by then: the middle one. Null: never.
    pub hand_off_p50_ms: Option<u64>,
}

/// What a range did to what was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabRangeCut {
    /// Contenders who had come before it; they queue up right before it begins.
    pub before: usize,
    /// Contenders who were there after it; they go when it ends.
    pub after: usize,
    /// Contenders whose recorded times are not sure.
    pub unsure: usize,
}

/// Where a script comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabReplaySource {
    /// The ensemble that was recorded.
    pub ensemble: String,
    /// The lock.
    pub path: String,
    /// Its recipe, by name.
    pub recipe: String,
    /// Further locks that are played with it.
    #[serde(default)]
    pub further_locks: Vec<LabRecordedLock>,
    /// Where the range begins, ms since the Unix epoch.
    pub from_ms: i64,
    /// Where it ends.
    pub to_ms: i64,
    /// The part of it that was recorded, from 0 to 1.
    pub recorded_part: f64,
    /// What was cut.
    pub cut: LabRangeCut,
}

/// A lock that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabRecordedLock {
    /// Its path.
    pub path: String,
    /// Its recipe, by name; empty where nobody came.
    pub recipe: String,
}

/// One lock of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabReplayedLock {
    /// Its path.
    pub path: String,
    /// Contenders that are played there.
    pub turns: usize,
    /// What was recorded there, at the speed that it had.
    pub recorded: TurnFigures,
}

/// One strategy of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabReplayedStrategy {
    /// Its way of waiting.
    pub name: Strategy,
    /// Turns that are over.
    pub played: usize,
    /// What they come to, in ms as they were played.
    pub figures: TurnFigures,
    /// The same of each lock, in the order of `locks`.
    #[serde(default)]
    pub locks: Vec<TurnFigures>,
}

/// Answer of `GET /api/v1/lab/runs/ID/replay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabReplay {
    /// What was recorded.
    pub source: LabReplaySource,
    /// How many times as fast as it was it is played.
    pub speed: u32,
    /// Sessions a strategy.
    pub clients: usize,
    /// Contenders that are played, each once.
    pub turns: usize,
    /// What was recorded, at the speed that it had.
    pub recorded: TurnFigures,
    /// The same of each lock, that of the order first.
    #[serde(default)]
    pub locks: Vec<LabReplayedLock>,
    /// What was played, in the order that was asked for.
    pub strategies: Vec<LabReplayedStrategy>,
    /// The same in one sentence, recorded waits divided by the speed.
    pub sentence: String,
}
