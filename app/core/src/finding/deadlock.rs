//! Sessions that wait for each other in a circle.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, PATHS_MAX, Severity};

/// F22.
pub(super) struct Deadlock;

impl Lint for Deadlock {
    fn code(&self) -> Code {
        Code::Deadlock
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some((cycle, sentence)) = context.cycle else { return Outcome::Ok };
        let caveat = match (cycle.is_doubtful, cycle.is_certain) {
            (true, false) => {
                " A session in it has more contenders than these, and may serve threads that do not wait for each other."
            }
            (true, true) => {
                " A session in it has more contenders than these, and may serve threads that do not wait for each other; but all stand still for longer than these locks are ever held."
            }
            (false, _) => " One session may serve many threads: then this may be none.",
        };
        let severity = if cycle.is_certain { Severity::Critical } else { Severity::Warning };
        let paths = cycle.steps.iter().take(PATHS_MAX).map(|step| step.holder.to_string()).collect();
        Outcome::Warn(LintWarning { severity, text: format!("{sentence}{caveat}"), paths })
    }
}
