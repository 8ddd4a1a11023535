//! `GET /api/v1/incidents`: when something was wrong with which locks, because of whom; and all of them, for an autopsy.

use std::ops::Range;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::Zxid;
use lockscope_history::query::{IncidentSearch, Question};
use lockscope_history::store::StoreError;
use lockscope_view::past::{Incident, Incidents};
use lockscope_view::{self as view, Scope};

use super::ask::{Asked, give_up_at, refused};
use super::going_on::present;
use crate::Http;
use crate::api::{ListFormat, share_past, with_format};
use crate::csv::{Column, Table, known_as, text};
use crate::params::Params;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_runtime::clock;

/// The range where none is named.
pub(super) const USUAL_RANGE_MS: i64 = 86_400_000;
pub(crate) const INCIDENTS_MAX: usize = 500;
const INCIDENTS_USUAL: usize = 100;
/// After so long the search for all is given up.
const SEARCH_MAX: Duration = Duration::from_secs(3_600);
/// Incidents that are listed of all. Overflow policy: of more, the newest are, and the rest is counted.
const ALL_MAX: usize = 10_000;

/// All incidents, the newest first, and how many further ones there are.
pub type AllIncidents = (Vec<Incident>, usize);

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (pairs, format) = with_format(pairs)?;
    let of = Asked::read(&pairs, INCIDENTS_MAX)?;
    Ok(match format {
        ListFormat::Json => {
            share_past(&http, asked, move |http, scope| http.incidents(&scope, &of).map(|(list, _)| Json(list))).await
        }
        ListFormat::Csv => {
            let (own, scope) = (http.clone(), asked.scope.clone());
            let table = move || own.incidents(&scope, &of).map(|(list, now_ms)| table(list, now_ms));
            http.past_shared.answer(asked, move || Answer::table(table())).await
        }
    })
}

/// The rows alone, with the same fields; several findings are parted by spaces, and several locks, whose paths may have some,
/// by line feeds.
fn table(all: Incidents, now_ms: i64) -> Table {
    let total = all.incidents.len() + all.left_out;
    let known = |value: &Option<String>| value.as_deref().map(text).unwrap_or_default();
    let columns: [Column<'_, Incident>; _] = [
        ("id", &|row| text(&row.id)),
        ("from_at_ms", &|row| row.from_at_ms.to_string()),
        ("to_at_ms", &|row| known_as(row.to_at_ms)),
        ("lasted_ms", &|row| row.lasted_ms(now_ms).to_string()),
        ("worst", &|row| row.worst.to_string()),
        ("findings", &|row| text(&row.findings.join(" "))),
        ("locks", &|row| text(&row.locks.join("\n"))),
        ("root_lock", &|row| text(&row.root_lock)),
        ("root_client", &|row| known(&row.root_client)),
        ("root_host", &|row| known(&row.root_host)),
        ("root_session_id", &|row| known(&row.root_session_id)),
        ("victims", &|row| row.victims.to_string()),
        ("victims_peak", &|row| row.victims_peak.to_string()),
        ("waiting_ms", &|row| row.waiting_ms.to_string()),
        ("is_lower_bound", &|row| row.is_lower_bound.to_string()),
        ("ended_by", &|row| row.ended_by.to_string()),
        ("is_seen_now", &|row| known_as(row.is_seen_now)),
        ("forced_by", &|row| known(&row.forced_by)),
        ("seen_before", &|row| row.seen_before.to_string()),
        ("sentence", &|row| text(&row.sentence)),
    ];
    Table::of_first("incidents", all.incidents, total, columns)
}

/// The address of an incident's page; `ensemble` is left out where there is only one.
pub(super) fn url_of(http: &Http, ensemble: &str, id: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if http.places(&Scope::ALL).len() > 1 {
        query.append_pair("ensemble", ensemble);
    }
    query.append_pair("id", id);
    format!("/incident?{}", query.finish())
}

