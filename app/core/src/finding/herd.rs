//! One release wakes many.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};
use crate::lock::{Hold, WokenBasis};
use crate::recipe::Shape;

/// F21.
pub(super) struct Herd;

impl Lint for Herd {
    fn code(&self) -> Code {
        Code::Herd
    }

    fn look(&self, survey: &LintContext<'_>) -> Outcome {
        let lock = survey.lock;
        if matches!(lock.recognition.shape, Shape::Fixed | Shape::Alone | Shape::Gate) {
            return counted(survey);
        }
        if lock.waiters_seen() < survey.limits.herd_waiters {
            return Outcome::Ok;
        }
        let Some((path, number)) = lock.crowd(survey.mirror).filter(|(_, number)| *number >= survey.limits.herd_waiters) else {
            return Outcome::Ok;
        };
        let text = format!("{number} waiters watch one znode: when it goes all of them are woken and ask at once.");
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![path] })
    }
}

/// Where waiters have no znode, those that the members' tables show; while no table is read nothing is known of them.
fn counted(survey: &LintContext<'_>) -> Outcome {
    let Some(woken) = survey.lock.woken(survey.book, survey.mirror, survey.now, survey.ours) else { return Outcome::Ok };
    let Some(sessions) = woken.sessions.filter(|sessions| *sessions >= survey.limits.herd_waiters) else { return Outcome::Ok };
    let least = if woken.known == WokenBasis::AtLeast { "at least " } else { "" };
    let text = format!("{least}{sessions} sessions watch one znode: when it goes all of them are woken and try at once, and one gets it.");
    let paths = survey.lock.holders.first().map(Hold::path).into_iter().collect();
    Outcome::Warn(LintWarning { severity: Severity::Info, text, paths })
}
