//! `/incidents` and `/incident`, for people: drawn by the server.

use axum::extract::State;
use axum::response::Response;
use lockscope_page::{IncidentView, IncidentsView, incident_page, incidents_page};
use lockscope_view::past::OneIncident;
use lockscope_view::{LockQuery, Scope};

use super::ask::{Asked, ExportFormat, give_up_at};
use super::incidents::{INCIDENTS_MAX, USUAL_RANGE_MS, url_of};
use super::links::{at_moment, with};
use super::one_incident::AskedOne;
use crate::caller::Caller;
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::redirect::see_other;
use crate::{Http, server_pages};
use lockscope_core::time::TimeMs;
use lockscope_history::query::WhichIncident;

/// What is exported around an incident.
const AROUND_MS: i64 = 60_000;
const RANGES: [(&str, i64); 4] =
    [("1 h", 3_600_000), ("24 h", USUAL_RANGE_MS), ("7 d", 7 * 86_400_000), ("30 d", 30 * 86_400_000)];

/// Parts of the picture above the list, each a way to that part of the range.
const ZOOMS: usize = 24;
/// The shortest part that is worth a way.
const ZOOM_MIN_MS: i64 = 1_000;

/// `GET /incidents`.
pub(crate) async fn show(
    State(http): State<Http>,
    person: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let asked = Asked::read(&pairs, INCIDENTS_MAX)?;
    let Caller { scope, principal, .. } = person.clone();
    let own = http.clone();
    let make = move || list_view(&own, &scope, &asked);
    let view = http.past_work.ask(&principal.owner, make).await??;
    server_pages::page(&http, &person, |of| incidents_page(of, &view))
}

fn list_view(http: &Http, scope: &Scope, asked: &Asked) -> Result<IncidentsView, ErrorResponse> {
    let now_ms = http.hub.now_ms();
    let range = asked.range_of(now_ms, USUAL_RANGE_MS)?;
    let places = http.places(scope);
    let ensembles: Vec<String> =
        if places.len() < 2 { Vec::new() } else { places.into_iter().map(|(_, name)| name).collect() };
    // Without a name there is one to begin with.
    let first =
        if asked.ensemble.is_empty() { ensembles.first().cloned().unwrap_or_default() } else { asked.ensemble.clone() };
    let asked = &Asked { ensemble: first, ..asked.clone() };
    let span_ms = range.end.since(range.start);
    let address = |path: &str, from_ms: i64, to_ms: i64| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !asked.ensemble.is_empty() {
            query.append_pair("ensemble", &asked.ensemble);
        }
        if !asked.q.is_empty() {
            query.append_pair("q", &asked.q);
        }
        if asked.min_ms > 0 {
            query.append_pair("min_ms", &asked.min_ms.to_string());
        }
        query.append_pair("from", &from_ms.to_string()).append_pair("to", &to_ms.to_string());
        format!("{path}?{}", query.finish())
    };
    let ranges = RANGES.map(|(name, ms)| {
        let to_ms = now_ms.saturating_add(1);
        let is_shown = (span_ms - ms).abs() < 1_000 && (range.end.0 - to_ms).abs() < 60_000;
        (name, address("/incidents", to_ms - ms, to_ms), is_shown)
    });
    let edge = |part: usize| range.start.0 + span_ms * part as i64 / ZOOMS as i64;
    let zooms = if span_ms / ZOOMS as i64 >= ZOOM_MIN_MS {
        (0..ZOOMS).map(|part| address("/incidents", edge(part), edge(part + 1))).collect()
    } else {
        Vec::new()
    };
    let view = IncidentsView {
        q: asked.q.clone(),
        min_ms: asked.min_ms,
        zooms,
        ensemble: asked.ensemble.clone(),
        ensembles,
        from_ms: range.start.0,
        to_ms: range.end.0,
        now_ms,
        ranges: ranges.into(),
        csv_url: format!("{}&format=csv", address("/api/v1/incidents", range.start.0, range.end.0)),
        json_url: address("/api/v1/incidents", range.start.0, range.end.0),
        ..IncidentsView::default()
    };
    Ok(match http.incidents(scope, asked) {
        Ok((found, _)) => IncidentsView { url: url_of(http, &found.ensemble, ""), found, ..view },
        Err(why) => IncidentsView { refused: Some(why.sentence().to_owned()), ..view },
    })
}

/// `GET /incident?id=…`.
pub(crate) async fn show_one(
    State(http): State<Http>,
    person: Caller,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let asked = AskedOne::read(pairs)?;
    let Caller { scope, principal, .. } = person.clone();
    let own = http.clone();
    let make = move || {
        let now_ms = own.hub.now_ms();
        let found = own.incident(&scope, &asked.ensemble, asked.which.as_ref(), true);
        let Some(WhichIncident::Around { path, at_ms }) = &asked.which else {
            return own.incident_view(&scope, found?, now_ms).map(Ok);
        };
        // Where there is none, the lock at that moment says what there was.
        Ok(Err(match found {
            Ok(found) => url_of(&own, &found.ensemble, &found.incident.id),
            Err(_) => {
                let query = LockQuery { ensemble: asked.ensemble.clone(), path: path.clone(), ..LockQuery::default() };
                at_moment(&query.to_url(), *at_ms)
            }
        }))
    };
    match http.past_work.ask(&principal.owner, make).await?? {
        Ok(view) => server_pages::page(&http, &person, |of| incident_page(of, &view)),
        Err(elsewhere) => Ok(see_other(&elsewhere)),
    }
}

impl Http {
    fn incident_view(&self, scope: &Scope, incident: OneIncident, now_ms: i64) -> Result<IncidentView, ErrorResponse> {
        let ensemble = &incident.ensemble;
        let from = TimeMs(incident.incident.from_at_ms);
        let range = from..from + incident.incident.lasted_ms(now_ms) + 1;
        let facts = self.ask_incidents(scope, ensemble, range, give_up_at(), |of| of.facts(&incident.incident))?;
        let named = if self.places(&Scope::ALL).len() > 1 { ensemble.clone() } else { String::new() };
        Ok(IncidentView {
            now_ms,
            facts,
            url: url_of(self, ensemble, ""),
            ways: ways(self, &incident, &named, now_ms),
            ensemble: named,
            incident,
        })
    }
}

/// The same in other forms: for a ticket, for programs, for Perfetto, and as a file of its own.
fn ways(http: &Http, of: &OneIncident, named: &str, now_ms: i64) -> Vec<(&'static str, String)> {
    let api = url_of(http, &of.ensemble, &of.incident.id).replacen("/incident", "/api/v1/incident", 1);
    let (from, to) =
        (of.incident.from_at_ms - AROUND_MS, of.incident.from_at_ms + of.incident.lasted_ms(now_ms) + AROUND_MS);
    let export = |format: ExportFormat| {
        let (from, to) = (from.to_string(), to.to_string());
        let mut pairs = vec![("from", from.as_str()), ("to", to.as_str()), ("format", format.name())];
        if !named.is_empty() {
            pairs.push(("ensemble", named));
        }
        with("/api/v1/history/export", &pairs)
    };
    vec![
        ("Markdown", format!("{api}&format=markdown")),
        ("JSON", api),
        ("Perfetto", export(ExportFormat::Perfetto)),
        ("Bundle", export(ExportFormat::Sqlite)),
    ]
}
