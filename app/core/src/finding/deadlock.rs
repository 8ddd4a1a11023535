//! Sessions that wait for each other in a circle.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, PATHS_MAX, Severity};

/// F22.
pub(super) struct Deadlock;

impl Lint for Deadlock {
    fn code(&self) -> Code {
        Code::Deadlock
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some((cycle, sentence)) = context.cycle else { return Outcome::Ok };
        let oddity = Oddity::Circle {
            sentence: sentence.to_owned(),
            is_doubtful: cycle.is_doubtful,
            is_certain: cycle.is_certain,
        };
        let severity = if cycle.is_certain { Severity::Critical } else { Severity::Warning };
        let paths = cycle.steps.iter().take(PATHS_MAX).map(|step| step.holder.to_string()).collect();
        Outcome::Warn(LintWarning { severity, oddity, paths })
    }
}
