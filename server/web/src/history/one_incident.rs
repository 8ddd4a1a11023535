//! `GET /api/v1/incident`: one incident, with who was there, what it was like before, and what was done about it.

use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::derive::FACTS_A_MS;
use lockscope_history::incident::{Incident, Life, earlier, incident_of, lives_in};
use lockscope_history::store::StoreError;
use lockscope_view::past::{EarlierIncident, IncidentLife, OneIncident};

use super::ask::{give_up_at, refused};
use super::described_incident::{Before, Found, FoundAlike};
use super::incident::{Earlier, Looking, id_of, incident_around, number_of, url_of};
use super::incident_acts::{AROUND_MS, alert_of, alerts_of, release_of, releases_of};
use super::incident_words::{again, markdown};
use super::incidents::incident_of as answer_of;
use crate::Http;
use crate::params::{NamedValues, Params, short};
use crate::problem::{ErrorResponse, wrong};
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX};
use lockscope_view::Scope;

/// Lives of one incident that are listed. Overflow policy: those of whoever held or waited longest are.
pub(super) const LIVES_MAX: usize = 500;
/// Earlier ones that are listed.
const EARLIER_MAX: usize = 10;
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// Which incident.
#[derive(Clone, Debug, Default)]
pub(super) struct AskedOne {
    pub(super) ensemble: String,
    pub(super) which: WhichIncident,
    is_markdown: bool,
    /// Those like it on other locks are looked for, which takes longer.
    wants_alike: bool,
}

/// One incident among all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhichIncident {
    /// That of a number; None where what came is the id of none.
    Number(Option<u64>),
    /// That of a lock at a moment, or nearest to it within a minute.
    Around { path: String, at_ms: i64 },
}

impl Default for WhichIncident {
    fn default() -> Self {
        Self::Number(None)
    }
}

impl AskedOne {
    pub(super) fn read(pairs: NamedValues) -> Result<Self, ErrorResponse> {
        let (mut asked, mut id) = (Self::default(), None);
        let (mut path, mut around) = (String::new(), None);
        for (name, value) in pairs {
            match (name.as_str(), value.as_str()) {
                ("ensemble", _) => asked.ensemble = short(&name, &value, FILTER_CHARS_MAX)?,
                ("id", "") => {}
                ("id", _) => id = Some(number_of(&short(&name, &value, FILTER_CHARS_MAX)?)),
                ("path", _) => path = short(&name, &value, PATH_CHARS_MAX)?,
                ("around", "") => {}
                ("around", text) => {
                    let at_ms = text.parse().ok().filter(|at_ms| *at_ms >= 0_i64);
                    around = Some(at_ms.ok_or_else(|| wrong(&name, &value, "milliseconds since the epoch"))?);
                }
                ("format", "" | "json") => asked.is_markdown = false,
                ("format", "markdown") => asked.is_markdown = true,
                ("format", _) => return Err(wrong(&name, &value, "json or markdown")),
                _ => {}
            }
        }
        asked.which = match (id, around) {
            (Some(number), _) => WhichIncident::Number(number),
            (None, Some(at_ms)) if !path.is_empty() => WhichIncident::Around { path, at_ms },
            (None, _) => {
                return Err(ErrorResponse::bad_request(
                    "`id` is missing: that of an incident, or `path` and `around`, a lock and a moment; GET /api/v1/incidents lists them",
                ));
            }
        };
        asked.wants_alike = !asked.is_markdown;
        Ok(asked)
    }
}

pub(crate) async fn show_one(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let of = AskedOne::read(pairs)?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answer = move || {
        let found = found(&own, &scope, &of);
        if of.is_markdown {
            let text = |found: Found| {
                let url = url_of(&own, &found.ensemble, &id_of(&found.told.incident));
                markdown(&found, &url)
            };
            return Answer::text(MARKDOWN, found.map(text));
        }
        Answer::json(found.map(|found| found.json(scope.payloads())))
    };
    Ok(http.past_shared.answer(asked, answer).await)
}

/// The newest earlier ones, and how they ended.
fn earlier_ones(looking: &Looking<'_>, incident: &Incident) -> Result<Vec<Before>, StoreError> {
    let runs = earlier(looking.store, incident.root_lock(), incident.worst, incident.from, looking.give_up_at)?;
    let mut found = Vec::new();
    for run in runs.iter().rev().take(EARLIER_MAX) {
        let range = run.from..run.from + 1;
        let Some(one) = looking.ask(range, |query| incident_of(looking.store, query, run.number))? else { continue };
        let lasted_ms = one.until(looking.now).since(one.from);
        let (id, from_ms, ended_by) = (id_of(&one), one.from.0, one.ended_by);
        found.push(Before { id, from_ms, lasted_ms, ended_by, root: looking.root_name(&one) });
    }
    Ok(found)
}

