//! A client that lost the lock with its session and came back.

use std::collections::BTreeMap;

use super::lint::{Code, Lint, LintContext, LintWarning, Outcome, Severity, identity};
use crate::departure::Departure;
use crate::lock::Hold;

/// F16, as far as znodes tell.
pub(super) struct SameClientNewSession;

impl Lint for SameClientNewSession {
    fn code(&self) -> Code {
        Code::SameClientNewSession
    }

    fn look(&self, survey: &LintContext<'_>) -> Outcome {
        // The newest loss of each client; a client's identity is worked out once for each contender.
        let mut lost: BTreeMap<String, &Hold> = BTreeMap::new();
        for past in survey.lock.tally.past.iter().filter(|past| past.how == Departure::SessionEnded) {
            if let Some(own) = past.tenure.label.as_deref().and_then(identity) {
                lost.entry(own).or_insert(&past.tenure);
            }
        }
        if lost.is_empty() {
            return Outcome::Ok;
        }
        let back = survey.seats.iter().find_map(|seat| {
            let new = seat.child.owner()?;
            let own = survey.identity(seat)?;
            let tenure = lost.get(&own).filter(|tenure| tenure.owner != Some(new))?;
            Some((own, tenure.owner, new, seat))
        });
        let Some((own, old, new, seat)) = back else { return Outcome::Ok };
        let old = old.map_or_else(|| "unknown".to_owned(), |session| session.to_string());
        let text = format!("{own} lost this lock when its session {old} ended, and is back with session {new}.");
        Outcome::Warn(LintWarning { severity: Severity::Info, text, paths: vec![seat.path()] })
    }
}
