//! A waiter that nothing will wake.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::evidence::Watch;

/// Waiters looked at, in order: those that would hold next matter most.
const WAITERS_LOOK: usize = 64;

/// The watch tables of all members were read long after the waiter should have set its watch, and it is in none.
pub(super) struct MissingWatch;

impl Lint for MissingWatch {
    fn code(&self) -> Code {
        Code::MissingWatch
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        if context.evidence.watches_at(context.now).is_none() {
            return Outcome::Ok;
        }
        let is_lost = |contender: &&crate::lock::ContenderRef<'_>| {
            let targets = context.lock.waits_for(context.mirror, contender);
            !targets.is_empty()
                && targets.iter().all(|target| {
                    context.lock.confirm(context.evidence, context.now, contender, target) == Watch::Missing
                })
        };
        let lost: Vec<String> =
            context.waiters().take(WAITERS_LOOK).filter(is_lost).map(crate::lock::ContenderRef::path).collect();
        if lost.is_empty() {
            return Outcome::Ok;
        }
        let oddity = Oddity::MissingWatch { waiters: lost.len() };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: lost })
    }
}
