//! Contenders that no session owns.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, count};
use crate::lock::ContenderRef;
use crate::recipe::Shape;

/// F18.
pub(super) struct NeverExpires;

impl Lint for NeverExpires {
    fn code(&self) -> Code {
        Code::NeverExpires
    }

    fn look(&self, survey: &LintContext<'_>) -> Outcome {
        let is_meant =
            matches!(survey.lock.recognition.shape, Shape::Gate | Shape::Items | Shape::TakenItems) || survey.lock.ends_at(survey.mirror).is_some();
        if is_meant {
            return Outcome::Ok;
        }
        let paths: Vec<String> = survey.seats.iter().filter(|seat| seat.child.is_owned() == Some(false)).map(ContenderRef::path).collect();
        if paths.is_empty() {
            return Outcome::Ok;
        }
        let holds = survey.seats.iter().any(|seat| seat.child.is_owned() == Some(false) && survey.holds(seat));
        let what = count(paths.len(), "contender");
        let text = if paths.len() == 1 {
            format!("{what} belongs to no session: it stays when its client dies, until somebody deletes it.")
        } else {
            format!("{what} belong to no session: they stay when their clients die, until somebody deletes them.")
        };
        Outcome::Warn(LintWarning { severity: if holds { Severity::Critical } else { Severity::Warning }, text, paths })
    }
}
