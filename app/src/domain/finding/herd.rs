//! One release wakes many.

use std::collections::BTreeMap;

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
        let mut crowds: BTreeMap<String, u32> = BTreeMap::new();
        for seat in survey.waiters() {
            for target in survey.lock.waits_for(survey.mirror, seat).iter().filter(|target| target.is_shared) {
                *crowds.entry(target.path()).or_default() += 1;
            }
        }
        let Some((path, number)) = crowds.into_iter().max_by_key(|(_, number)| *number).filter(|(_, number)| *number >= survey.limits.herd_waiters)
        else {
            return Outcome::Ok;
        };
        let text = format!("{number} waiters watch one znode: when it goes all of them are woken and ask at once.");
        Outcome::Warn(Warning { severity: Severity::Info, text, paths: vec![path] })
    }
}
