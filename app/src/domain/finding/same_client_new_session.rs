//! A client that lost the lock with its session and came back.

use super::{Code, Lint, Outcome, Severity, Survey, Warning, identity};
use crate::domain::change::Departure;
use crate::domain::lock::Seat;
use crate::domain::znode::SessionId;

/// F16, as far as znodes tell.
pub(super) struct SameClientNewSession;

impl Lint for SameClientNewSession {
    fn code(&self) -> Code {
        Code::SameClientNewSession
    }

    fn look(&self, survey: &Survey<'_>) -> Outcome {
        for past in survey.lock.tally.past.iter().filter(|past| past.how == Departure::SessionEnded) {
            let Some(own) = past.tenure.label.as_deref().and_then(identity) else { continue };
            let is_back = |seat: &&Seat<'_>| {
                seat.child.owner().is_some() && seat.child.owner() != past.tenure.owner && survey.identity(seat).as_deref() == Some(&*own)
            };
            if let Some(back) = survey.seats.iter().find(is_back) {
                let (old, new) = (past.tenure.owner, back.child.owner());
                let id = |session: Option<SessionId>| session.map_or_else(|| "unknown".to_owned(), |session| session.to_string());
                let text = format!("{own} lost this lock when its session {} ended, and is back with session {}.", id(old), id(new));
                return Outcome::Warn(Warning { severity: Severity::Info, text, paths: vec![back.path()] });
            }
        }
        Outcome::Ok
    }
}
