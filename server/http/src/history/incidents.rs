//! `GET /api/v1/incidents`: when something was wrong with which locks, because of whom. `GET /api/v1/incident`: one of them.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use history::derive::{FACTS_A_MS, verdict_name};
use history::incident::{Incident, IncidentEnd, Life, earlier, incident_of, lives_in};
use history::store::StoreError;
use lockscope_core::time::TimeMs;
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, CoverageJson, give_up_at, id, refused};
use super::incident::{Earlier, Looking, Told, id_of, number_of};
use super::incident_words::markdown;
use crate::Http;
use crate::api::{Pairs, read, share_past, short, wrong};
use crate::problem::{ErrorResponse, echo};
use crate::shared_answers::{Answer, AnswerRequest};
use feed::{FILTER_CHARS_MAX, VisibilityScope};

pub(super) const TAKES: [&str; 6] = ["ensemble", "from", "to", "q", "min_ms", "limit"];
/// The range where none is named.
pub(super) const USUAL_RANGE_MS: i64 = 86_400_000;
/// Rows of one answer.
pub(crate) const INCIDENTS_MAX: usize = 500;
const INCIDENTS_USUAL: usize = 100;
/// Lives of one incident that are listed. Overflow policy: those of whoever held or waited longest are.
pub(super) const LIVES_MAX: usize = 500;
/// Earlier ones that are listed.
const EARLIER_MAX: usize = 10;
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// When something was wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IncidentsJson {
    /// The ensemble.
    ensemble: String,
    /// The newest first: those that overlap the range.
    incidents: Vec<IncidentJson>,
    /// Further ones, which are older and not listed.
    left_out: usize,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// Something was wrong with one lock, or with several that were connected.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IncidentJson {
    /// Names it, with its ensemble.
    id: String,
    /// When it began, ms since the epoch.
    from_at_ms: i64,
    /// When it ended; null while it goes on.
    to_at_ms: Option<i64>,
    /// The worst verdict; `healthy` where findings alone say that something was wrong.
    worst: &'static str,
    /// Findings by which somebody was hurt, by their codes.
    findings: Vec<String>,
    /// Its locks that may be seen, in the order in which trouble began.
    locks: Vec<String>,
    /// The lock that whoever is charged most of the waiting held.
    root_lock: String,
    /// Who that said it was; null where nobody did, or where payloads are not shown.
    root_client: Option<String>,
    /// The host that it came from.
    root_host: Option<String>,
    /// Its session; null where no session owns what was held.
    root_session_id: Option<String>,
    /// Sessions that waited 1 s or longer within it.
    victims: usize,
    /// The most that waited at once.
    victims_peak: usize,
    /// All waiting within it together.
    waiting_ms: i64,
    /// There was more waiting: not all who waited were looked at.
    is_lower_bound: bool,
    /// How it ended: `released`, `session_ended` (of whoever held), `forced` (through Lockscope), `gave_up` (whoever waited),
    /// `recovered` (it was held still, or nobody held), `unknown` (nobody looked) or `still`.
    ended_by: &'static str,
    /// Whether it can be seen now that it goes on: false while the ensemble is not, and over an autopsy; null where it is over.
    is_seen_now: Option<bool>,
    /// How often its root lock had the same worst verdict in the 30 days before.
    seen_before: usize,
    /// What happened, in plain words.
    sentence: String,
}

/// One incident, with who was there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneIncidentJson {
    /// The ensemble.
    ensemble: String,
    #[serde(flatten)]
    incident: IncidentJson,
    /// Whoever held or waited at its locks meanwhile, in the order in which they came.
    lives: Vec<IncidentLifeJson>,
    /// Further ones, which held and waited less.
    lives_left_out: usize,
    /// When its root lock had the same worst verdict before, the newest first: ten at most.
    earlier: Vec<EarlierJson>,
}

/// An earlier incident of the same lock with the same worst verdict.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EarlierJson {
    /// Names it.
    id: String,
    /// When it began, ms since the epoch.
    from_at_ms: i64,
    /// How long it lasted.
    lasted_ms: i64,
    /// How it ended, as above.
    ended_by: &'static str,
}

