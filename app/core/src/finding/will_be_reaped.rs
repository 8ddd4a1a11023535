//! An empty directory that will be deleted.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};

/// F7, before it happens. That a directory is a container or has a time to live is in no Stat: it is known of those that
/// were deleted while empty before.
pub(super) struct WillBeReaped;

impl Lint for WillBeReaped {
    fn code(&self) -> Code {
        Code::WillBeReaped
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let (lock, times) = (context.lock, context.lock.tally.reaped);
        let Some(directory) = context.directory().filter(|_| times > 0 && lock.gone_since.is_none()) else {
            return Outcome::Ok;
        };
        // A container that nobody used yet stays.
        let was_used = lock.tally.acquisitions > 0 || directory.stat.is_some_and(|stat| stat.creates_ever > 0);
        if !directory.is_empty() || !was_used {
            return Outcome::Ok;
        }
        let oddity = Oddity::WillBeReaped { times: times as usize };
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![lock.path.to_string()] })
    }
}
