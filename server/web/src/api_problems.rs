//! The API's own forms of problems and advice: whole sentences, with ages as of the answer.

use lockscope_view::words::duration;
use lockscope_view::{Advice, Headline, LockProblem, Step, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// What needs somebody.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LockProblem")]
pub(super) struct ProblemJson {
    /// Ensemble.
    ensemble: String,
    /// The verdict on its locks.
    verdict: Verdict,
    /// The code of the critical finding that makes it a problem; null where the verdict does.
    finding: Option<String>,
    /// The first of its locks, at most four.
    locks: Vec<String>,
    /// All of its locks.
    lock_count: u32,
    /// Who, since when, and whom it hurts.
    sentence: String,
    /// Since when, ms since the Unix epoch; null where no instant is known.
    since_at_ms: Option<i64>,
    /// Contenders that are seen to wait in its locks.
    waiter_count: u32,
    /// How long they wait, together.
    total_wait_ms: i64,
    /// The next step.
    step: Step,
}

/// What to do about a lock.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LockAdvice")]
pub(super) struct AdviceJson {
    /// Who, since when, and whom it hurts.
    sentence: String,
    /// One to three steps, in order.
    steps: Vec<Step>,
    /// Why the verdict is what it is.
    why: String,
}

impl ProblemJson {
    pub(super) fn new(problem: &LockProblem, now_ms: i64) -> Self {
        let waited_ms = i64::from(problem.waiter_count).saturating_mul(now_ms);
        Self {
            ensemble: problem.ensemble.clone(),
            verdict: problem.verdict,
            finding: problem.finding.clone(),
            locks: problem.locks.clone(),
            lock_count: problem.lock_count,
            sentence: sentence(&problem.headline, now_ms),
            since_at_ms: problem.headline.since_ms,
            waiter_count: problem.waiter_count,
            total_wait_ms: waited_ms.saturating_sub(problem.waiting_since_sum_ms).max(0),
            step: problem.step.clone(),
        }
    }
}

impl AdviceJson {
    pub(super) fn new(advice: Advice, now_ms: i64) -> Self {
        Self { sentence: sentence(&advice.headline, now_ms), steps: advice.steps, why: advice.why }
    }
}

fn sentence(headline: &Headline, now_ms: i64) -> String {
    let Headline { before, since_ms, is_lower_bound, after } = headline;
    let Some(since_ms) = since_ms else { return format!("{before}{after}") };
    let least = if *is_lower_bound { "at least " } else { "" };
    let space = if after.starts_with('(') { " " } else { "" };
    format!("{before} {least}{}{space}{after}", duration(now_ms.saturating_sub(*since_ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_stands_within_its_sentence() {
        let headline = Headline {
            before: "a has held it for".to_owned(),
            since_ms: Some(1_000),
            is_lower_bound: true,
            after: "(usually 0.3 s). 4 wait.".to_owned(),
        };
        assert_eq!(sentence(&headline, 3_500), "a has held it for at least 2.5 s (usually 0.3 s). 4 wait.");
        assert_eq!(
            sentence(&Headline { since_ms: None, ..headline }, 3_500),
            "a has held it for(usually 0.3 s). 4 wait."
        );
    }
}
