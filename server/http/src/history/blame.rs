//! `GET /api/v1/history/blame`: whose fault the waits of a range were.

use std::ops::{ControlFlow, Range};

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use history::blame::{Blame, BlameBy, BlameRow, Ledger};
use history::store::rows::SpanQuery;
use history::store::{Store, StoreError};
use lockscope_core::time::TimeMs;
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, CoverageJson, give_up_at, refused};
use super::holds::each;
use crate::Http;
use crate::api::{Pairs, share_past};
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;
use feed::VisibilityScope;

const TAKES: [&str; 6] = ["ensemble", "path", "from", "to", "by", "limit"];
/// Rows of one answer.
pub(crate) const BLAME_MAX: usize = 1_000;
const BLAME_USUAL: usize = 100;

/// Whose fault waits were.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlameJson {
    /// The ensemble.
    ensemble: String,
    /// What tells rows apart: `client`, `host`, `session` or `lock`.
    by: &'static str,
    /// Those first who are charged most in the end.
    rows: Vec<BlameRowJson>,
    /// All waits that ended in the range. It is the sum of all `charged_ms`, `charged_others_ms`, `hand_off_ms` and
    /// `unknown_ms`, and the same with `charged_root_ms`.
    waits_ms: i64,
    /// Nobody held.
    hand_off_ms: i64,
    /// Nobody looked, or an earlier version wrote it.
    unknown_ms: i64,
    /// What those are charged who are not in `rows`, and holders that could not be read.
    charged_others_ms: i64,
    /// The same in the end; null where not all of the ensemble may be seen.
    charged_root_others_ms: Option<i64>,
    /// True when there are more victims than are counted.
    is_lower_bound: bool,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// What one of those is charged.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlameRowJson {
    /// Who it says it is, its host, its session or the lock; the session where nothing says who it is.
    key: String,
    /// Its holds that ended.
    holds: u64,
    /// How long they took; null without any.
    hold_ms: Option<HoldTimesJson>,
    /// The waiting that it is charged as who held.
    charged_ms: i64,
    /// The waiting that it is charged as who was waited for in the end; null where not all of the ensemble may be seen.
    charged_root_ms: Option<i64>,
    /// Sessions that waited for it.
    victims: u64,
    /// When the wait ended of which it is charged most, ms since the epoch.
    worst_at_ms: i64,
    /// The lock of that wait.
    worst_lock: String,
    /// Its part of all waits, from 0 to 1: of what it is charged in the end, or else as who held.
    share: f64,
}

/// How long holds took.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoldTimesJson {
    /// Half of them no longer than this.
    p50: i64,
    /// 99 of 100 no longer than this.
    p99: i64,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, BLAME_MAX)?;
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, &of)).await)
}

fn found(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<Json<BlameJson>, ErrorResponse> {
    if asked.by == BlameBy::Client && !scope.payloads() {
        return Err(ErrorResponse::bad_request(
            "who a client says it is may not be shown to you; ask with by=host, by=session or by=lock",
        ));
    }
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let range = asked.range(http.hub.now_ms())?;
    let refused = |error: StoreError| refused(error, &range);
    let blame = blame(&*store, scope, &ensemble, asked, &range).map_err(refused)?;
    let coverage = CoverageJson::new(&*store, &range).map_err(refused)?;
    let has_roots = has_roots(scope, &ensemble);
    Ok(Json(BlameJson::new(ensemble, asked, blame, has_roots, coverage)))
}

/// Who was waited for in the end may hold locks that are not in the scope.
fn has_roots(scope: &VisibilityScope, ensemble: &str) -> bool {
    scope.covers(ensemble, "/")
}

fn blame(
    store: &dyn Store,
    scope: &VisibilityScope,
    ensemble: &str,
    asked: &Asked,
    range: &Range<TimeMs>,
) -> Result<Blame, StoreError> {
    let lock = (!asked.path.is_empty()).then(|| asked.path.as_str().into());
    let query = SpanQuery { range: range.clone(), lock, give_up_at: Some(give_up_at()), ..SpanQuery::default() };
    let ledger = Ledger::new(asked.by);
    let mut ledger = if has_roots(scope, ensemble) { ledger } else { ledger.without_roots() };
    each(store, query, |span| {
        if scope.covers(ensemble, &span.lock) {
            ledger.take(&span);
        }
        ControlFlow::Continue(())
    })?;
    Ok(ledger.finish())
}

impl BlameJson {
    fn new(ensemble: String, asked: &Asked, blame: Blame, has_roots: bool, coverage: CoverageJson) -> Self {
        let Blame { mut rows, waits_ms, hand_off_ms, unknown_ms, others_ms: (direct, root), is_lower_bound } = blame;
        if !has_roots {
            rows.sort_by_key(|row| std::cmp::Reverse(row.direct_ms));
        }
        let left_out = rows.split_off(rows.len().min(asked.limit.unwrap_or(BLAME_USUAL)));
        let left = |of: fn(&BlameRow) -> i64| left_out.iter().map(of).sum::<i64>();
        Self {
            ensemble,
            by: asked.by.name(),
            charged_others_ms: direct + left(|row| row.direct_ms),
            charged_root_others_ms: has_roots.then(|| root + left(|row| row.root_ms)),
            rows: rows.into_iter().map(|row| BlameRowJson::new(row, waits_ms, has_roots)).collect(),
            waits_ms,
            hand_off_ms,
            unknown_ms,
            is_lower_bound,
            coverage,
        }
    }
}

impl BlameRowJson {
    fn new(row: BlameRow, waits_ms: i64, has_roots: bool) -> Self {
        let times = (row.hold_times.percentile(50), row.hold_times.percentile(99));
        let charged = if has_roots { row.root_ms } else { row.direct_ms };
        Self {
            key: row.key,
            holds: row.holds,
            hold_ms: times.0.zip(times.1).map(|(p50, p99)| HoldTimesJson { p50, p99 }),
            charged_ms: row.direct_ms,
            charged_root_ms: has_roots.then_some(row.root_ms),
            victims: row.victims,
            worst_at_ms: row.worst.at.0,
            worst_lock: row.worst.lock.into(),
            share: charged as f64 / waits_ms.max(1) as f64,
        }
    }
}
