//! A directory that is deleted when it is empty.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};

/// F7; ZooKeeper's container and TTL parents.
pub(super) struct ContainerReaped;

impl Lint for ContainerReaped {
    fn code(&self) -> Code {
        Code::ContainerReaped
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let times = context.lock.tally.reaped;
        if times == 0 || context.lock.gone_since.is_some() || context.directory().is_none() {
            return Outcome::Ok;
        }
        let oddity = Oddity::ContainerReaped { times: times as usize };
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![context.lock.path.to_string()] })
    }
}
