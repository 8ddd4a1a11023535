//! Znodes written after their creation.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, count};
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
            let text = format!(
                "{} written again after creation. Clients of this recipe don't; another process may have taken the znode over, and it vanishes with its creator's session.",
                count(rewritten.len(), "znode") + if rewritten.len() == 1 { " was" } else { " were" }
            );
            return Outcome::Warn(LintWarning { severity: Severity::Warning, text, paths: paths(&rewritten) });
        }
        if asked.is_empty() {
            return Outcome::Ok;
        }
        let text = "Somebody asked the holder to let go (Curator's revocation request is in its znode).".to_owned();
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: paths(&asked) })
    }
}
