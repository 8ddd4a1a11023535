//! Every incident of a recording that has ended, as the API lists them: what an autopsy prints.

use std::time::Duration;

use lockscope_core::time::TimeMs;
use lockscope_history::incident::all;
use serde_json::Value;

use super::incident::{Earlier, Looking};
use super::incidents::incident_of;
use crate::Http;
use lockscope_runtime::clock;
use lockscope_view::Scope;

/// After so long it is given up.
const SEARCH_MAX: Duration = Duration::from_secs(3_600);
/// Incidents that are listed. Overflow policy: of more, the newest are, and the rest is counted.
const LISTED_MAX: usize = 10_000;

/// Every incident.
#[derive(Clone, Debug, Default)]
pub struct AllIncidents {
    /// The same objects as those of `/api/v1/incidents`, the newest first.
    pub incidents: Vec<Value>,
    /// Further ones, and runs of trouble of which none was made.
    pub left_out: u64,
}

impl Http {
    /// Every incident of the only ensemble from one instant to another, for whoever may see all. Blocking.
    ///
    /// # Errors
    /// The history can't be read, in one sentence.
    pub fn all_incidents(&self, from_ms: i64, to_ms: i64) -> Result<AllIncidents, String> {
        let scope = &Scope::ALL;
        let (ensemble, store) = self.recorded(scope, "").map_err(|why| why.sentence().to_owned())?;
        let (now, give_up_at) = (TimeMs(self.hub.now_ms()), clock::instant() + SEARCH_MAX);
        let looking = Looking { http: self, scope, ensemble: &ensemble, store: &*store, now, give_up_at };
        let list = || {
            let mut found = looking.ask(TimeMs(from_ms)..TimeMs(to_ms).max(now) + 1, |query| all(&*store, query))?;
            let more = found.incidents.len().saturating_sub(LISTED_MAX);
            found.incidents.truncate(LISTED_MAX);
            let (mut told, mut known) = (Vec::with_capacity(found.incidents.len()), Earlier::default());
            for incident in found.incidents {
                told.push(incident_of(&looking.tell(incident, &mut known)?));
            }
            Ok((told, found.left_out + more))
        };
        let (told, left_out) = list().map_err(|error: lockscope_history::store::StoreError| error.to_string())?;
        let written: Result<Vec<Value>, _> = told.iter().map(serde_json::to_value).collect();
        let incidents = written.map_err(|error| format!("an incident can't be written: {error}"))?;
        Ok(AllIncidents { incidents, left_out: left_out as u64 })
    }
}
