//! One release wakes many.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::{Hold, WokenBasis};
use crate::recipe::Shape;

/// F21.
pub(super) struct Herd;

impl Lint for Herd {
    fn code(&self) -> Code {
        Code::Herd
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let lock = context.lock;
        if matches!(lock.recognition.shape, Shape::Fixed | Shape::Alone | Shape::Gate) {
            return counted(context);
        }
        if lock.waiters_seen() < context.limits.herd_waiters {
            return Outcome::Ok;
        }
        let Some((path, number)) =
            lock.crowd(context.mirror).filter(|(_, number)| *number >= context.limits.herd_waiters)
        else {
            return Outcome::Ok;
        };
        let oddity = Oddity::Herd { waiters: number };
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![path] })
    }
}

/// Where waiters have no znode, those that the members' tables show; while no table is read nothing is known of them.
fn counted(context: &LintContext<'_>) -> Outcome {
    let Some(woken) = context.lock.woken(context.evidence, context.mirror, context.now, context.ours) else {
        return Outcome::Ok;
    };
    let Some(sessions) = woken.sessions.filter(|sessions| *sessions >= context.limits.herd_waiters) else {
        return Outcome::Ok;
    };
    let oddity = Oddity::HerdOfWatchers { sessions, is_least: woken.known == WokenBasis::AtLeast };
    let paths = context.lock.holders.first().map(Hold::path).into_iter().collect();
    Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths })
}
