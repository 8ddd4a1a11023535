//! Sessions that wait for each other in a circle.

use super::{Code, Lint, Outcome, Severity, Survey, Warning};

/// F22.
pub(super) struct Deadlock;

impl Lint for Deadlock {
    fn code(&self) -> Code {
        Code::Deadlock
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        let Some((cycle, sentence)) = survey.cycles.first() else { return Outcome::Ok };
        let caveat = if cycle.is_doubtful {
            " A session in it has more contenders than these, and may serve threads that do not wait for each other."
        } else {
            " One session may serve many threads: then this may be none."
        };
        let paths = cycle.steps.iter().map(|step| step.holder.to_string()).collect();
        Outcome::Warn(Warning { severity: Severity::Critical, text: format!("{sentence}{caveat}"), paths })
    }
}
