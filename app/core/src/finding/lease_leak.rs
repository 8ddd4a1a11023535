//! A lease that nobody returns.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};

/// A lease this many times older than the median of the others is an outlier …
const OUTLIER_TIMES: i64 = 10;
/// … from this age on.
const OUTLIER_MIN_MS: i64 = 30_000;

/// F3; CURATOR-315, CURATOR-335.
pub(super) struct LeaseLeak;

impl Lint for LeaseLeak {
    fn code(&self) -> Code {
        Code::LeaseLeak
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let lock = context.lock;
        if !lock.has_leases() {
            return Outcome::Ok;
        }
        let Some(capacity) = lock.capacity(context.mirror, context.configured_max) else { return Outcome::Ok };
        let Some(max) = capacity.max.number().filter(|max| capacity.used >= *max && lock.waiters_seen() > 0) else {
            return Outcome::Ok;
        };
        let mut ages: Vec<i64> = lock.holders.iter().map(|hold| context.held_ms(hold)).collect();
        ages.sort_unstable();
        let Some(oldest) = lock.holders.iter().min_by_key(|hold| hold.since).filter(|_| ages.len() > 1) else {
            return Outcome::Ok;
        };
        let others = ages.len() - 1;
        let median_ms = ages.get(others / 2).copied().unwrap_or(0);
        let limit_ms = median_ms.saturating_mul(OUTLIER_TIMES).max(OUTLIER_MIN_MS);
        if context.held_ms(oldest) < limit_ms {
            // The median grows as fast as the oldest does, so time alone makes an outlier at the least age only.
            let grows = limit_ms == OUTLIER_MIN_MS;
            return if grows { Outcome::RecheckAt(oldest.since + OUTLIER_MIN_MS) } else { Outcome::Ok };
        }
        let oddity = Oddity::LeaseLeak { used: capacity.used, max, who: context.name(oldest) };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths: vec![oldest.path()] })
    }
}
