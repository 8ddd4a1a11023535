//! A long queue: each acquire reads it whole.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};
use crate::recipe::Shape;

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
            Some((first, last)) if last > first => ", and it grows",
            Some((first, last)) if last < first => ", and it shrinks",
            _ => "",
        };
        let text = format!(
            "{contenders} contenders queue{trend}. Every client that queues up or is woken reads the list of all of them."
        );
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![context.lock.parts.main.to_string()] })
    }
}
