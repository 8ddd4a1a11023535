//! Many try and few succeed.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};

/// Attempts are counted over this time.
const CHURN_MS: i64 = 60_000;

/// F20.
pub(super) struct TryLockChurn;

impl Lint for TryLockChurn {
    fn code(&self) -> Code {
        Code::TryLockChurn
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let attempts = &context.lock.tally.attempts;
        let lately: Vec<_> =
            attempts.lately.iter().filter(|gave_up| context.now.since(gave_up.at) < CHURN_MS).collect();
        let wins = context.lock.tally.acquisitions.max(1);
        if (lately.len() as u64) < u64::from(context.limits.churn_attempts) || attempts.gave_up < 2 * wins {
            return Outcome::Ok;
        }
        let mut who: BTreeMap<String, usize> = BTreeMap::new();
        for gave_up in &lately {
            let session = || gave_up.owner.map_or_else(|| "unknown".to_owned(), |session| format!("session {session}"));
            *who.entry(gave_up.label.as_deref().map_or_else(session, str::to_owned)).or_default() += 1;
        }
        let most = who.iter().max_by_key(|(_, number)| **number).map_or("", |(name, _)| name);
        let oddity = Oddity::Churn { gave_up: attempts.gave_up, successes: wins, most_by: most.to_owned() };
        // Newest first: once this one is too long ago, too few are left.
        let last = lately.get((context.limits.churn_attempts as usize).saturating_sub(1));
        let ends_at = last.map_or(context.now, |gave_up| gave_up.at) + CHURN_MS;
        Outcome::WarnUntil(
            LintWarning { severity: Severity::Info, oddity, paths: vec![context.lock.path.to_string()] },
            ends_at,
        )
    }
}
