//! Nobody holds what somebody must.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::mirror::Child;
use crate::recipe::Shape;
use crate::time::TimeMs;
use crate::znode::split_path;

/// After how long without a holder it is reported.
const UNHELD_MS: i64 = 30_000;
/// While its root can't be seen it is looked at again after so long: that it is seen again need not change the lock.
const UNSEEN_AGAIN_MS: i64 = 1_000;

/// A lock of the configuration's list that nobody holds.
pub(super) struct MustBeHeld;

impl Lint for MustBeHeld {
    fn code(&self) -> Code {
        Code::MustBeHeld
    }

    /// Only time in which its root was seen counts: in a gap somebody may have held it. What was reported before a gap
    /// stays until somebody is seen to hold.
    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let lock = context.lock;
        if !lock.holders.is_empty() || !context.limits.must_be_held(&lock.path) {
            return Outcome::Ok;
        }
        if shows_nothing(context) {
            return Outcome::RecheckAt(context.now + UNSEEN_AGAIN_MS);
        }
        let warning = || LintWarning {
            severity: Severity::Critical,
            oddity: Oddity::MustBeHeld { is_there: is_there(context), waiting: lock.waiters_seen() },
            paths: vec![lock.path.to_string()],
        };
        let was_found = context.assessment.findings.iter().any(|finding| finding.code == self.code());
        match context.seen_since.filter(|_| !lock.missing().hides_holders()) {
            Some(_) if was_found => Outcome::Warn(warning()),
            Some(seen_since) => Outcome::WarnAfter(warning(), UNHELD_MS + unseen_ms(context, seen_since)),
            None if was_found => Outcome::WarnUntil(warning(), context.now + UNSEEN_AGAIN_MS),
            None => Outcome::RecheckAt(context.now + UNSEEN_AGAIN_MS),
        }
    }
}

/// Something is there and nothing of it tells who holds; or whether something is there may not be read.
fn shows_nothing(context: &LintContext<'_>) -> bool {
    let (path, mirror) = (&*context.lock.path, context.mirror);
    if context.lock.recognition.shape != Shape::Idle {
        return false;
    }
    let hides = |above: &str| {
        mirror.node(above).is_some_and(Child::is_unreadable)
            || mirror.directory(above).is_some_and(|directory| directory.missing().hides_holders())
    };
    let is_owned = || mirror.node(path).is_some_and(|node| node.is_owned() != Some(false));
    let has_children = mirror.directory(path).is_some_and(|directory| !directory.is_empty());
    has_children || is_owned() || std::iter::successors(Some(path), |path| Some(split_path(path)?.0)).any(hides)
}

fn is_there(context: &LintContext<'_>) -> bool {
    let (path, mirror) = (&context.lock.path, context.mirror);
    mirror.directory(path).is_some() || mirror.node(path).is_some()
}

/// How long before the root was seen the lock was noted as one that nobody holds.
fn unseen_ms(context: &LintContext<'_>, seen_since: TimeMs) -> i64 {
    let noted = context.assessment.suspects.iter().find(|(code, _)| *code == Code::MustBeHeld).map(|(_, since)| *since);
    let noted = noted.or(context.assessment.look_at).unwrap_or(context.now);
    seen_since.since(noted).max(0)
}
