//! Some members have a contender that others have not.

use std::sync::Arc;

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};

/// F14 (ZOOKEEPER-5010): the lists of ephemerals differed in the same way in two rounds. F15: the same, while a member
/// lags; that is a warning, as it may end by itself.
pub(super) struct MembersDisagree;

impl Lint for MembersDisagree {
    fn code(&self) -> Code {
        Code::MembersDisagree
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let parts = &context.lock.parts;
        let is_ours = |path: &str| {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if context.lock.is_alone() { *path == *context.lock.path } else { parts.hold(parent) }
        };
        let disputed = || context.evidence.disputed().iter().filter(|(path, _)| is_ours(path));
        // What no lag explains is reported first.
        let worst = disputed().find(|(_, disputed)| disputed.late.is_empty()).or_else(|| disputed().next());
        let Some((path, first)) = worst else { return Outcome::Ok };
        let more = disputed().count() - 1;
        let severity = if first.late.is_empty() { Severity::Critical } else { Severity::Warning };
        let names = |members: &[Arc<str>]| members.iter().map(ToString::to_string).collect();
        let oddity =
            Oddity::MembersDisagree { path: path.to_string(), on: names(&first.on), more, late: names(&first.late) };
        Outcome::Warn(LintWarning { severity, oddity, paths: vec![path.to_string()] })
    }
}
