//! The table: a row a fault, over all seeds, as markdown and as JSON. Pure.

use std::fmt::Write as _;

use lockscope_judge::{Kind, Wrong};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::run::Outcome;

/// Violations of a run that are listed in full.
const WRONGS_TOLD: usize = 12;

/// What a fault came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub fault: String,
    pub told: String,
    pub seeds: u64,
    /// States of locks that were shown, and those of them that claimed to be LIVE.
    pub states: u64,
    pub live: u64,
    pub releases: u64,
    /// Not true, at whatever transaction they might claim.
    pub wrong: u64,
    /// LIVE, and true too long ago.
    pub old_and_live: u64,
    /// Not exact again in time.
    pub late: u64,
    pub oldest_live_ms: i64,
    pub stale_after_ms: i64,
    pub exact_after_ms: i64,
    pub back_ms: Option<i64>,
    pub machine_late_ms: i64,
    #[serde(default)]
    pub alerts: AlertFigures,
    pub notes: Vec<String>,
    /// What was wrong, the first of it in full.
    pub details: Vec<String>,
}

/// What became of alerts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertFigures {
    /// Causes that owed one, and alerts that fired.
    pub expected: u64,
    pub fired: u64,
    /// Without a cause, over at a wrong instant, or told though nothing fired.
    pub wrong: u64,
    /// Causes for which none fired in time.
    pub missed: u64,
    /// Two of one, or told more often than kills explain.
    pub twice: u64,
    /// Receivers that were never told.
    pub lost: u64,
    /// From when it was due until somebody saw that it fires, at worst.
    pub slowest_ms: i64,
}

impl AlertFigures {
    fn is_clean(&self) -> bool {
        self.wrong + self.missed + self.twice + self.lost == 0
    }

    fn join(&mut self, other: Self) {
        let Self { expected, fired, wrong, missed, twice, lost, slowest_ms } = other;
        self.expected += expected;
        self.fired += fired;
        self.wrong += wrong;
        self.missed += missed;
        self.twice += twice;
        self.lost += lost;
        self.slowest_ms = self.slowest_ms.max(slowest_ms);
    }
}

impl Row {
    pub fn new(fault: Fault) -> Self {
        Self { fault: fault.name().to_owned(), told: fault.told().to_owned(), ..Self::default() }
    }

    pub fn is_clean(&self) -> bool {
        self.wrong + self.old_and_live + self.late == 0 && self.alerts.is_clean()
    }

    /// Takes the outcome of another seed.
    pub fn add(&mut self, seed: u64, outcome: &Outcome) {
        let report = &outcome.report;
        self.seeds += 1;
        self.states += report.counts.states;
        self.live += report.counts.live;
        self.releases += report.counts.deletions;
        for (kind, count) in &report.wrong_by_kind {
            *match kind {
                Kind::OldAndLive | Kind::LiveWithoutLink => &mut self.old_and_live,
                Kind::LateAfterReconnect => &mut self.late,
                Kind::AlertWithoutCause | Kind::AlertEndWrong | Kind::ToldFalse => &mut self.alerts.wrong,
                Kind::CauseWithoutAlert => &mut self.alerts.missed,
                Kind::AlertTwice | Kind::ToldTwice => &mut self.alerts.twice,
                Kind::Untold => &mut self.alerts.lost,
                _ => &mut self.wrong,
            } += count;
        }
        self.alerts.expected += report.counts.causes;
        self.alerts.fired += report.counts.alerts;
        self.alerts.slowest_ms = self.alerts.slowest_ms.max(report.worst.fires_ms);
        self.wrong += u64::try_from(outcome.wrong.len()).unwrap_or(u64::MAX);
        self.oldest_live_ms = self.oldest_live_ms.max(report.worst.age_ms);
        self.stale_after_ms = self.stale_after_ms.max(report.worst.not_live_ms);
        self.exact_after_ms = self.exact_after_ms.max(report.worst.exact_ms);
        self.back_ms = self.back_ms.max(outcome.back_ms);
        self.machine_late_ms = self.machine_late_ms.max(outcome.machine_late_ms);
        if report.counts.other_incarnations > 0 {
            self.notes.push(format!(
                "seed {seed}: {} other incarnations released, as the audit log says",
                report.counts.other_incarnations
            ));
        }
        self.notes.extend(outcome.notes.iter().map(|note| format!("seed {seed}: {note}")));
        if !outcome.is_clean() {
            self.details.push(format!("seed {seed}: {:?}", report.wrong_by_kind));
            self.details.extend(outcome.wrong.iter().take(WRONGS_TOLD).cloned());
            let told: Vec<&Wrong> = first_of_each(&report.wrong);
            self.details.extend(told.into_iter().map(|wrong| format!("{wrong:?}")));
        }
    }

