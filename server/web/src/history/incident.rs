//! Incidents as they are told: who may see what of them, and what they are called.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::{SessionId, Zxid};
use lockscope_history::incident::{
    Incident, IncidentEnd, IncidentQuery, IncidentsFound, Life, Present, earlier, search,
};
use lockscope_history::query::Question;
use lockscope_history::store::{Store, StoreError};
use lockscope_page::verdict_named;
use lockscope_view as view;
use lockscope_view::{Contender, FindingRow, LockQuery, RootState, Scope};

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use super::described_incident::Told;
use super::going_on::host;
use super::incident_acts::{AROUND_MS, forced_by};
use super::incident_words;
use crate::Http;
use lockscope_history::derive::{harm_by_name, is_trouble, verdict_name, verdict_of};

/// Contenders of a lock that are there now and looked at.
const THERE_MAX: usize = 500;

/// One who looks at the incidents of an ensemble.
pub(super) struct Looking<'a> {
    pub(super) http: &'a Http,
    pub(super) scope: &'a Scope,
    pub(super) ensemble: &'a str,
    pub(super) store: &'a dyn Store,
    pub(super) now: TimeMs,
    pub(super) give_up_at: Instant,
}

impl Looking<'_> {
    /// Asks for those of a range.
    pub(super) fn ask<T>(
        &self,
        range: Range<TimeMs>,
        ask: impl FnOnce(&IncidentQuery<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let sees = |lock: &str| self.scope.covers(self.ensemble, lock);
        let present = |lock: &str| self.present(lock);
        ask(&IncidentQuery { range, now: self.now, sees: &sees, present: &present, give_up_at: self.give_up_at })
    }

    /// The same of the recording alone.
    pub(super) fn question(&self, range: &Range<TimeMs>) -> Question<'_> {
        let Self { store, ensemble, scope, give_up_at, .. } = *self;
        Question { store, ensemble, scope, range: range.clone(), give_up_at }
    }

    /// Those of a range, the newest first.
    pub(super) fn of_range(&self, range: Range<TimeMs>) -> Result<IncidentsFound, StoreError> {
        self.ask(range, |query| lockscope_history::incident::search(self.store, query))
    }

    /// A lock as it is now.
    fn present(&self, lock: &str) -> Present {
        let (ensemble, path) = (self.ensemble.to_owned(), lock.to_owned());
        let query = LockQuery { ensemble, path, offset: 0, limit: THERE_MAX as u32 };
        let page = self.http.hub.look(query, self.scope).ok().and_then(|(_, view)| view.body);
        let Some(page) = page.filter(|page| page.head.row.path == lock) else { return Present::default() };
        let verdict = verdict_of(page.head.row.verdict.name()).unwrap_or(Verdict::Unknown);
        let recipe = page.head.row.recipe.name();
        let hurts = |finding: &FindingRow| harm_by_name(&finding.code, finding.severity as u8).is_some();
        let is_in_trouble = is_trouble(verdict) || page.head.findings.iter().any(hurts);
        let lives = page.window.rows.iter().filter_map(|one| there(one, lock, recipe)).collect();
        Present { is_in_trouble, lives }
    }

    /// Whether it can be seen now that an incident goes on; None where it is over.
    fn is_seen_now(&self, incident: &Incident) -> Option<bool> {
        let is_open = |path: &&str| incident.runs.iter().any(|run| run.is_open() && *run.lock == **path);
        let lock = incident.locks().into_iter().find(is_open)?;
        let query = LockQuery { ensemble: self.ensemble.to_owned(), path: lock.to_owned(), ..LockQuery::default() };
        let page = self.http.hub.look(query, self.scope).ok().and_then(|(_, view)| view.body);
        Some(page.is_some_and(|page| page.head.row.state == RootState::Live))
    }

    /// Who is at an incident's root, as well as that may be said.
    pub(super) fn root_name(&self, of: &Incident) -> Option<String> {
        let root = of.root.as_ref()?;
        let label = root.label.as_deref().filter(|_| self.scope.payloads());
        let session = || root.session.map(|session| session.to_string());
        label.or(root.host.as_deref()).map(str::to_owned).or_else(session)
    }

    /// How it is told. `known` has the earlier ones of locks that were asked for before.
    pub(super) fn tell(&self, incident: Incident, known: &mut Earlier) -> Result<Told, StoreError> {
        let seen_before = known.count(self, &incident)?;
        let shows_labels = self.scope.payloads();
        let root_client = incident.root.as_ref().and_then(|root| root.label.as_deref()).filter(|_| shows_labels);
        let root_client = root_client.map(str::to_owned);
        let is_seen_now = self.is_seen_now(&incident);
        let worst = verdict_named(verdict_name(incident.worst)).unwrap_or(view::Verdict::Unknown);
        let lasted_ms = incident.until(self.now).since(incident.from);
        let forced = incident.ended_with.filter(|_| incident.ended_by == IncidentEnd::Forced);
        let forced_by = forced.and_then(|czxid| forced_by(self.http, self.scope, self.ensemble, czxid.0).0);
        let mut told = Told {
            root_client,
            root: self.root_name(&incident),
            forced_by,
            seen_before,
            is_seen_now,
            worst,
            lasted_ms,
            sentence: String::new(),
            incident,
        };
        told.sentence = incident_words::sentence(&told);
        Ok(told)
    }
}

