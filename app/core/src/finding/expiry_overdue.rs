//! A session should have run out, and what it owns is still there.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::evidence::RunsOut;
use crate::lock::Hold;

/// The end of F12. Sessions run out on a tick, a member's clock is known to about one more, and the deletion takes a
/// moment (`SessionTrackerImpl`).
pub(super) struct ExpiryOverdue;

/// Ticks after its announced end that a session may still be there.
const GRACE_TICKS: i64 = 2;

impl Lint for ExpiryOverdue {
    fn code(&self) -> Code {
        Code::ExpiryOverdue
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let due = |hold: &Hold| {
            let RunsOut { at, .. } = hold.peer.as_ref()?.runs_out.filter(|_| hold.is_disconnected())?;
            Some(at + context.evidence.tick_ms().saturating_mul(GRACE_TICKS))
        };
        let holders = || context.lock.holders.iter().filter_map(|hold| Some((hold, due(hold)?)));
        let Some((hold, _)) = holders().find(|(_, due)| *due <= context.now) else {
            return holders().map(|(_, due)| due).min().map_or(Outcome::Ok, Outcome::RecheckAt);
        };
        let oddity = Oddity::ExpiryOverdue { who: context.name(hold) };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: vec![hold.path()] })
    }
}
