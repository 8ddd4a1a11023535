//! A client that waits behind its own old znode.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, identity};
use crate::lock::{ContenderRef, Hold};
use crate::recipe::Shape;

/// Waiters looked at for a znode of their own ahead, the first in the queue.
const WAITERS_LOOK: usize = 256;

/// F8; CURATOR-678.
pub(super) struct WaitingForItself;

impl Lint for WaitingForItself {
    fn code(&self) -> Code {
        Code::WaitingForItself
    }

    fn look(&self, survey: &LintContext<'_>) -> Outcome {
        if !matches!(survey.lock.recognition.shape, Shape::Line | Shape::LeaderElection) {
            return Outcome::Ok;
        }
        let mut holders: BTreeMap<String, Vec<&Hold>> = BTreeMap::new();
        for tenure in &survey.lock.holders {
            if let Some(own) = tenure.label.as_deref().and_then(identity) {
                holders.entry(own).or_default().push(tenure);
            }
        }
        let again = survey.waiters().find_map(|seat| {
            let own = survey.identity(seat)?;
            let tenure = holders.get(&own)?.iter().find(|tenure| tenure.owner != seat.child.owner())?;
            Some((own, *tenure, seat))
        });
        let Some((own, tenure, seat)) = again else { return behind_own(survey) };
        let session = seat.child.owner().map_or_else(String::new, |session| format!(" with session {session}"));
        let text =
            format!("{own} holds and waits again{session} behind itself, if the two are one client: a release that was lost leaves the old znode.");
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![tenure.path(), seat.path()] })
    }
}

/// A waiter whose client looks at another znode of its own: when its turn comes it finds itself ahead.
fn behind_own(survey: &LintContext<'_>) -> Outcome {
    let waiters: Vec<(&ContenderRef<'_>, String)> =
        survey.waiters().take(WAITERS_LOOK).filter_map(|seat| Some((seat, survey.identity(seat)?))).collect();
    let found = waiters.iter().find_map(|(seat, own)| {
        let targets = survey.lock.waits_for(survey.mirror, seat);
        let ahead = waiters.iter().find(|(other, label)| {
            let is_target = targets.iter().any(|target| target.directory == other.directory && target.name == other.key.name());
            is_target && label == own && other.child.owner() != seat.child.owner()
        });
        Some((own, ahead?.0, *seat))
    });
    let Some((own, ahead, seat)) = found else { return Outcome::Ok };
    let text = format!("{own} waits behind itself, if the two are one client: the znode ahead may be left over from an attempt it gave up.");
    Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![ahead.path(), seat.path()] })
}
