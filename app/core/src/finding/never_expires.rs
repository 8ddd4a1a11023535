//! Contenders that no session owns.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::ContenderRef;
use crate::recipe::Shape;

/// F18.
pub(super) struct NeverExpires;

impl Lint for NeverExpires {
    fn code(&self) -> Code {
        Code::NeverExpires
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let is_meant = matches!(context.lock.recognition.shape, Shape::Gate | Shape::Items | Shape::TakenItems)
            || context.lock.ends_at(context.mirror).is_some();
        if is_meant {
            return Outcome::Ok;
        }
        let paths: Vec<String> = context
            .contenders
            .iter()
            .filter(|contender| contender.child.is_owned() == Some(false))
            .map(ContenderRef::path)
            .collect();
        if paths.is_empty() {
            return Outcome::Ok;
        }
        let holds = context
            .contenders
            .iter()
            .any(|contender| contender.child.is_owned() == Some(false) && context.holds(contender));
        let oddity = Oddity::NeverExpires { contenders: paths.len() };
        Outcome::Warn(LintWarning {
            severity: if holds { Severity::Critical } else { Severity::Warning },
            oddity,
            paths,
        })
    }
}
