//! A queue whose order is not that of creation.

use super::{Code, Lint, Outcome, Severity, Survey, Warning, count};
use crate::domain::recipe::Shape;

/// Order by the recipe's rule against order of creation (czxid).
pub(super) struct OrderAnomaly;

impl Lint for OrderAnomaly {
    fn code(&self) -> Code {
        Code::OrderAnomaly
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        if !matches!(survey.lock.recognition.shape, Shape::Line | Shape::Office) {
            return Outcome::Ok;
        }
        let read = survey.seats.iter().filter_map(|seat| Some((seat, seat.child.read.as_ref()?.czxid)));
        let mut newest = None;
        let mut paths = Vec::new();
        for (seat, czxid) in read {
            if newest.is_some_and(|newest| czxid < newest) {
                paths.push(seat.path());
            }
            newest = newest.max(Some(czxid));
        }
        if paths.is_empty() {
            return Outcome::Ok;
        }
        let text = format!(
            "{} stand behind znodes that were created after them: the numbers are not in the order of creation.",
            count(paths.len(), "contender")
        );
        Outcome::Warn(Warning { severity: Severity::Warning, text, paths })
    }
}
