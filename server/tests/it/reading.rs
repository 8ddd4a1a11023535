//! `docs/reading-the-board.md` explains every word that the page can say, and no other.

use std::collections::BTreeSet;

use lockscope_core::finding::{Code, Limits};
use lockscope_core::verdict::Thresholds;
use lockscope_wire::{EdgeEvidence, Liveness, Missing, RootState, Verdict};

const READING: &str = include_str!("../../../docs/reading-the-board.md");

/// First cells of the table below a heading.
fn told(heading: &str) -> BTreeSet<&'static str> {
    let (_, rest) = READING.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn every_word_is_explained_and_no_other() {
    assert_eq!(told("Verdicts"), Verdict::ALL.map(Verdict::name).into());
    assert_eq!(told("Findings"), Code::ALL.map(Code::name).into());
    assert_eq!(told("Liveness"), Liveness::ALL.map(Liveness::name).into());
    assert_eq!(told("Edges"), EdgeEvidence::ALL.map(EdgeEvidence::name).into());
    let complete = RootState::ALL.map(RootState::name).into_iter().chain(Missing::ALL.map(Missing::name)).collect();
    assert_eq!(told("How complete the picture is"), complete);
}

#[test]
fn its_numbers_are_the_defaults() {
    let (limits, times) = (Limits::default(), Thresholds::default());
    let thousands = |number: u32| {
        if number >= 1_000 { format!("{},{:03}", number / 1_000, number % 1_000) } else { number.to_string() }
    };
    let rows = [
        ("herd", format!("{} or more are woken", limits.herd_waiters)),
        ("deep_queue", format!("{} or more contenders", limits.deep_contenders)),
        ("sequence_overflow", format!("from {} % on", limits.sequence_percent)),
        ("empty_locks", format!("{} or more lock directories", thousands(limits.empty_locks))),
        ("session_hoards", format!("owns {} or more znodes", thousands(limits.hoard_znodes))),
        ("try_lock_churn", format!("{} or more attempts", limits.churn_attempts)),
        ("slow", format!("more than {} times the median", times.slow_times)),
        ("slow", format!("at least {} s", times.slow_min_ms / 1_000)),
        (
            "slow",
            format!(
                "fewer than {} holds were seen: for more than {} s",
                times.usual_after_holds,
                times.slow_unknown_ms / 1_000
            ),
        ),
        (
            "stuck",
            format!(
                "beyond {} times the median (at least {} s), or beyond {} min",
                times.stuck_times,
                times.stuck_min_ms / 1_000,
                times.stuck_unknown_ms / 60_000
            ),
        ),
    ];
    for (word, number) in rows {
        let row = READING.lines().find(|line| line.starts_with(&format!("| `{word}` |"))).unwrap();
        assert!(row.contains(&number), "{word}: {number:?} is not in {row:?}");
    }
}
