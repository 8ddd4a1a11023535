//! The gate: for every history and every cut, checkpoint and rest make the same model as the history.

use lockscope_core::observation::Observation;
use lockscope_core::observatory::{Observatory, Settings};
use lockscope_core::time::TimeMs;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::history::{Historian, Recorded};
use super::kinds::settings;
use super::step::steps;

/// Histories tried; `CHECKPOINT_HISTORIES` names another number (1000000 in the long run).
const HISTORIES: u32 = 10_000;

fn histories() -> u32 {
    std::env::var("CHECKPOINT_HISTORIES").ok().and_then(|number| number.parse().ok()).unwrap_or(HISTORIES)
}

fn config(cases: u32) -> Config {
    Config { cases, max_shrink_iters: 20_000, failure_persistence: None, ..Config::default() }
}

/// A model that knows nothing and was meant for something else.
fn fresh() -> Observatory {
    Observatory::new(Settings::default(), TimeMs(0))
}

pub(super) fn played(history: &[Recorded]) -> Observatory {
    let mut observatory = Observatory::new(settings(0), TimeMs(999_000));
    for (at, observation) in history {
        observatory.apply(*at, observation.clone());
    }
    observatory
}

pub(super) fn checkpoint(observatory: &Observatory) -> Vec<Observation> {
    observatory.checkpoint().unwrap().observations().collect()
}

/// What a checkpoint makes of a model that knows nothing.
pub(super) fn recalled(checkpoint: &[Observation], at: TimeMs) -> Observatory {
    let mut observatory = fresh();
    for observation in checkpoint {
        let changes = observatory.apply(at, observation.clone());
        assert!(changes.is_empty(), "nothing happened: {changes:?}");
    }
    observatory
}

/// Both are the same in every respect.
pub(super) fn assert_same(one: &Observatory, other: &Observatory, when: &str) {
    if one == other {
        return;
    }
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let (one, other): (Vec<&str>, Vec<&str>) = (one.lines().collect(), other.lines().collect());
    let at = one.iter().zip(&other).position(|(one, other)| one != other).unwrap_or(0);
    let around = |lines: &[&str]| lines[at.saturating_sub(30).min(lines.len())..(at + 6).min(lines.len())].join("\n");
    panic!("{when}, they differ at line {at}\n--- live\n{}\n--- recalled\n{}", around(&one), around(&other));
}

fn check(history: &[Recorded], cut: usize) {
    let (before, after) = history.split_at(cut);
    let mut live = played(before);
    let taken = checkpoint(&live);
    let mut other = recalled(&taken, TimeMs(5));
    assert_same(&live, &other, "at the cut");
    assert!(checkpoint(&other) == taken, "a checkpoint of a checkpoint is the same");
    for (at, observation) in after {
        assert_eq!(live.apply(*at, observation.clone()), other.apply(*at, observation.clone()));
    }
    assert_same(&live, &other, "at the end");
}

/// Plays a history as an engine does that leaves a backlog half way, and comes back later or when something else comes.
fn played_in_pieces(history: &[Recorded]) -> Observatory {
    let mut observatory = Observatory::new(settings(0), TimeMs(999_000));
    for (at, (now, observation)) in history.iter().enumerate() {
        observatory.begin(*now, observation.clone());
        for _ in 0..at % 3 {
            observatory.go_on();
        }
        assert_eq!(observatory.checkpoint().is_none(), observatory.has_backlog());
    }
    while observatory.has_backlog() {
        observatory.go_on();
    }
    observatory
}

#[test]
fn where_a_backlog_was_left_changes_nothing() {
    let mut runner = TestRunner::new(config(histories() / 20));
    let result = runner.run(&steps(60), |steps| {
        let history = Historian::of(&steps);
        assert_same(&played(&history), &played_in_pieces(&history), "at the end");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_checkpoint_and_the_rest_make_the_same_model_as_the_history() {
    let mut runner = TestRunner::new(config(histories()));
    let histories = (steps(60), any::<prop::sample::Index>());
    let result = runner.run(&histories, |(steps, cut)| {
        let history = Historian::of(&steps);
        check(&history, cut.index(history.len() + 1));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
