//! Session time-outs that don't suit their clients, over all sessions that have to do with locks.

use super::Observatory;
use crate::evidence::{TimeoutAdvice, TimeoutAssessment, TimeoutFit};
use crate::finding::{Code, Finding, Severity, identity};
use crate::label::label_of;
use crate::sentence::{Oddity, oddity_sentence};
use crate::time::TimeMs;
use crate::znode::SessionId;

/// Znodes of a session that are looked at for its name.
const NAMED_BY_MAX: usize = 16;

impl Observatory {
    /// What can be said of the time-out of one session; None of a session that owns nothing under the roots, and of our
    /// own.
    pub fn assess_timeout(&self, session: SessionId, now: TimeMs) -> Option<TimeoutAssessment> {
        if Some(session) == self.state.session || self.owned_by(session) == 0 {
            return None;
        }
        let evidence = self.member_evidence();
        let known = evidence.session(session).map(|known| known.assess_timeout(now, evidence.tick_ms()));
        Some(known.unwrap_or(TimeoutAssessment::NOT_LISTED))
    }

    /// One finding for each way in which time-outs don't suit, about the session where it is worst. Walks every session
    /// once.
    pub(super) fn timeout_findings(&self, now: TimeMs) -> impl Iterator<Item = Finding> {
        let evidence = self.member_evidence();
        let tick_ms = evidence.tick_ms();
        let all: Vec<(SessionId, TimeoutAdvice)> = self
            .sessions()
            .into_keys()
            .filter(|session| Some(*session) != self.state.session)
            .filter_map(|session| Some((session, evidence.session(session)?.timeout_advice(now, tick_ms)?)))
            .collect();
        let find = move |fit: TimeoutFit| {
            let of_kind = || all.iter().filter(|(_, advice)| advice.fit == fit);
            // Of equals the one with the smallest id.
            let (session, advice) = of_kind().min_by_key(|(session, advice)| (-harm(advice), *session))?;
            let oddity =
                Oddity::Timeout { who: self.client_name(*session), advice: *advice, more: of_kind().count() - 1 };
            Some(Finding {
                code: code(fit),
                severity: Severity::Info,
                text: oddity_sentence(&oddity).into(),
                paths: Vec::new(),
                since: self.state.link_since,
            })
        };
        [TimeoutFit::Short, TimeoutFit::Long].into_iter().filter_map(find)
    }

    /// A session's client by what it says of itself, else by its host.
    fn client_name(&self, session: SessionId) -> String {
        let label = self.spots(session).take(NAMED_BY_MAX).find_map(|spot| {
            let payload = &spot.contender.child.read.as_ref()?.payload;
            identity(&label_of(spot.contender.key.name(), payload)?)
        });
        let host = || {
            let address = self.member_evidence().session(session)?.address.as_deref()?;
            Some(address.rsplit_once(':').map_or(address, |(host, _)| host))
        };
        match (label, host()) {
            (Some(label), _) => format!("{label} (session {session})"),
            (None, Some(host)) => format!("Session {session} of {host}"),
            (None, None) => format!("Session {session}"),
        }
    }
}

fn code(fit: TimeoutFit) -> Code {
    match fit {
        TimeoutFit::Long => Code::LongTimeout,
        TimeoutFit::Short => Code::ShortTimeout,
    }
}

/// Dead time that could be saved, ms; or the thousandths of the time-out that the client was silent for.
fn harm(advice: &TimeoutAdvice) -> i64 {
    match advice.fit {
        TimeoutFit::Long => advice.timeout_ms.saturating_sub(advice.enough_ms),
        TimeoutFit::Short => advice.silence_ms.saturating_mul(1_000) / advice.timeout_ms.max(1),
    }
}
