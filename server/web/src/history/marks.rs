//! `GET /api/v1/history/marks`: how much happened when, and what stands out: for a time axis.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::diagnosis::Verdict;
use lockscope_core::time::TimeMs;
use lockscope_history::derive::{MINUTE_MS, verdict_name, verdict_of};
use lockscope_history::store::rows::{DensityQuery, Fact, FactKind, FactQuery, ROWS_READ_MAX};
use lockscope_history::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, CoverageJson, give_up_at, refused};
use super::finding_text::readable;
use crate::Http;
use crate::api::{Pairs, share_past};
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;
use lockscope_live::VisibilityScope;

const TAKES: [&str; 5] = ["ensemble", "path", "from", "to", "limit"];
/// Marks of one answer.
pub(crate) const MARKS_MAX: usize = 2_000;
const MARKS_USUAL: usize = 500;
const BUCKETS: i64 = 240;

/// How much happened when.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MarksJson {
    /// The ensemble.
    ensemble: String,
    /// Length of a bucket, in milliseconds.
    bucket_ms: i64,
    /// In order; of time in which nothing happened there are none.
    buckets: Vec<BucketJson>,
    /// What stands out, the newest of it, in order.
    marks: Vec<MarkJson>,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// A piece of time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BucketJson {
    /// Where it begins, ms since the epoch.
    at_ms: i64,
    /// Contenders that came, began to hold, or gave up.
    events: u64,
    /// All waiting together, in milliseconds.
    waiting_ms: i64,
    /// The worst verdict.
    worst: &'static str,
}

/// The same before it is written down.
pub(super) struct Bucket {
    pub(super) at_ms: i64,
    pub(super) events: u64,
    waiting_ms: i64,
    pub(super) worst: Verdict,
}

impl From<Bucket> for BucketJson {
    fn from(of: Bucket) -> Self {
        let Bucket { at_ms, events, waiting_ms, worst } = of;
        Self { at_ms, events, waiting_ms, worst: verdict_name(worst) }
    }
}

/// Something that stands out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MarkJson {
    /// When, ms since the epoch.
    at_ms: i64,
    /// Of what it is: `finding`, `verdict`, `link`, `root`, `deadlock`, `gap`, `release`, `alert`.
    kind: &'static str,
    /// The code of a finding, the name of a verdict or a state.
    code: String,
    /// 0 for worth knowing, 1 for worth a look, 2 for act.
    severity: u8,
    /// The lock, or the root; null where it is of none.
    path: Option<String>,
    /// One sentence.
    text: String,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, MARKS_MAX)?;
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, &of)).await)
}

fn found(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<Json<MarksJson>, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let range = asked.range(http.hub.now_ms())?;
    let bucket_ms = (range.end.since(range.start) / BUCKETS / MINUTE_MS + 1) * MINUTE_MS;
    let sight = Sight { scope, ensemble: &ensemble, path: &asked.path };
    let all = || -> Result<_, StoreError> {
        let limit = asked.limit.unwrap_or(MARKS_USUAL);
        let marks = marks(&*store, &sight, &range, limit)?;
        let buckets = buckets(&*store, &sight, &range, bucket_ms, give_up_at())?;
        Ok((buckets.into_iter().map(BucketJson::from).collect(), marks, CoverageJson::new(&*store, &range)?))
    };
    let (buckets, marks, coverage) = all().map_err(|error| refused(error, &range))?;
    Ok(Json(MarksJson { ensemble: ensemble.clone(), bucket_ms, buckets, marks, coverage }))
}

/// What of an ensemble is shown.
pub(super) struct Sight<'a> {
    pub(super) scope: &'a VisibilityScope,
    pub(super) ensemble: &'a str,
    pub(super) path: &'a str,
}

impl Sight<'_> {
    fn lock(&self) -> Option<Box<str>> {
        (!self.path.is_empty()).then(|| self.path.into())
    }

    fn sees(&self, fact: &Fact) -> bool {
        let Some(path) = &fact.lock else { return true };
        match fact.kind {
            FactKind::Root => self.scope.covers_ensemble(self.ensemble) && self.scope.overlaps(path),
            FactKind::Finding
            | FactKind::Verdict
            | FactKind::Link
            | FactKind::Deadlock
            | FactKind::Gap
            | FactKind::Release
            | FactKind::Alert => self.scope.covers(self.ensemble, path),
        }
    }
}

