//! A client that waits behind its own old znode.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, has_twice, hash_of, identity};
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

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        if !matches!(context.lock.recognition.shape, Shape::Line | Shape::LeaderElection) {
            return Outcome::Ok;
        }
        let mut holders: BTreeMap<String, Vec<&Hold>> = BTreeMap::new();
        for hold in &context.lock.holders {
            if let Some(own) = hold.label.as_deref().and_then(identity) {
                holders.entry(own).or_default().push(hold);
            }
        }
        let hashes: Vec<u16> = holders.keys().map(|own| hash_of(own)).collect();
        let may_be_own = |contender: &&ContenderRef<'_>| hashes.contains(&contender.child.identity_hash);
        let again = context.waiters().filter(may_be_own).find_map(|contender| {
            let own = context.identity(contender)?;
            let hold = holders.get(&own)?.iter().find(|hold| hold.owner != contender.child.owner())?;
            Some((own, *hold, contender))
        });
        let Some((own, hold, contender)) = again else { return behind_own(context) };
        let oddity = Oddity::HoldsAndWaits { who: own, session: contender.child.owner() };
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![hold.path(), contender.path()] })
    }
}

/// A waiter whose client looks at another znode of its own: when its turn comes it finds itself ahead.
fn behind_own(context: &LintContext<'_>) -> Outcome {
    let first: Vec<&ContenderRef<'_>> = context.waiters().take(WAITERS_LOOK).collect();
    let hashes = first.iter().map(|contender| contender.child.identity_hash).filter(|hash| *hash != 0);
    if !has_twice(hashes.collect()) {
        return Outcome::Ok;
    }
    let waiters: Vec<(&ContenderRef<'_>, String)> =
        first.into_iter().filter_map(|contender| Some((contender, context.identity(contender)?))).collect();
    let found = waiters.iter().find_map(|(contender, own)| {
        let targets = context.lock.waits_for(context.mirror, contender);
        let ahead = waiters.iter().find(|(other, label)| {
            let is_target =
                targets.iter().any(|target| target.directory == other.directory && target.name == other.key.name());
            is_target && label == own && other.child.owner() != contender.child.owner()
        });
        Some((own, ahead?.0, *contender))
    });
    let Some((own, ahead, contender)) = found else { return Outcome::Ok };
    let oddity = Oddity::WaitsBehindItself { who: own.clone() };
    Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![ahead.path(), contender.path()] })
}
