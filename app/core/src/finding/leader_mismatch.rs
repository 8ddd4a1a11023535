//! Election and office disagree.

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity};
use crate::lock::Hold;
use crate::recipe::Shape;

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
        let problem = match (first, leader) {
            (None, None) => return Outcome::Ok,
            (Some(first), Some(leader)) if leader.read.is_none() || leader.owner() == first.owner => {
                return Outcome::Ok;
            }
            (Some(first), Some(leader)) => {
                let owner = leader.owner().map_or_else(|| "nobody".to_owned(), |session| format!("session {session}"));
                format!("{} is first in the election, but the leader znode belongs to {owner}", context.name(first))
            }
            (Some(first), None) => {
                format!("{} is first in the election, but there is no leader znode", context.name(first))
            }
            (None, Some(_)) => "there is a leader znode, but nobody stands in the election".to_owned(),
        };
        let paths = first.map(Hold::path).into_iter().chain([format!("{office}/leader")]).collect();
        Outcome::WarnAfter(
            LintWarning {
                severity: Severity::Critical,
                text: format!("Election and office disagree: {problem}."),
                paths,
            },
            OFFICE_GRACE_MS,
        )
    }
}