/// When a lock was in the same trouble before.
#[derive(Default)]
pub(super) struct Earlier(BTreeMap<(String, &'static str), Vec<TimeMs>>);

impl Earlier {
    fn count(&mut self, looking: &Looking<'_>, incident: &Incident) -> Result<usize, StoreError> {
        let key = (incident.root_lock().to_owned(), verdict_name(incident.worst));
        // The newest comes first, and what is before it has what is before the others.
        let begins = match self.0.get(&key) {
            Some(begins) => begins,
            None => {
                let found = earlier(looking.store, &key.0, incident.worst, incident.from, looking.give_up_at)?;
                self.0.entry(key).or_insert_with(|| found.into_iter().map(|run| run.from).collect())
            }
        };
        Ok(begins.iter().filter(|begin| **begin < incident.from).count())
    }
}

/// The number of a lock's incident at a moment, or of the nearest within [`AROUND_MS`]; None where there is none that may be
/// seen.
pub(super) fn incident_around(
    store: &dyn Store,
    query: &IncidentQuery<'_>,
    path: &str,
    at: TimeMs,
) -> Result<Option<u64>, StoreError> {
    let found = search(store, query)?.incidents;
    let of_path = |incident: &Incident| {
        let runs = incident.runs.iter().filter(|run| &*run.lock == path);
        let away = runs.map(|run| run.from.since(at).max(at.since(run.until(query.now)))).min()?;
        (away <= AROUND_MS).then_some((away, incident.number))
    };
    Ok(found.iter().filter_map(of_path).min().map(|(_, number)| number))
}

/// The number of an incident as a text, and back.
pub(super) fn id_of(incident: &Incident) -> String {
    format!("{:x}", incident.number)
}

pub(super) fn number_of(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok().filter(|_| text.len() <= 16)
}

/// The address of its page; `ensemble` is left out where there is only one.
pub(super) fn url_of(http: &Http, ensemble: &str, id: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if http.places(&Scope::ALL).len() > 1 {
        query.append_pair("ensemble", ensemble);
    }
    query.append_pair("id", id);
    format!("/incident?{}", query.finish())
}

/// One who is there; None before it was read.
fn there(one: &Contender, lock: &str, recipe: &str) -> Option<Life> {
    Some(Life {
        czxid: Zxid(one.czxid?.0),
        lock: lock.into(),
        is_waited_for: Life::is_waiting_in(recipe),
        recipe: recipe.into(),
        session: one.session_id.map(|session| SessionId(session.0)),
        label: one.label.as_deref().map(Into::into),
        host: host(one).map(Into::into),
        joined_at: TimeMs(one.created_at_ms.or(one.waiting_since_ms).or(one.holding_since_ms)?),
        held_at: one.holding_since_ms.map(TimeMs),
        left_at: None,
        how: None,
        roots: Vec::new(),
    })
}
