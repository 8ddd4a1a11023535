//! Whether a session's time-out suits its client, of sessions that may be seen.

use lockscope_core::evidence::{TimeoutFit, TimeoutOutcome, TimeoutUnknown};
use lockscope_core::znode::SessionId;
use lockscope_view as view;

use super::ProjectionContext;

impl ProjectionContext<'_> {
    /// What can be said of a session's time-out; None of a session that owns nothing that may be seen.
    pub(crate) fn session_timeout(&self, query: &view::SessionQuery) -> Option<view::SessionTimeout> {
        let session = SessionId(query.id.0);
        if !self.is_meant(&query.ensemble) || self.owned(session, self.observatory.owned_by(session)) == 0 {
            return None;
        }
        let told = self.observatory.assess_timeout(session, self.now)?;
        Some(view::SessionTimeout {
            at_ms: self.now.0,
            timeout_ms: told.timeout_ms,
            silence_at_least_ms: told.longest.at_least_ms.into(),
            silence_at_most_ms: told.longest.at_most_ms.into(),
            over_ms: told.over_ms,
            outcome: outcome(told.outcome),
        })
    }
}

fn outcome(outcome: TimeoutOutcome) -> view::TimeoutOutcome {
    match outcome {
        TimeoutOutcome::Suits { enough_ms } => view::TimeoutOutcome::Suits { enough_ms },
        TimeoutOutcome::Unsuited(advice) => match advice.fit {
            TimeoutFit::Long => view::TimeoutOutcome::Long { enough_ms: advice.enough_ms },
            TimeoutFit::Short => view::TimeoutOutcome::Short { enough_ms: advice.enough_ms },
        },
        TimeoutOutcome::Unknown(why) => view::TimeoutOutcome::Unknown(reason(why)),
    }
}

fn reason(why: TimeoutUnknown) -> view::TimeoutUnknownReason {
    match why {
        TimeoutUnknown::NotListed => view::TimeoutUnknownReason::NotListed,
        TimeoutUnknown::NoTimeout => view::TimeoutUnknownReason::NoTimeout,
        TimeoutUnknown::NoStamps => view::TimeoutUnknownReason::NoStamps,
        TimeoutUnknown::TooSoon => view::TimeoutUnknownReason::TooSoon,
        TimeoutUnknown::NotInLogs => view::TimeoutUnknownReason::NotInLogs,
        TimeoutUnknown::Implausible => view::TimeoutUnknownReason::Implausible,
    }
}
