//! `GET /api/v1/incidents`: when something was wrong with which locks, because of whom.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::derive::verdict_name;
use lockscope_view::Scope;
use lockscope_view::past::{Coverage, Incident, Incidents};

use super::ask::{Asked, give_up_at, refused};
use super::described_incident::Told;
use super::incident::{Earlier, Looking, id_of};
use crate::Http;
use crate::api::{ListFormat, share_past, with_format};
use crate::csv::{Column, Table, known_as, text};
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};

/// The range where none is named.
pub(super) const USUAL_RANGE_MS: i64 = 86_400_000;
/// Rows of one answer.
pub(crate) const INCIDENTS_MAX: usize = 500;
const INCIDENTS_USUAL: usize = 100;

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, format) = with_format(pairs)?;
    let of = Asked::read(&pairs, INCIDENTS_MAX)?;
    Ok(match format {
        ListFormat::Json => {
            let list = move |http: &Http, scope| listed(http, &scope, &of).map(|list| Json(Incidents::from(list)));
            share_past(&http, asked, list).await
        }
        ListFormat::Csv => {
            let (own, scope) = (http.clone(), asked.scope.clone());
            http.past_shared.answer(asked, move || Answer::table(listed(&own, &scope, &of).map(table))).await
        }
    })
}

/// The rows alone, with the same fields; several findings are parted by spaces, and several locks, whose paths may have some,
/// by line feeds.
pub(super) fn table(list: Listed) -> Table {
    let lasted_ms: Vec<i64> = list.told.iter().map(|told| told.lasted_ms).collect();
    let all = Incidents::from(list);
    let total = all.incidents.len() + all.left_out;
    let rows: Vec<(i64, Incident)> = lasted_ms.into_iter().zip(all.incidents).collect();
    let known = |value: &Option<String>| value.as_deref().map(text).unwrap_or_default();
    let columns: [Column<'_, (i64, Incident)>; _] = [
        ("id", &|(_, row)| text(&row.id)),
        ("from_at_ms", &|(_, row)| row.from_at_ms.to_string()),
        ("to_at_ms", &|(_, row)| known_as(row.to_at_ms)),
        ("lasted_ms", &|(lasted_ms, _)| lasted_ms.to_string()),
        ("worst", &|(_, row)| row.worst.to_owned()),
        ("findings", &|(_, row)| text(&row.findings.join(" "))),
        ("locks", &|(_, row)| text(&row.locks.join("\n"))),
        ("root_lock", &|(_, row)| text(&row.root_lock)),
        ("root_client", &|(_, row)| known(&row.root_client)),
        ("root_host", &|(_, row)| known(&row.root_host)),
        ("root_session_id", &|(_, row)| known(&row.root_session_id)),
        ("victims", &|(_, row)| row.victims.to_string()),
        ("victims_peak", &|(_, row)| row.victims_peak.to_string()),
        ("waiting_ms", &|(_, row)| row.waiting_ms.to_string()),
        ("is_lower_bound", &|(_, row)| row.is_lower_bound.to_string()),
        ("ended_by", &|(_, row)| row.ended_by.to_owned()),
        ("is_seen_now", &|(_, row)| known_as(row.is_seen_now)),
        ("forced_by", &|(_, row)| known(&row.forced_by)),
        ("seen_before", &|(_, row)| row.seen_before.to_string()),
        ("sentence", &|(_, row)| text(&row.sentence)),
    ];
    Table::of_first("incidents", rows, total, columns)
}

/// A list before it is written down.
pub(super) struct Listed {
    pub(super) ensemble: String,
    pub(super) told: Vec<Told>,
    pub(super) left_out: usize,
    pub(super) coverage: Coverage,
}

/// The list.
pub(super) fn listed(http: &Http, scope: &Scope, asked: &Asked) -> Result<Listed, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let now_ms = http.hub.now_ms();
    let range = asked.range_of(now_ms, USUAL_RANGE_MS)?;
    let give_up_at = give_up_at();
    let looking = Looking { http, scope, ensemble: &ensemble, store: &*store, now: TimeMs(now_ms), give_up_at };
    let all = || {
        let found = looking.of_range(range.clone())?;
        let (mut told, mut known) = (Vec::new(), Earlier::default());
        for incident in found.incidents {
            let lasted_ms = incident.until(looking.now).since(incident.from);
            if lasted_ms < asked.min_ms {
                continue;
            }
            told.push(looking.tell(incident, &mut known)?);
        }
        Ok((told, found.left_out, looking.question(&range).coverage()?))
    };
    let (mut told, left_out, coverage) = all().map_err(|error| refused(error, &range))?;
    told.retain(|one| asked.q.is_empty() || one.has(&asked.q));
    told.retain(|one| asked.path.is_empty() || one.incident.runs.iter().any(|run| *run.lock == *asked.path));
    let more = told.split_off(told.len().min(asked.limit.unwrap_or(INCIDENTS_USUAL)));
    Ok(Listed { ensemble, told, left_out: left_out + more.len(), coverage })
}

impl From<Listed> for Incidents {
    fn from(of: Listed) -> Self {
        let Listed { ensemble, told, left_out, coverage, .. } = of;
        Self { ensemble, incidents: told.iter().map(incident_of).collect(), left_out, coverage }
    }
}

/// An incident, as it is answered.
pub(super) fn incident_of(of: &Told) -> Incident {
    let incident = &of.incident;
    let root = incident.root.as_ref();
    Incident {
        id: id_of(incident),
        from_at_ms: incident.from.0,
        to_at_ms: incident.to.map(|to| to.0),
        worst: verdict_name(incident.worst),
        findings: incident.findings.iter().map(|code| code.to_string()).collect(),
        locks: incident.locks().into_iter().map(str::to_owned).collect(),
        root_lock: incident.root_lock().to_owned(),
        root_client: of.root_client.clone(),
        root_host: root.and_then(|root| root.host.as_deref()).map(str::to_owned),
        root_session_id: root.and_then(|root| root.session).map(|session| session.to_string()),
        victims: incident.victims,
        victims_peak: incident.victims_peak,
        waiting_ms: incident.waiting_ms,
        is_lower_bound: incident.is_lower_bound,
        ended_by: incident.ended_by.name(),
        is_seen_now: of.is_seen_now,
        forced_by: of.forced_by.clone(),
        seen_before: of.seen_before,
        sentence: of.sentence.clone(),
    }
}