/// Somebody who held or waited.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IncidentLifeJson {
    /// The lock.
    lock: String,
    /// The session.
    session_id: Option<String>,
    /// Who it said it was; null where payloads are not shown.
    label: Option<String>,
    /// The host that it came from.
    host: Option<String>,
    /// When it came, ms since the epoch.
    joined_at_ms: i64,
    /// When it held first; null when it never did.
    held_at_ms: Option<i64>,
    /// When it left; null while it is there.
    left_at_ms: Option<i64>,
    /// How it ended, as in `/api/v1/history/holds`, or `still`.
    how: &'static str,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, INCIDENTS_MAX)?;
    Ok(share_past(&http, asked, move |http, scope| {
        listed(http, &scope, &of).map(|list| Json(IncidentsJson::from(list)))
    })
    .await)
}

/// A list before it is written down.
pub(super) struct Listed {
    pub(super) ensemble: String,
    pub(super) told: Vec<Told>,
    pub(super) left_out: usize,
    pub(super) coverage: CoverageJson,
}

/// The list.
pub(super) fn listed(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<Listed, ErrorResponse> {
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
        Ok((told, found.left_out, CoverageJson::new(&*store, &range)?))
    };
    let (mut told, left_out, coverage) = all().map_err(|error| refused(error, &range))?;
    told.retain(|one| asked.q.is_empty() || one.has(&asked.q));
    let more = told.split_off(told.len().min(asked.limit.unwrap_or(INCIDENTS_USUAL)));
    Ok(Listed { ensemble, told, left_out: left_out + more.len(), coverage })
}

impl From<Listed> for IncidentsJson {
    fn from(of: Listed) -> Self {
        let Listed { ensemble, told, left_out, coverage, .. } = of;
        Self { ensemble, incidents: told.iter().map(IncidentJson::new).collect(), left_out, coverage }
    }
}

impl IncidentJson {
    fn new(of: &Told) -> Self {
        let incident = &of.incident;
        let root = incident.root.as_ref();
        Self {
            id: id_of(incident),
            from_at_ms: incident.from.0,
            to_at_ms: incident.to.map(|to| to.0),
            worst: verdict_name(incident.worst),
            findings: incident.findings.iter().map(|code| code.to_string()).collect(),
            locks: incident.locks().into_iter().map(str::to_owned).collect(),
            root_lock: incident.root_lock().to_owned(),
            root_client: of.root_client.clone(),
            root_host: root.and_then(|root| root.host.as_deref()).map(str::to_owned),
            root_session_id: root.and_then(|root| root.session).map(|session| id(session.0)),
            victims: incident.victims,
            victims_peak: incident.victims_peak,
            waiting_ms: incident.waiting_ms,
            is_lower_bound: incident.is_lower_bound,
            ended_by: incident.ended_by.name(),
            is_seen_now: of.is_seen_now,
            seen_before: of.seen_before,
            sentence: of.sentence.clone(),
        }
    }
}

/// Which incident.
#[derive(Clone, Debug, Default)]
pub(super) struct AskedOne {
    pub(super) ensemble: String,
    /// None where what came is the id of none.
    pub(super) number: Option<u64>,
    is_markdown: bool,
}

impl AskedOne {
    pub(super) fn read(pairs: Pairs) -> Result<Self, ErrorResponse> {
        let (mut asked, mut id) = (Self::default(), None);
        for (name, value) in read(pairs)? {
            match (name.as_str(), value.as_str()) {
                ("ensemble", _) => asked.ensemble = short(&name, &value, FILTER_CHARS_MAX)?,
                ("id", _) => id = Some(number_of(&short(&name, &value, FILTER_CHARS_MAX)?)),
                ("format", "" | "json") => asked.is_markdown = false,
                ("format", "markdown") => asked.is_markdown = true,
                ("format", _) => return Err(wrong(&name, &value, "json or markdown")),
                _ => {
                    let name = echo(&name);
                    return Err(ErrorResponse::bad_request(format!(
                        "`{name}` is not a parameter here; there are ensemble, id, format"
                    )));
                }
            }
        }
        let missing =
            || ErrorResponse::bad_request("`id` is missing: that of an incident; GET /api/v1/incidents lists them");
        asked.number = id.ok_or_else(missing)?;
        Ok(asked)
    }
}

pub(crate) async fn show_one(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = AskedOne::read(pairs)?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let answer = move || {
        let found = found(&own, &scope, &of);
        if of.is_markdown {
            let text = |found: Found| {
                let Found { ensemble, told, lives, .. } = found;
                let url = url_of(&own, &ensemble, &id_of(&told.incident));
                markdown(&told, &lives, &url)
            };
            return Answer::text(MARKDOWN, found.map(text));
        }
        Answer::json(found.map(|found| found.json(scope.payloads())))
    };
    Ok(http.past_shared.answer(asked, answer).await)
}

