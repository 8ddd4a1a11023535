//! Sessions take locks in opposite orders.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};

/// A deadlock that may come. Where the deadlock stands already, its own finding says so.
pub(super) struct LockOrder;

impl Lint for LockOrder {
    fn code(&self) -> Code {
        Code::LockOrder
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some(warning) = context.order.as_ref().filter(|_| context.cycle.is_none()) else { return Outcome::Ok };
        let paths = warning.circle.locks.iter().map(|path| path.to_string()).collect();
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity: warning.oddity(), paths })
    }
}
