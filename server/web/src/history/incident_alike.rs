//! Incidents that were like another, on whatever lock.

use lockscope_history::incident::{Incident, Signature, alike};
use lockscope_history::store::StoreError;
use lockscope_page::{AlikeIncident, IncidentsAlike};
use lockscope_view::past;

use super::described_incident::FoundAlike;
use super::incident::{Looking, id_of, url_of};
use super::incident_words::{alike_sentence, ended_cell};
use crate::Http;
use lockscope_history::derive::verdict_name;

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
    pub(super) fn answer(self) -> past::AlikeIncidents {
        let Self { signature, alike, now } = self;
        let one = |(of, _): (Incident, bool)| past::AlikeIncident {
            id: id_of(&of),
            from_at_ms: of.from.0,
            lasted_ms: of.until(now).since(of.from),
            root_lock: of.root_lock().to_owned(),
            ended_by: of.ended_by.name(),
        };
        past::AlikeIncidents {
            signature: past::IncidentSignature {
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
