//! `GET /api/v1/incident`: one incident, with who was there, what it was like before, and what was done about it.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::query::{IncidentSearch, WhichIncident, markdown};
use lockscope_view::past::{Incident, IncidentAlert, OneIncident};
use lockscope_view::{Alert, Scope};

use super::ask::give_up_at;
use super::incidents::url_of;
use crate::Http;
use crate::params::{NamedValues, Params, short};
use crate::problem::{ErrorResponse, wrong};
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_live::{FILTER_CHARS_MAX, PATH_CHARS_MAX};

/// An alert belongs to an incident that is so near.
const AROUND_MS: i64 = 60_000;
/// Alerts of one incident that are listed. Overflow policy: the oldest are.
const ALERTS_MAX: usize = 100;
const MARKDOWN: &str = "text/markdown; charset=utf-8";

pub(super) struct AskedOne {
    pub(super) ensemble: String,
    /// None where what came is the id of none.
    pub(super) which: Option<WhichIncident>,
    is_markdown: bool,
}

impl AskedOne {
    pub(super) fn read(pairs: NamedValues) -> Result<Self, ErrorResponse> {
        let (mut ensemble, mut id, mut is_markdown) = (String::new(), None, false);
        let (mut path, mut around) = (String::new(), None);
        for (name, value) in pairs {
            match (name.as_str(), value.as_str()) {
                ("ensemble", _) => ensemble = short(&name, &value, FILTER_CHARS_MAX)?,
                ("id", "") => {}
                ("id", _) => id = Some(WhichIncident::of_id(&short(&name, &value, FILTER_CHARS_MAX)?)),
                ("path", _) => path = short(&name, &value, PATH_CHARS_MAX)?,
                ("around", "") => {}
                ("around", text) => {
                    let at_ms = text.parse().ok().filter(|at_ms| *at_ms >= 0_i64);
                    around = Some(at_ms.ok_or_else(|| wrong(&name, &value, "milliseconds since the epoch"))?);
                }
                ("format", "" | "json") => is_markdown = false,
                ("format", "markdown") => is_markdown = true,
                ("format", _) => return Err(wrong(&name, &value, "json or markdown")),
                _ => {}
            }
        }
        let which = match (id, around) {
            (Some(of_id), _) => of_id,
            (None, Some(at_ms)) if !path.is_empty() => Some(WhichIncident::Around { path, at_ms }),
            (None, _) => {
                return Err(ErrorResponse::bad_request(
                    "`id` is missing: that of an incident, or `path` and `around`, a lock and a moment; GET /api/v1/incidents lists them",
                ));
            }
        };
        Ok(Self { ensemble, which, is_markdown })
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
        let found = own.incident(&scope, &of.ensemble, of.which.as_ref(), !of.is_markdown);
        if of.is_markdown {
            let text = |of: OneIncident| markdown(&of, &url_of(&own, &of.ensemble, &of.incident.id));
            return Answer::text(MARKDOWN, found.map(text));
        }
        Answer::json(found)
    };
    Ok(http.past_shared.answer(asked, answer).await)
}

impl Http {
    /// One, with all that is known of it.
    pub(super) fn incident(
        &self,
        scope: &Scope,
        ensemble: &str,
        which: Option<&WhichIncident>,
        wants_alike: bool,
    ) -> Result<OneIncident, ErrorResponse> {
        let missing = || {
            ErrorResponse::not_found(
                "no incident of that id is kept, or it may not be shown to you; /api/v1/incidents lists them",
            )
        };
        self.recorded(scope, ensemble)?;
        let which = which.ok_or_else(missing)?;
        let now = TimeMs(self.hub.now_ms());
        let one = |search: &IncidentSearch<'_>| search.one(which, wants_alike);
        let found = self.ask_incidents(scope, ensemble, which.range(now), give_up_at(), one)?;
        let mut found = found.ok_or_else(missing)?;
        found.alerts = self.alerts_of(scope, &found.ensemble, &found.incident, now.0);
        Ok(found)
    }

    /// The alerts at the locks of an incident that fired while it lasted, or near.
    fn alerts_of(&self, scope: &Scope, ensemble: &str, of: &Incident, now_ms: i64) -> Vec<IncidentAlert> {
        let locks: BTreeSet<&str> = of.locks.iter().map(String::as_str).collect();
        let (from_ms, to_ms) = (of.from_at_ms - AROUND_MS, of.from_at_ms + of.lasted_ms(now_ms) + AROUND_MS);
        let mut found = self.alerts_in(scope, ensemble);
        found.retain(|alert| {
            let fired = alert.fired_at_ms.is_some_and(|fired| fired <= to_ms);
            fired && locks.contains(&*alert.lock) && alert.resolved_at_ms.is_none_or(|resolved| resolved >= from_ms)
        });
        found.sort_by(|one, other| (one.fired_at_ms, &one.key).cmp(&(other.fired_at_ms, &other.key)));
        let alert = |of: Alert| IncidentAlert {
            key: of.key,
            rule: of.rule,
            lock: of.lock,
            severity: of.severity.name(),
            fired_at_ms: of.fired_at_ms.unwrap_or(of.since_at_ms),
            resolved_at_ms: of.resolved_at_ms,
            acked_by: of.acked_by.map(|acked| acked.by),
            sentence: of.sentence,
        };
        found.into_iter().take(ALERTS_MAX).map(alert).collect()
    }

    /// What is wrong with a lock now and what that was like before, and the address of the incident; None where nothing is,
    /// or it can't be found out.
    pub(super) fn incident_now(&self, scope: &Scope, ensemble: &str, path: &str) -> Option<(String, String)> {
        let which = WhichIncident::Around { path: path.to_owned(), at_ms: self.hub.now_ms() };
        let found = self.incident(scope, ensemble, Some(&which), false).ok()?;
        let OneIncident { ensemble, incident, again, .. } = found;
        let said = format!("{} {}", incident.sentence, again.unwrap_or_default()).trim_end().to_owned();
        incident.to_at_ms.is_none().then(|| (said, url_of(self, &ensemble, &incident.id)))
    }
}
