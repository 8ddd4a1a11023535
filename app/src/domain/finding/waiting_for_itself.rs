//! A client that waits behind its own old znode.

use std::collections::BTreeMap;

use super::{Code, Lint, Outcome, Severity, Survey, Warning, identity};
use crate::domain::lock::Tenure;
use crate::domain::recipe::Shape;

/// F8; CURATOR-678.
pub(super) struct WaitingForItself;

impl Lint for WaitingForItself {
    fn code(&self) -> Code {
        Code::WaitingForItself
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        if !matches!(survey.lock.recognition.shape, Shape::Line | Shape::Office) {
            return Outcome::Ok;
        }
        let mut holders: BTreeMap<String, Vec<&Tenure>> = BTreeMap::new();
        for tenure in &survey.lock.holders {
            if let Some(own) = tenure.label.as_deref().and_then(identity) {
                holders.entry(own).or_default().push(tenure);
            }
        }
        if holders.is_empty() {
            return Outcome::Ok;
        }
        let again = survey.waiters().find_map(|seat| {
            let own = survey.identity(seat)?;
            let tenure = holders.get(&own)?.iter().find(|tenure| tenure.owner != seat.child.owner())?;
            Some((own, *tenure, seat))
        });
        let Some((own, tenure, seat)) = again else { return Outcome::Ok };
        let session = seat.child.owner().map_or_else(String::new, |session| format!(" with session {session}"));
        let text =
            format!("{own} holds and waits again{session} behind itself, if the two are one client: a release that was lost leaves the old znode.");
        Outcome::Warn(Warning { severity: Severity::Info, text, paths: vec![tenure.path(), seat.path()] })
    }
}
