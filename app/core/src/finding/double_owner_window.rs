//! A holder that took over from one whose session ended.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, took_over};
use crate::verdict::name_of;

/// F4; CURATOR-498, CURATOR-604.
pub(super) struct DoubleOwnerWindow;

impl Lint for DoubleOwnerWindow {
    fn code(&self) -> Code {
        Code::DoubleOwnerWindow
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some((head, past)) = took_over(context) else { return Outcome::Ok };
        let oddity = Oddity::TookOver { old: name_of(&past.hold), new: context.name(head) };
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![head.path()] })
    }
}
