//! Some members have a contender that others have not.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};

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
        let on = if first.on.is_empty() { "no member".to_owned() } else { first.on.join(", ") };
        let more = if more > 0 { format!(", and {more} more znodes differ") } else { String::new() };
        let what = format!("{path} is only on {on}{more}. Clients of different members see different holders");
        let (severity, text) = if first.late.is_empty() {
            let cure =
                "the member that is wrong copies the leader's data when it is started with an empty data directory";
            (Severity::Critical, format!("Members disagree: {what}; {cure}."))
        } else {
            let (late, lag) = (first.late.join(", "), if first.late.len() > 1 { "lag" } else { "lags" });
            (Severity::Warning, format!("{late} {lag} behind the others: {what} until it has caught up."))
        };
        Outcome::Warn(LintWarning { severity, text, paths: vec![path.to_string()] })
    }
}
