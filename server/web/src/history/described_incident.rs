//! An incident with what is said of it, and with what goes with it.

use lockscope_core::diagnosis::Code;
use lockscope_core::time::TimeMs;
use lockscope_history::derive::{HARMFUL, is_trouble};
use lockscope_history::incident::{Alike, Incident, IncidentEnd, Life, Signature};
use lockscope_view as view;

use super::incident_acts::{Alert, Release};

/// An incident with what is said of it.
pub(super) struct Told {
    pub(super) incident: Incident,
    /// Who the root said it was, where that may be shown.
    pub(super) root_client: Option<String>,
    /// Who is at its root, as well as that may be said.
    pub(super) root: Option<String>,
    /// Who released it through Lockscope, where that ended it and may be shown.
    pub(super) forced_by: Option<String>,
    pub(super) seen_before: usize,
    /// It can be seen now that it goes on; None where it is over.
    pub(super) is_seen_now: Option<bool>,
    /// Its worst verdict.
    pub(super) worst: view::Verdict,
    /// How long it lasted, or lasts.
    pub(super) lasted_ms: i64,
    pub(super) sentence: String,
}

impl Told {
    /// The finding that says what was wrong, where no verdict does.
    pub(super) fn finding(&self) -> Option<&'static str> {
        let is_said = is_trouble(self.incident.worst);
        let known = HARMFUL.into_iter().map(Code::name).find(|name| self.incident.findings.contains(*name));
        known.filter(|_| !is_said)
    }

    /// Something of it contains a text.
    pub(super) fn has(&self, text: &str) -> bool {
        let root = self.incident.root.as_ref();
        let (host, session) =
            (root.and_then(|root| root.host.as_deref()), root.and_then(|root| root.session).map(|id| id.to_string()));
        let texts = [self.root_client.as_deref(), host, session.as_deref()];
        let all = self.incident.locks().into_iter().chain(texts.into_iter().flatten());
        let text = text.to_lowercase();
        all.into_iter().any(|one| one.to_lowercase().contains(&text))
    }
}

/// One incident with all that is shown of it.
pub(super) struct Found {
    pub(super) ensemble: String,
    pub(super) told: Told,
    pub(super) lives: Vec<Life>,
    pub(super) left_out: usize,
    /// The same lock in the same trouble before, the newest first.
    pub(super) earlier: Vec<Before>,
    /// What those have in common; empty where there is none.
    pub(super) again: String,
    /// Those like it on whatever lock; None where there was no time to look, or nobody wants to know.
    pub(super) alike: Option<FoundAlike>,
    pub(super) releases: Vec<Release>,
    pub(super) alerts: Vec<Alert>,
    pub(super) now_ms: i64,
}

/// An earlier incident.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub(super) id: String,
    pub(super) from_ms: i64,
    pub(super) lasted_ms: i64,
    pub(super) ended_by: IncidentEnd,
    /// Who was at its root, as far as that may be said.
    pub(super) root: Option<String>,
}

/// Incidents like one.
pub(super) struct FoundAlike {
    pub(super) signature: Signature,
    pub(super) alike: Alike,
    pub(super) now: TimeMs,
}
