//! `/incidents` and `/incident`, for people: drawn by the server.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use lockscope_history::incident::{Incident, IncidentRoot, Life, QUIET_MS};
use lockscope_history::store::rows::{Fact, FactKind, FactQuery, SpanEnd};
use lockscope_history::store::{Store, StoreError};
use lockscope_page::{
    IncidentAct, IncidentActKind, IncidentBefore, IncidentFact, IncidentLane, IncidentLine, IncidentView,
    IncidentsView, incident_page, incidents_page,
};
use lockscope_view::{Alert, LockQuery, Scope, SessionId, SessionQuery};

use super::ask::{Asked, ExportFormat, give_up_at, refused};
use super::described_incident::{Before, Found, Told};
use super::incident::{id_of, url_of};
use super::incident_acts::Release;
use super::incident_words::{ended_cell, is_mutual, root_name};
use super::incidents::{INCIDENTS_MAX, Listed, USUAL_RANGE_MS, listed};
use super::links::{at_moment, with};
use super::one_incident::{AskedOne, WhichIncident, found};
use crate::caller::Caller;
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::redirect::see_other;
use crate::{Http, server_pages};
use lockscope_history::query::readable;

/// Locks that are listed of one incident.
const LOCKS_MAX: usize = 40;
/// Whoever held or waited, on the page.
const LANES_MAX: usize = 120;
/// Findings and releases that are listed.
const FACTS_MAX: usize = 60;
/// What is exported and looked at around an incident.
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
        ranges: ranges.into(),
        csv_url: format!("{}&format=csv", address("/api/v1/incidents", range.start.0, range.end.0)),
        json_url: address("/api/v1/incidents", range.start.0, range.end.0),
        ..IncidentsView::default()
    };
    Ok(match listed(http, scope, asked) {
        Ok(list) => IncidentsView {
            part_known: list.coverage.part,
            left_out: list.left_out,
            rows: list.told.iter().map(|told| line(http, &list, told)).collect(),
            ..view
        },
        Err(why) => IncidentsView { refused: Some(why.sentence().to_owned()), ..view },
    })
}

fn line(http: &Http, list: &Listed, told: &Told) -> IncidentLine {
    let incident = &told.incident;
    IncidentLine {
        from_ms: incident.from.0,
        to_ms: incident.to.map(|to| to.0),
        lasted_ms: told.lasted_ms,
        worst: told.worst,
        finding: told.finding().map(readable_code),
        lock: incident.root_lock().to_owned(),
        others: incident.locks().len().saturating_sub(1),
        root: root_name(told),
        victims: incident.victims,
        waiting_ms: incident.waiting_ms,
        is_lower_bound: incident.is_lower_bound,
        ended: if told.is_seen_now == Some(false) { NOT_SEEN } else { ended_cell(incident.ended_by) },
        forced_by: told.forced_by.clone(),
        seen_before: told.seen_before,
        sentence: told.sentence.clone(),
        url: url_of(http, &list.ensemble, &id_of(incident)),
    }
}

/// A finding's name for people.
fn readable_code(code: &str) -> String {
    code.replace('_', " ")
}

/// Of one that went on when it could be seen last.
const NOT_SEEN: &str = "not seen now";

