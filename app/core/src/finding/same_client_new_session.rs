//! A client that lost the lock with its session and came back.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Oddity, Outcome, Severity, hash_of, identity};
use crate::departure::Departure;
use crate::lock::{ContenderRef, Hold};

/// F16, as far as znodes show it.
pub(super) struct SameClientNewSession;

impl Lint for SameClientNewSession {
    fn code(&self) -> Code {
        Code::SameClientNewSession
    }

    fn look(&self, context: &LintContext<'_>) -> Outcome {
        // The newest loss of each client; a client's identity is worked out once for each contender.
        let mut lost: BTreeMap<String, &Hold> = BTreeMap::new();
        for past in context.lock.tally.past.iter().filter(|past| past.how == Departure::SessionEnded) {
            if let Some(own) = past.hold.label.as_deref().and_then(identity) {
                lost.entry(own).or_insert(&past.hold);
            }
        }
        if lost.is_empty() {
            return Outcome::Ok;
        }
        let hashes: Vec<u16> = lost.keys().map(|own| hash_of(own)).collect();
        let may_be_back = |contender: &&ContenderRef<'_>| hashes.contains(&contender.child.identity_hash);
        let back = context.contenders.iter().filter(may_be_back).find_map(|contender| {
            let new = contender.child.owner()?;
            let own = context.identity(contender)?;
            let hold = lost.get(&own).filter(|hold| hold.owner != Some(new))?;
            Some((own, hold.owner, new, contender))
        });
        let Some((own, old, new, contender)) = back else { return Outcome::Ok };
        let oddity = Oddity::NewSession { who: own, old, new };
        Outcome::Warn(LintWarning { severity: Severity::Info, oddity, paths: vec![contender.path()] })
    }
}