/// The address of its page; `ensemble` is left out where there is only one.
pub(super) fn url_of(http: &Http, ensemble: &str, id: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if http.places(&VisibilityScope::ALL).len() > 1 {
        query.append_pair("ensemble", ensemble);
    }
    query.append_pair("id", id);
    format!("/incident?{}", query.finish())
}

/// One incident with all that is shown of it.
pub(super) struct Found {
    pub(super) ensemble: String,
    pub(super) told: Told,
    pub(super) lives: Vec<Life>,
    pub(super) left_out: usize,
    /// The same lock in the same trouble before, the newest first.
    pub(super) earlier: Vec<Before>,
    pub(super) now_ms: i64,
}

/// An earlier incident.
pub(super) struct Before {
    pub(super) id: String,
    pub(super) from_ms: i64,
    pub(super) lasted_ms: i64,
    pub(super) ended_by: IncidentEnd,
}

/// The newest earlier ones, and how they ended.
fn earlier_ones(looking: &Looking<'_>, incident: &Incident) -> Result<Vec<Before>, StoreError> {
    let runs = earlier(looking.store, incident.root_lock(), incident.worst, incident.from, looking.give_up_at)?;
    let mut found = Vec::new();
    for run in runs.iter().rev().take(EARLIER_MAX) {
        let range = run.from..run.from + 1;
        let Some(one) = looking.ask(range, |query| incident_of(looking.store, query, run.number))? else { continue };
        let lasted_ms = one.until(looking.now).since(one.from);
        found.push(Before { id: id_of(&one), from_ms: one.from.0, lasted_ms, ended_by: one.ended_by });
    }
    Ok(found)
}

/// Looks for one.
pub(super) fn found(http: &Http, scope: &VisibilityScope, asked: &AskedOne) -> Result<Found, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let now_ms = http.hub.now_ms();
    // Numbers are made of instants.
    let missing = || {
        ErrorResponse::not_found(
            "no incident of that id is kept, or it may not be shown to you; /api/v1/incidents lists them",
        )
    };
    let number = asked.number.ok_or_else(missing)?;
    let at = TimeMs(i64::try_from(number / FACTS_A_MS).unwrap_or(i64::MAX).min(now_ms));
    let range = at - 1_000..at + 1_000;
    let looking =
        Looking { http, scope, ensemble: &ensemble, store: &*store, now: TimeMs(now_ms), give_up_at: give_up_at() };
    let all = || {
        let found = looking.ask(range.clone(), |query| incident_of(&*store, query, number))?;
        let Some(incident) = found else { return Ok(None) };
        let lives = looking.ask(range.clone(), |query| lives_in(&*store, query, &incident))?;
        let earlier = earlier_ones(&looking, &incident)?;
        let told = looking.tell(incident, &mut Earlier::default())?;
        Ok(Some((told, lives, earlier)))
    };
    let (told, lives, earlier) = all().map_err(|error| refused(error, &range))?.ok_or_else(missing)?;
    let (lives, left_out) = chosen(lives, now_ms);
    Ok(Found { ensemble, told, lives, left_out, earlier, now_ms })
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
    fn json(self, shows_labels: bool) -> OneIncidentJson {
        let life = |life: Life| IncidentLifeJson {
            lock: life.lock.into(),
            session_id: life.session.map(|session| id(session.0)),
            label: life.label.filter(|_| shows_labels).map(Into::into),
            host: life.host.map(Into::into),
            joined_at_ms: life.joined_at.0,
            held_at_ms: life.held_at.map(|at| at.0),
            left_at_ms: life.left_at.map(|at| at.0),
            how: life.how.map_or("still", history::store::rows::SpanEnd::name),
        };
        let before = |of: Before| EarlierJson {
            id: of.id,
            from_at_ms: of.from_ms,
            lasted_ms: of.lasted_ms,
            ended_by: of.ended_by.name(),
        };
        OneIncidentJson {
            incident: IncidentJson::new(&self.told),
            ensemble: self.ensemble,
            lives: self.lives.into_iter().map(life).collect(),
            lives_left_out: self.left_out,
            earlier: self.earlier.into_iter().map(before).collect(),
        }
    }
}
