//! A directory that is deleted when it is empty.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, count};

/// F7; ZooKeeper's container and TTL parents.
pub(super) struct ContainerReaped;

impl Lint for ContainerReaped {
    fn code(&self) -> Code {
        Code::ContainerReaped
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let times = context.lock.tally.reaped;
        if times == 0 || context.lock.gone_since.is_some() {
            return Outcome::Ok;
        }
        let text = format!(
            "Its directory was deleted while empty and made again {}: a container or TTL parent. Numbers start again at 0 each time.",
            count(times as usize, "time")
        );
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![context.lock.path.to_string()] })
    }
}
