//! A head that nobody works under.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, hash_of, identity};
use crate::lock::ContenderRef;
use crate::recipe::Shape;

/// Beyond this many times the longest usual hold a head is suspect.
const FAR_ABOVE: i64 = 4;

/// F1; kazoo issue 732.
pub(super) struct OrphanContender;

impl Lint for OrphanContender {
    fn code(&self) -> Code {
        Code::OrphanContender
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let Some(head) = context.lock.holders.first().filter(|_| context.lock.recognition.shape == Shape::Line) else {
            return Outcome::Ok;
        };
        let own = head.label.as_deref().and_then(identity);
        let hash = own.as_deref().map_or(0, hash_of);
        let is_own = |contender: &&ContenderRef<'_>| {
            (head.owner.is_some() && contender.child.owner() == head.owner)
                || (own.is_some() && contender.child.identity_hash == hash && context.identity(contender) == own)
        };
        let Some(again) = context.waiters().find(is_own) else { return Outcome::Ok };
        let usual = context
            .lock
            .tally
            .holds
            .percentile(99)
            .filter(|_| context.lock.tally.holds.count() >= context.thresholds.usual_after_holds);
        let limit_ms = usual
            .map_or(context.thresholds.stuck_unknown_ms, |ms| (ms * FAR_ABOVE).max(context.thresholds.stuck_min_ms));
        if context.held_ms(head) < limit_ms {
            return Outcome::RecheckAt(head.since + limit_ms);
        }
        let oddity = Oddity::OrphanContender { who: context.name(head) };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: vec![head.path(), again.path()] })
    }
}
