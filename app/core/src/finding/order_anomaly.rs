//! A queue whose order is not that of creation.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::recipe::Shape;

/// Order by the recipe's rule against order of creation (czxid).
pub(super) struct OrderAnomaly;

impl Lint for OrderAnomaly {
    fn code(&self) -> Code {
        Code::OrderAnomaly
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        if !matches!(context.lock.recognition.shape, Shape::Line | Shape::LeaderElection) {
            return Outcome::Ok;
        }
        let read =
            context.contenders.iter().filter_map(|contender| Some((contender, contender.child.read.as_ref()?.czxid)));
        let (mut newest, mut number, mut oldest_of_number) = (None, None, None);
        let mut paths = Vec::new();
        for (contender, czxid) in read {
            // A client may join at a number that is there already, later than those behind it: a Curator writer that
            // reads as well (5.5 and later), Solr's joinAtHead. The oldest of a number stands for all.
            if number != Some(contender.key.number()) {
                newest = newest.max(oldest_of_number.take());
                number = Some(contender.key.number());
            }
            if newest.is_some_and(|newest| czxid < newest) {
                paths.push(contender.path());
            }
            oldest_of_number = oldest_of_number.into_iter().chain([czxid]).min();
        }
        if paths.is_empty() {
            return Outcome::Ok;
        }
        let oddity = Oddity::OrderAnomaly { contenders: paths.len() };
        Outcome::Warn(LintWarning { severity: Severity::Warning, oddity, paths })
    }
}
