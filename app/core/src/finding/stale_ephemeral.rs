//! The znode of a session that ended.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::evidence::FRESH_MS;
use crate::lock::Hold;

/// ZOOKEEPER-1208: an ephemeral made while its session was ended. Nobody deletes it.
pub(super) struct StaleEphemeral;

/// A round more than tables last: they were asked for once more since it was first so.
const LASTING_MS: i64 = FRESH_MS + 5_000;

impl Lint for StaleEphemeral {
    fn code(&self) -> Code {
        Code::StaleEphemeral
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let (lock, evidence) = (context.lock, context.evidence);
        let has_ended = |hold: &Hold| evidence.has_ended(context.now, hold.owner?, hold.since);
        let mut lost = lock.holders.iter().filter(|hold| hold.is_disconnected());
        let Some(hold) = lost.find(|hold| has_ended(hold) != Some(false)) else { return Outcome::Ok };
        // A member that is wrong or late may be the only one to have it.
        if has_ended(hold).is_none() || evidence.disputed().contains_key(&*hold.path()) {
            return Outcome::RecheckAt(context.now + FRESH_MS);
        }
        let severity = if lock.waiters_seen() > 0 { Severity::Critical } else { Severity::Warning };
        let oddity = Oddity::StaleEphemeral { who: context.name(hold) };
        Outcome::WarnAfter(LintWarning { severity, oddity, paths: vec![hold.path()] }, LASTING_MS)
    }
}
