//! Election and office disagree.

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity};
use crate::lock::Hold;
use crate::recipe::Shape;
use crate::sentence::OfficeConflict;

/// Election and office may disagree for so long while a leader takes office or leaves it.
const OFFICE_GRACE_MS: i64 = 2_000;

/// F5; CURATOR-696, CURATOR-644.
pub(super) struct LeaderMismatch;

impl Lint for LeaderMismatch {
    fn code(&self) -> Code {
        Code::LeaderMismatch
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        let lock = context.lock;
        let Some(office) = lock.parts.second.as_ref().filter(|_| lock.recognition.shape == Shape::LeaderElection)
        else {
            return Outcome::Ok;
        };
        let first = lock.holders.first();
        let leader =
            context.mirror.directory(office).and_then(|directory| directory.child("leader")).map(|(_, child)| child);
        let conflict = match (first, leader) {
            (None, None) => return Outcome::Ok,
            (Some(first), Some(leader)) if leader.read.is_none() || leader.owner() == first.owner => {
                return Outcome::Ok;
            }
            (Some(first), Some(leader)) => {
                OfficeConflict::Another { first: context.name(first), owner: leader.owner() }
            }
            (Some(first), None) => OfficeConflict::NoOffice { first: context.name(first) },
            (None, Some(_)) => OfficeConflict::NoCandidate,
        };
        let paths = first.map(Hold::path).into_iter().chain([format!("{office}/leader")]).collect();
        Outcome::WarnAfter(
            LintWarning { severity: Severity::Critical, oddity: Oddity::OfficeConflict(conflict), paths },
            OFFICE_GRACE_MS,
        )
    }
}
