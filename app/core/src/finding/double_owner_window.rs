//! A holder that took over from one whose session ended.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, took_over};
use crate::verdict::name_of;

/// F4; CURATOR-498, CURATOR-604.
pub(super) struct DoubleOwnerWindow;

impl Lint for DoubleOwnerWindow {
    fn code(&self) -> Code {
        Code::DoubleOwnerWindow
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some((head, past)) = took_over(context) else { return Outcome::Ok };
        let text = format!(
            "{} did not release: its session ended, and {} took over. The old client may not know yet and may go on working.",
            name_of(&past.hold),
            context.name(head)
        );
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![head.path()] })
    }
}
