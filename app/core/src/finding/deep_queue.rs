//! A long queue: each acquire reads it whole.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::recipe::Shape;
use crate::sentence::Trend;

/// F23: each acquire lists the whole queue.
pub(super) struct DeepQueue;

impl Lint for DeepQueue {
    fn code(&self) -> Code {
        Code::DeepQueue
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let contenders = context.lock.contender_count();
        let lists = matches!(
            context.lock.recognition.shape,
            Shape::Line | Shape::LeaderElection | Shape::LeasesAndLocks | Shape::LeasesAndSibling
        );
        if !lists || contenders < context.limits.deep_contenders {
            return Outcome::Ok;
        }
        let trend = match context.lock.tally.depth.ends(context.now) {
            Some((first, last)) if last > first => Trend::Grows,
            Some((first, last)) if last < first => Trend::Shrinks,
            _ => Trend::Steady,
        };
        let oddity = Oddity::DeepQueue { contenders, trend };
        Outcome::Warn(LintWarning {
            severity: Severity::Info,
            oddity,
            paths: vec![context.lock.parts.main.to_string()],
        })
    }
}
