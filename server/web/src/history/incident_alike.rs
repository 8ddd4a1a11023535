//! Incidents that were like another, on whatever lock.

use lockscope_history::incident::{Alike, Incident, Signature, alike};
use lockscope_history::store::StoreError;
use lockscope_page::{AlikeIncident, IncidentsAlike};
use schemars::JsonSchema;
use serde::Serialize;

use super::incident::{Looking, id_of};
use super::incident_words::{alike_sentence, ended_cell};
use super::one_incident::url_of;
use crate::Http;
use lockscope_history::derive::verdict_name;

/// What an incident looked like: by it others are found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignatureJson {
    /// The recipe of the root's lock; null where nobody was at it.
    recipe: Option<String>,
    /// The worst verdict.
    worst: &'static str,
    /// Findings by which somebody was hurt.
    findings: Vec<String>,
    /// Who waited for whom: `nobody` for long, a `line`, a `chain` over several locks, or a `circle`.
    shape: &'static str,
    /// How many locks: 1, 2, or 3 for more.
    locks: usize,
    /// The application of who was at the root; null where that is not known, or where payloads are not shown.
    application: Option<String>,
    /// How it ended.
    ended_by: &'static str,
}

/// Incidents of the 30 days before that were like it, on whatever lock.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AlikeJson {
    /// What is the same in all of them, but for how they ended.
    signature: SignatureJson,
    /// How many there are.
    count: usize,
    /// How many of them ended as this one did.
    ended_likewise: usize,
    /// There may be more: older ones were not looked at.
    is_lower_bound: bool,
    /// The newest first: ten at most.
    incidents: Vec<AlikeIncidentJson>,
}

/// An incident like another.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AlikeIncidentJson {
    /// Names it.
    id: String,
    /// When it began, ms since the epoch.
    from_at_ms: i64,
    /// How long it lasted.
    lasted_ms: i64,
    /// The root's lock.
    root_lock: String,
    /// How it ended.
    ended_by: &'static str,
}

/// What was found.
pub(super) struct FoundAlike {
    signature: Signature,
    alike: Alike,
    now: lockscope_core::time::TimeMs,
}

impl Looking<'_> {
    /// Those like one; None where there was no time to look.
    pub(super) fn alike(&self, of: &Incident) -> Result<Option<FoundAlike>, StoreError> {
        let rule = self.http.moments.as_ref().map(|moments| moments.applications().rule()).unwrap_or_default();
        let application = |one: &Incident| {
            let label = one.root.as_ref()?.label.as_deref().filter(|_| self.scope.payloads())?;
            Some(rule.application_of(label).into())
        };
        match self.ask(of.from..of.from + 1, |query| alike(self.store, query, of, &application)) {
            Ok(alike) => Ok(Some(FoundAlike { signature: Signature::new(of, application(of)), alike, now: self.now })),
            Err(StoreError::TooLong) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl FoundAlike {
    pub(super) fn json(self) -> AlikeJson {
        let Self { signature, alike, now } = self;
        let one = |(of, _): (Incident, bool)| AlikeIncidentJson {
            id: id_of(&of),
            from_at_ms: of.from.0,
            lasted_ms: of.until(now).since(of.from),
            root_lock: of.root_lock().to_owned(),
            ended_by: of.ended_by.name(),
        };
        AlikeJson {
            signature: SignatureJson {
                recipe: signature.recipe.map(Into::into),
                worst: verdict_name(signature.worst),
                findings: signature.findings.into_iter().map(Into::into).collect(),
                shape: signature.shape.name(),
                locks: signature.locks,
                application: signature.application.map(Into::into),
                ended_by: signature.ended_by.name(),
            },
            count: alike.count,
            ended_likewise: alike.ended_likewise,
            is_lower_bound: alike.is_lower_bound,
            incidents: alike.incidents.into_iter().map(one).collect(),
        }
    }

    /// The same for people; None where there is none.
    pub(super) fn view(&self, http: &Http, ensemble: &str) -> Option<IncidentsAlike> {
        let row = |(of, is_likewise): &(Incident, bool)| AlikeIncident {
            from_ms: of.from.0,
            lasted_ms: of.until(self.now).since(of.from),
            lock: of.root_lock().to_owned(),
            ended: ended_cell(of.ended_by),
            is_likewise: *is_likewise,
            url: url_of(http, ensemble, &id_of(of)),
        };
        let rows = self.alike.incidents.iter().map(row).collect();
        (self.alike.count > 0).then(|| IncidentsAlike { sentence: alike_sentence(&self.signature, &self.alike), rows })
    }
}