/// How much happened in each piece of a range; of pieces in which nothing happened there are none.
pub(super) fn buckets(
    store: &dyn Store,
    sight: &Sight<'_>,
    range: &Range<TimeMs>,
    bucket_ms: i64,
    give_up_at: Instant,
) -> Result<Vec<Bucket>, StoreError> {
    let begin = TimeMs(range.start.0.div_euclid(MINUTE_MS) * MINUTE_MS);
    let range = begin..range.end;
    let give_up_at = Some(give_up_at);
    let densities = store.densities(&DensityQuery { range, lock: sight.lock(), piece_ms: bucket_ms, give_up_at })?;
    let mut buckets: BTreeMap<i64, (u64, i64, Verdict)> = BTreeMap::new();
    for one in densities.iter().filter(|one| sight.scope.covers(sight.ensemble, &one.lock)) {
        let (events, waiting_ms, worst) = buckets.entry(one.piece).or_insert((0, 0, Verdict::Free));
        *events = events.saturating_add(one.events);
        *waiting_ms = waiting_ms.saturating_add(one.waiting_ms);
        *worst = (*worst).max(verdict_of(&one.worst).unwrap_or(Verdict::Unknown));
    }
    let bucket =
        |(piece, (events, waiting_ms, worst))| Bucket { at_ms: begin.0 + piece * bucket_ms, events, waiting_ms, worst };
    Ok(buckets.into_iter().map(bucket).collect())
}

/// The newest releases by Lockscope itself, of so many.
pub(super) fn releases(
    store: &dyn Store,
    sight: &Sight<'_>,
    range: &Range<TimeMs>,
    limit: usize,
    give_up_at: Instant,
) -> Result<Vec<TimeMs>, StoreError> {
    let (range, lock, kind) = (range.clone(), sight.lock(), Some(FactKind::Release));
    let facts =
        store.facts(&FactQuery { range, lock, kind, limit, give_up_at: Some(give_up_at), ..FactQuery::default() })?;
    Ok(facts.iter().filter(|fact| sight.sees(fact)).map(|fact| fact.at).collect())
}

/// The newest that may be seen, gaps among them.
fn marks(
    store: &dyn Store,
    sight: &Sight<'_>,
    range: &Range<TimeMs>,
    limit: usize,
) -> Result<Vec<MarkJson>, StoreError> {
    let (range_of, give_up_at) = (range.clone(), Some(give_up_at()));
    let mut query = FactQuery { range: range_of, lock: sight.lock(), give_up_at, ..FactQuery::default() };
    let mut found: Vec<MarkJson> = Vec::new();
    loop {
        let page = store.facts(&query)?;
        let last = page.last().filter(|_| page.len() == ROWS_READ_MAX).map(|fact| fact.at);
        let seen = page.into_iter().filter(|fact| sight.sees(fact));
        found.extend(seen.take(limit.saturating_sub(found.len())).map(|fact| MarkJson::new(fact, sight.scope)));
        match last {
            // Of one millisecond no more than a page is shown.
            Some(at) if found.len() < limit => query.range.end = at,
            _ => break,
        }
    }
    found.extend(store.gaps(range.clone())?.into_iter().filter(|gap| range.contains(&gap.from)).map(|gap| MarkJson {
        at_ms: gap.from.0,
        kind: FactKind::Gap.name(),
        code: gap.why.name().to_owned(),
        severity: 1,
        path: None,
        text: format!("Nothing is known of {} ms: {}.", gap.to.since(gap.from), gap.why),
    }));
    found.sort_by_key(|mark| mark.at_ms);
    found.drain(..found.len().saturating_sub(limit));
    Ok(found)
}

impl MarkJson {
    fn new(fact: Fact, scope: &VisibilityScope) -> Self {
        let text = readable(&fact.code, &fact.text, scope).to_owned();
        Self {
            at_ms: fact.at.0,
            kind: fact.kind.name(),
            code: fact.code.into(),
            severity: fact.severity,
            path: fact.lock.map(Into::into),
            text,
        }
    }
}