fn left(how: Option<SpanEnd>) -> &'static str {
    match how {
        None => "there still",
        Some(SpanEnd::Released) => "let go",
        Some(SpanEnd::GaveUp) => "gave up",
        Some(SpanEnd::SessionEnded) => "session ended",
        Some(SpanEnd::Forced) => "released through Lockscope",
        Some(SpanEnd::Unknown) => "not known",
    }
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
        let WhichIncident::Around { path, at_ms } = &asked.which else {
            return own.incident_view(&scope, found(&own, &scope, &asked)?).map(Ok);
        };
        // Where there is none, the lock at that moment says what there was.
        Ok(Err(match found(&own, &scope, &asked) {
            Ok(found) => url_of(&own, &found.ensemble, &id_of(&found.told.incident)),
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
    fn incident_view(&self, scope: &Scope, found: Found) -> Result<IncidentView, ErrorResponse> {
        let Found { ensemble, told, lives, left_out, earlier, again, alike, releases, alerts, now_ms } = found;
        let (_, store) = self.recorded(scope, &ensemble)?;
        let finding = told.finding().map(readable_code);
        let Told { incident, seen_before, sentence, worst, lasted_ms, .. } = told;
        let range = incident.from..incident.from + lasted_ms + 1;
        let named = if self.places(&Scope::ALL).len() > 1 { ensemble.clone() } else { String::new() };
        let paths: Vec<&str> = incident.locks();
        let seen = |error: StoreError| refused(error, &range);
        let facts = facts(&*store, &paths, &incident, lasted_ms).map_err(seen)?;
        let moment_ms = incident.from.0;
        let lock_url = |path: &str| {
            let query = LockQuery { ensemble: named.clone(), path: path.to_owned(), ..LockQuery::default() };
            at_moment(&query.to_url(), moment_ms)
        };
        let locks: Vec<(String, String)> =
            paths.iter().take(LOCKS_MAX).map(|path| ((*path).to_owned(), lock_url(path))).collect();
        let root = incident.root.as_ref().filter(|_| !is_mutual(worst));
        let lanes_left_out = left_out + lives.len().saturating_sub(LANES_MAX);
        let lane = |life: &Life| {
            let is_root = is_root(life, root);
            lane(life, is_root, &named, moment_ms, scope.payloads())
        };
        let lanes = in_lanes(&lives, root).into_iter().map(lane).collect();
        let old = |of: &Before| IncidentBefore {
            from_ms: of.from_ms,
            lasted_ms: of.lasted_ms,
            ended: ended_cell(of.ended_by),
            url: url_of(self, &ensemble, &of.id),
        };
        let shown_fact = |fact: Fact| IncidentFact {
            at_ms: fact.at.0,
            severity: fact.severity,
            name: readable_code(&fact.code),
            text: readable(&fact.code, &fact.text, scope).to_owned(),
            lock: fact.lock.map(Into::into).unwrap_or_default(),
        };
        Ok(IncidentView {
            worst,
            finding,
            from_ms: incident.from.0,
            to_ms: incident.to.map(|to| to.0),
            now_ms,
            locks,
            locks_left_out: paths.len().saturating_sub(LOCKS_MAX),
            lanes,
            lanes_left_out,
            depth: waiting(&lives),
            is_depth_least: left_out > 0 || incident.is_lower_bound,
            victims: (incident.victims, incident.victims_peak),
            waiting_ms: incident.waiting_ms,
            facts: facts.into_iter().map(shown_fact).collect(),
            earlier: earlier.iter().map(old).collect(),
            seen_before,
            again,
            alike: alike.and_then(|alike| alike.view(self, &ensemble)),
            acts: acts(releases, alerts),
            ways: ways(self, &ensemble, &named, &incident, lasted_ms),
            list_url: if named.is_empty() {
                "/incidents".to_owned()
            } else {
                with("/incidents", &[("ensemble", &named)])
            },
            sentence,
        })
    }
}

/// Releases and alerts, the oldest first.
fn acts(releases: Vec<Release>, alerts: Vec<Alert>) -> Vec<IncidentAct> {
    let release = |of: Release| IncidentAct {
        at_ms: of.at_ms,
        lock: of.lock,
        what: IncidentActKind::Release { by: of.by },
        url: of.record.map(|record| format!("/audit?before={}#r{record}", record.saturating_add(1))),
    };
    let alert = |of: Alert| IncidentAct {
        at_ms: of.fired_at_ms.unwrap_or(of.since_at_ms),
        lock: of.lock,
        what: IncidentActKind::Alert { rule: of.rule, until_ms: of.resolved_at_ms, sentence: of.sentence },
        url: Some("/alerts?state=all".to_owned()),
    };
    let mut all: Vec<IncidentAct> = releases.into_iter().map(release).chain(alerts.into_iter().map(alert)).collect();
    all.sort_by_key(|act| act.at_ms);
    all
}

/// The same in other forms: for a ticket, for programs, for Perfetto, and as a file of its own.
fn ways(http: &Http, ensemble: &str, named: &str, incident: &Incident, lasted_ms: i64) -> Vec<(&'static str, String)> {
    let id = id_of(incident);
    let api = url_of(http, ensemble, &id).replacen("/incident", "/api/v1/incident", 1);
    let (from, to) = (incident.from.0 - AROUND_MS, incident.from.0 + lasted_ms + AROUND_MS);
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

/// Those that are drawn: whoever is at the root, whoever held, and whoever waited, each longest first; then in the order in
/// which they came.
fn in_lanes<'a>(lives: &'a [Life], root: Option<&IncidentRoot>) -> Vec<&'a Life> {
    let mut lanes: Vec<&Life> = lives.iter().collect();
    if lanes.len() > LANES_MAX {
        lanes.sort_by_key(|life| {
            let long = life.left_at.map_or(i64::MAX, |left| left.since(life.joined_at));
            (!is_root(life, root), life.held_at.is_none(), std::cmp::Reverse(long))
        });
        lanes.truncate(LANES_MAX);
        lanes.sort_by_key(|life| (life.joined_at, life.czxid));
    }
    lanes
}

/// It is the life of whoever made the others wait.
fn is_root(life: &Life, root: Option<&IncidentRoot>) -> bool {
    root.is_some_and(|root| {
        life.session == root.session && life.held_at == Some(root.held_at) && life.lock == root.lock
    })
}

fn lane(life: &Life, is_root: bool, named: &str, moment_ms: i64, shows_labels: bool) -> IncidentLane {
    let session = life.session.map(|session| session.to_string());
    let label = life.label.as_deref().filter(|_| shows_labels).or(life.host.as_deref()).map(str::to_owned);
    let who = label.or(session).unwrap_or_else(|| "no session".to_owned());
    let url = life.session.map(|session| {
        let query = SessionQuery { ensemble: named.to_owned(), id: SessionId(session.0), ..SessionQuery::default() };
        // It may have come later.
        at_moment(&query.to_url(), moment_ms.max(life.joined_at.0.saturating_add(1)))
    });
    IncidentLane {
        who,
        url,
        lock: life.lock.to_string(),
        joined_ms: life.joined_at.0,
        held_ms: life.held_at.map(|at| at.0),
        left_ms: life.left_at.map(|at| at.0),
        how: left(life.how),
        is_root,
        stands_by: !life.is_waited_for,
    }
}

/// How many waited from each instant on, the oldest first.
fn waiting(lives: &[Life]) -> Vec<(i64, u32)> {
    let waits = lives.iter().filter(|life| life.is_waited_for);
    let steps = waits.flat_map(|life| {
        let end = life.held_at.or(life.left_at).map(|at| (at.0, -1_i64));
        [Some((life.joined_at.0, 1)), end].into_iter().flatten()
    });
    let mut by_instant = BTreeMap::<i64, i64>::new();
    steps.for_each(|(at_ms, step)| *by_instant.entry(at_ms).or_default() += step);
    let sum = |now: &mut i64, (at_ms, step): (i64, i64)| {
        *now += step;
        Some((at_ms, u32::try_from(*now).unwrap_or(0)))
    };
    by_instant.into_iter().scan(0, sum).collect()
}

/// Findings and releases of its locks meanwhile, the oldest first.
fn facts(store: &dyn Store, paths: &[&str], incident: &Incident, lasted_ms: i64) -> Result<Vec<Fact>, StoreError> {
    let mut found = Vec::new();
    // A finding may come a little earlier than a verdict.
    let range = incident.from - QUIET_MS..incident.from + lasted_ms + 1;
    let give_up_at = Some(give_up_at());
    for path in paths.iter().take(LOCKS_MAX) {
        for kind in [FactKind::Finding, FactKind::Release] {
            let query = FactQuery {
                range: range.clone(),
                lock: Some((*path).into()),
                kind: Some(kind),
                limit: FACTS_MAX,
                give_up_at,
                ..FactQuery::default()
            };
            found.extend(store.facts(&query)?);
        }
    }
    found.sort_by_key(|fact| fact.number);
    found.truncate(FACTS_MAX);
    Ok(found)
}
