//! One release wakes many.

use super::{Code, Lint, Outcome, Severity, Survey, Warning};

/// F21.
pub(super) struct Herd;

impl Lint for Herd {
    fn code(&self) -> Code {
        Code::Herd
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        if survey.lock.waiter_count() < survey.limits.herd_waiters {
            return Outcome::Ok;
        }
        let Some((path, number)) = survey.lock.crowd(survey.mirror).filter(|(_, number)| *number >= survey.limits.herd_waiters) else {
            return Outcome::Ok;
        };
        let text = format!("{number} waiters watch one znode: when it goes all of them are woken and ask at once.");
        Outcome::Warn(Warning { severity: Severity::Info, text, paths: vec![path] })
    }
}