    /// Takes what other seeds came to.
    fn join(&mut self, other: Self) {
        let Self { fault: _, told: _, seeds, states, live, releases, wrong, old_and_live, late, .. } = other;
        let sums = [
            (&mut self.seeds, seeds),
            (&mut self.states, states),
            (&mut self.live, live),
            (&mut self.releases, releases),
            (&mut self.wrong, wrong),
            (&mut self.old_and_live, old_and_live),
            (&mut self.late, late),
        ];
        for (sum, more) in sums {
            *sum += more;
        }
        self.oldest_live_ms = self.oldest_live_ms.max(other.oldest_live_ms);
        self.stale_after_ms = self.stale_after_ms.max(other.stale_after_ms);
        self.exact_after_ms = self.exact_after_ms.max(other.exact_after_ms);
        self.back_ms = self.back_ms.max(other.back_ms);
        self.machine_late_ms = self.machine_late_ms.max(other.machine_late_ms);
        self.alerts.join(other.alerts);
        self.notes.extend(other.notes);
        self.details.extend(other.details);
    }
}

/// The rows of campaigns with different seeds as those of one, in the order of the first that has the fault.
pub fn joined(tables: Vec<Vec<Row>>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in tables.into_iter().flatten() {
        match all.iter_mut().find(|known| known.fault == row.fault) {
            Some(known) => known.join(row),
            None => all.push(row),
        }
    }
    all
}

/// Some of each kind.
fn first_of_each(wrongs: &[Wrong]) -> Vec<&Wrong> {
    let mut sorted: Vec<&Wrong> = wrongs.iter().collect();
    sorted.sort_by_key(|wrong| wrong.kind());
    sorted
        .chunk_by(|one, other| one.kind() == other.kind())
        .flat_map(|kind| kind.iter().take(3).copied())
        .take(WRONGS_TOLD)
        .collect()
}

/// The table for people.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| fault | seeds | LIVE states judged | wrong | old and LIVE | not exact in time | oldest LIVE, ms | STALE after, ms | exact after, ms | all back after, ms | machine late, ms |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let back = row.back_ms.map_or_else(|| "–".to_owned(), |ms| ms.to_string());
        let figure = |ms: i64| if ms == 0 { "–".to_owned() } else { ms.to_string() };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {back} | {} |",
            row.told,
            row.seeds,
            row.live,
            row.wrong,
            row.old_and_live,
            row.late,
            figure(row.oldest_live_ms),
            figure(row.stale_after_ms),
            figure(row.exact_after_ms),
            row.machine_late_ms
        );
    }
    text
}

/// The table of alerts for people; faults without any are left out.
pub fn alerts_markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| fault | seeds | alerts owed | fired | wrong | missed | twice | lost | slowest to fire, ms |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows.iter().filter(|row| row.alerts != AlertFigures::default()) {
        let AlertFigures { expected, fired, wrong, missed, twice, lost, slowest_ms } = row.alerts;
        let _ = writeln!(
            text,
            "| {} | {} | {expected} | {fired} | {wrong} | {missed} | {twice} | {lost} | {slowest_ms} |",
            row.told, row.seeds
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_several_campaigns_are_one_table() {
        let row = |fault, seeds, live, back_ms| {
            let row = Row::new(fault);
            Row { seeds, live, back_ms, ..row }
        };
        let one = vec![row(Fault::Cut, 5, 10, Some(7)), row(Fault::Flap, 5, 1, None)];
        let other = vec![row(Fault::Cut, 3, 20, Some(9)), row(Fault::Storm, 3, 2, None)];
        let text = serde_json::to_string(&other).unwrap();
        let all = joined(vec![one, serde_json::from_str(&text).unwrap()]);
        let seen: Vec<_> = all.iter().map(|row| (row.fault.as_str(), row.seeds, row.live, row.back_ms)).collect();
        assert_eq!(seen, [("cut", 8, 30, Some(9)), ("flap", 5, 1, None), ("storm", 3, 2, None)]);
    }
}