/// Looks for one.
pub(super) fn found(http: &Http, scope: &Scope, asked: &AskedOne) -> Result<Found, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let now_ms = http.hub.now_ms();
    // Numbers are made of instants.
    let missing = || {
        ErrorResponse::not_found(
            "no incident of that id is kept, or it may not be shown to you; /api/v1/incidents lists them",
        )
    };
    let (at_ms, around_ms) = match &asked.which {
        WhichIncident::Number(number) => {
            (i64::try_from(number.ok_or_else(missing)? / FACTS_A_MS).unwrap_or(i64::MAX), 1_000)
        }
        WhichIncident::Around { at_ms, .. } => (*at_ms, AROUND_MS),
    };
    let at = TimeMs(at_ms.min(now_ms));
    let range = at - around_ms..at + around_ms;
    let looking =
        Looking { http, scope, ensemble: &ensemble, store: &*store, now: TimeMs(now_ms), give_up_at: give_up_at() };
    let all = || {
        let number = match &asked.which {
            WhichIncident::Number(number) => *number,
            WhichIncident::Around { path, .. } => {
                looking.ask(range.clone(), |query| incident_around(&*store, query, path, at))?
            }
        };
        let Some(number) = number else { return Ok(None) };
        let found = looking.ask(range.clone(), |query| incident_of(&*store, query, number))?;
        let Some(incident) = found else { return Ok(None) };
        let lives = looking.ask(range.clone(), |query| lives_in(&*store, query, &incident))?;
        let earlier = earlier_ones(&looking, &incident)?;
        let told = looking.tell(incident, &mut Earlier::default())?;
        // Last: where it takes all the time that is left, the rest is told all the same.
        let alike = if asked.wants_alike { looking.alike(&told.incident)? } else { None };
        Ok(Some((told, lives, earlier, alike)))
    };
    let (told, lives, earlier, alike) = all().map_err(|error| refused(error, &range))?.ok_or_else(missing)?;
    let releases = releases_of(http, scope, &ensemble, &lives);
    let alerts = alerts_of(http, scope, &ensemble, &told.incident, told.incident.until(TimeMs(now_ms)).0);
    let again = again(&told, &earlier);
    let (lives, left_out) = chosen(lives, now_ms);
    Ok(Found { ensemble, told, lives, left_out, earlier, again, alike, releases, alerts, now_ms })
}

impl Http {
    /// What is wrong with a lock now and what that was like before, and the address of the incident; None where nothing is,
    /// or it can't be found out.
    pub(super) fn incident_now(&self, scope: &Scope, ensemble: &str, path: &str) -> Option<(String, String)> {
        let which = WhichIncident::Around { path: path.to_owned(), at_ms: self.hub.now_ms() };
        let asked = AskedOne { ensemble: ensemble.to_owned(), which, ..AskedOne::default() };
        let found = found(self, scope, &asked).ok().filter(|found| found.told.incident.to.is_none())?;
        let url = url_of(self, &found.ensemble, &id_of(&found.told.incident));
        Some((format!("{} {}", found.told.sentence, found.again).trim_end().to_owned(), url))
    }
}

/// Those of whoever held or waited longest, in the order in which they came.
fn chosen(mut lives: Vec<Life>, now_ms: i64) -> (Vec<Life>, usize) {
    let left_out = lives.len().saturating_sub(LIVES_MAX);
    if left_out > 0 {
        lives.sort_by_key(|life| std::cmp::Reverse(life.left_at.unwrap_or(TimeMs(now_ms)).since(life.joined_at)));
        lives.truncate(LIVES_MAX);
    }
    lives.sort_by_key(|life| (life.joined_at, life.czxid));
    (lives, left_out)
}

impl Found {
    fn json(self, shows_labels: bool) -> OneIncident {
        let life = |life: Life| IncidentLife {
            lock: life.lock.into(),
            session_id: life.session.map(|session| session.to_string()),
            label: life.label.filter(|_| shows_labels).map(Into::into),
            host: life.host.map(Into::into),
            joined_at_ms: life.joined_at.0,
            held_at_ms: life.held_at.map(|at| at.0),
            left_at_ms: life.left_at.map(|at| at.0),
            how: life.how.map_or("still", lockscope_history::store::rows::SpanEnd::name),
        };
        let before = |of: Before| EarlierIncident {
            id: of.id,
            from_at_ms: of.from_ms,
            lasted_ms: of.lasted_ms,
            ended_by: of.ended_by.name(),
        };
        OneIncident {
            incident: answer_of(&self.told),
            ensemble: self.ensemble,
            lives: self.lives.into_iter().map(life).collect(),
            lives_left_out: self.left_out,
            earlier: self.earlier.into_iter().map(before).collect(),
            again: Some(self.again).filter(|text| !text.is_empty()),
            alike: self.alike.map(FoundAlike::answer),
            releases: self.releases.into_iter().map(release_of).collect(),
            alerts: self.alerts.into_iter().map(alert_of).collect(),
        }
    }
}