impl Http {
    /// Asks about the incidents of one ensemble, the only one where none is named.
    pub(super) fn ask_incidents<T>(
        &self,
        scope: &Scope,
        ensemble: &str,
        range: Range<TimeMs>,
        give_up_at: Instant,
        ask: impl FnOnce(&IncidentSearch<'_>) -> Result<T, StoreError>,
    ) -> Result<T, ErrorResponse> {
        let (ensemble, store) = self.recorded(scope, ensemble)?;
        let forced_by = |czxid: Zxid| {
            let moments = self.moments.as_ref().filter(|_| scope.records());
            let release = moments.and_then(|moments| moments.forced().of(&ensemble, view::Zxid(czxid.0)));
            release.map_or((None, None), |release| (Some(release.by), release.record))
        };
        let rule = self.moments.as_ref().map(|moments| moments.applications().now()).unwrap_or_default();
        let search = IncidentSearch {
            question: Question { store: &*store, ensemble: &ensemble, scope, range, give_up_at },
            now: TimeMs(self.hub.now_ms()),
            present: &|lock: &str| present(self, scope, &ensemble, lock),
            forced_by: &forced_by,
            application: &|label: &str| rule.application_of(label).to_owned(),
        };
        ask(&search).map_err(|error| refused(error, &search.question.range))
    }

    /// The list, and as of when.
    pub(super) fn incidents(&self, scope: &Scope, asked: &Asked) -> Result<(Incidents, i64), ErrorResponse> {
        let range = asked.range_of(self.hub.now_ms(), USUAL_RANGE_MS)?;
        let found = self.ask_incidents(scope, &asked.ensemble, range, give_up_at(), |search| {
            let (incidents, left_out) = search.list(asked.min_ms)?;
            let Question { ensemble, .. } = search.question;
            let coverage = search.question.coverage()?;
            Ok((Incidents { ensemble: ensemble.to_owned(), incidents, left_out, coverage }, search.now.0))
        });
        let (mut list, now_ms) = found?;
        list.incidents.retain(|one| asked.q.is_empty() || one.has(&asked.q));
        list.incidents.retain(|one| asked.path.is_empty() || one.locks.contains(&asked.path));
        list.left_out += list.incidents.len().saturating_sub(asked.limit.unwrap_or(INCIDENTS_USUAL));
        list.incidents.truncate(asked.limit.unwrap_or(INCIDENTS_USUAL));
        Ok((list, now_ms))
    }

    /// Every incident of the only ensemble from one instant to another, for whoever may see all. Blocking.
    ///
    /// # Errors
    /// The history can't be read, in one sentence.
    pub fn all_incidents(&self, from_ms: i64, to_ms: i64) -> Result<AllIncidents, String> {
        let range = TimeMs(from_ms)..TimeMs(to_ms.max(self.hub.now_ms())) + 1;
        let found = self.ask_incidents(&Scope::ALL, "", range, clock::instant() + SEARCH_MAX, |search| {
            Ok(search.all(ALL_MAX).map_err(|error| error.to_string()))
        });
        found.map_err(|why| why.sentence().to_owned())?
    }
}

#[cfg(test)]
mod tests {
    use lockscope_view::Verdict;
    use lockscope_view::past::IncidentEnd;

    use super::*;

    #[test]
    fn as_a_table_they_have_all_fields_and_no_cell_is_a_formula() {
        let incident = Incident {
            id: "1".to_owned(),
            to_at_ms: Some(245_000),
            worst: Verdict::Stuck,
            locks: vec!["/a".to_owned(), "/b".to_owned()],
            root_lock: "/a".to_owned(),
            root_client: Some("=HYPERLINK(\"x\"),1".to_owned()),
            root_session_id: Some("0x2a".to_owned()),
            victims: 3,
            victims_peak: 2,
            waiting_ms: 550_000,
            ended_by: IncidentEnd::Released,
            ..Incident::default()
        };
        let table = table(Incidents { incidents: vec![incident], left_out: 3, ..Incidents::default() }, 0);
        assert_eq!(table.file_name, "lockscope-incidents-1-to-1-of-4.csv");
        let (head, row) = table.text.split_once("\r\n").unwrap();
        assert!(
            head.starts_with("id,from_at_ms,to_at_ms,lasted_ms,worst,findings,locks,root_lock,root_client,"),
            "{head}"
        );
        let expected = "1,0,245000,245000,stuck,,\"/a\n/b\",/a,\"'=HYPERLINK(\"\"x\"\"),1\",,0x2a,3,2,550000,false,released,,,0,\r\n";
        assert_eq!(row, expected);
    }
}
