//! A client that waits behind its own old znode.

use super::{Code, Lint, Outcome, Severity, Survey, Warning, identity};
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
        for tenure in &survey.lock.holders {
            let Some(own) = tenure.label.as_deref().and_then(identity) else { continue };
            let again = survey.waiters().find(|seat| seat.child.owner() != tenure.owner && survey.identity(seat).as_deref() == Some(&*own));
            if let Some(seat) = again {
                let session = seat.child.owner().map_or_else(String::new, |session| format!(" with session {session}"));
                let text = format!(
                    "{own} holds and waits again{session} behind itself, if the two are one client: a release that was lost leaves the old znode."
                );
                return Outcome::Warn(Warning { severity: Severity::Info, text, paths: vec![tenure.path(), seat.path()] });
            }
        }
        Outcome::Ok
    }
}
