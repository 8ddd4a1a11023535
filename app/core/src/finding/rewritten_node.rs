//! Znodes written after their creation.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::ContenderRef;

/// F13: ephemerals of these recipes are written once, by their creator.
pub(super) struct RewrittenNode;

impl Lint for RewrittenNode {
    fn code(&self) -> Code {
        Code::RewrittenNode
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let written = context
            .contenders
            .iter()
            .filter_map(|contender| Some((contender, contender.child.read.as_ref()?)))
            .filter(|(_, read)| read.version > 0 && read.owner().is_some());
        let (asked, rewritten): (Vec<_>, Vec<_>) = written.partition(|(_, read)| &*read.payload == b"__REVOKE__");
        let paths =
            |found: &[(&ContenderRef<'_>, _)]| found.iter().map(|(contender, _)| contender.path()).collect::<Vec<_>>();
        if !rewritten.is_empty() {
            let oddity = Oddity::Rewritten { znodes: rewritten.len() };
            return Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: paths(&rewritten) });
        }
        if asked.is_empty() {
            return Outcome::Ok;
        }
        let oddity = Oddity::RevocationRequested;
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: paths(&asked) })
    }
}
