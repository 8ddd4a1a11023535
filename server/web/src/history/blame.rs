//! `GET /api/v1/history/blame`: whose fault the waits of a range were.

mod by_ensemble;

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::time::TimeMs;
use lockscope_history::blame::{Blame, BlameBy, BlameRow, Ledger};
use lockscope_history::store::rows::SpanQuery;
use lockscope_history::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, CoverageJson, give_up_at, refused};
use super::holds::each;
use super::over_time_gaps::missing;
use crate::Http;
use crate::api::{ListFormat, Pairs, read, share_past, with_format};
use crate::csv::{Table, known_as, text};
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};
use lockscope_live::VisibilityScope;

const TAKES: [&str; 7] = ["ensemble", "path", "from", "to", "by", "limit", "format"];
/// Rows of one answer.
pub(crate) const BLAME_MAX: usize = 1_000;
const BLAME_USUAL: usize = 100;
const WEEK_MS: i64 = 7 * 86_400_000;
const COLUMNS: [&str; 11] = [
    "key",
    "holds",
    "hold_p50_ms",
    "hold_p99_ms",
    "charged_ms",
    "charged_root_ms",
    "charged_week_before_ms",
    "victims",
    "worst_at_ms",
    "worst_lock",
    "share",
];

/// Whose fault waits were.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlameJson {
    /// The ensemble; empty where it is about several.
    pub(super) ensemble: String,
    /// What tells rows apart: `client`, `host`, `session`, `lock` or `ensemble`.
    by: &'static str,
    /// Those first who are charged most in the end.
    pub(super) rows: Vec<BlameRowJson>,
    /// Rows in all.
    #[serde(skip)]
    pub(super) total: usize,
    /// When the first of those left who are counted.
    #[serde(skip)]
    pub(super) first_at: Option<TimeMs>,
    /// All waits of contenders that left in the range. It is the sum of all `charged_ms`, `charged_others_ms`, `hand_off_ms` and
    /// `unknown_ms`, and the same with `charged_root_ms`.
    pub(super) waits_ms: i64,
    /// Nobody held.
    pub(super) hand_off_ms: i64,
    /// Nobody looked, or an earlier version wrote it.
    pub(super) unknown_ms: i64,
    /// What those are charged who are not in `rows`, and holders that could not be read.
    pub(super) charged_others_ms: i64,
    /// The same in the end; null where not all of the ensemble may be seen.
    pub(super) charged_root_others_ms: Option<i64>,
    /// True when there are more victims than are counted.
    pub(super) is_lower_bound: bool,
    /// The part of the same range a week before that was recorded, from 0 to 1; null where there was no time to look.
    pub(super) week_before_part: Option<f64>,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// What one of those is charged.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BlameRowJson {
    /// Who it says it is, its host, its session, the lock or the ensemble; the session where nothing says who it is.
    pub(super) key: String,
    /// Its holds that ended.
    pub(super) holds: u64,
    /// How long they took; null without any.
    pub(super) hold_ms: Option<HoldTimesJson>,
    /// The waiting that it is charged as who held.
    pub(super) charged_ms: i64,
    /// The waiting that it is charged as who was waited for in the end; null where not all of the ensemble may be seen.
    pub(super) charged_root_ms: Option<i64>,
    /// What it was charged in the same range a week before: in the end, or else as who held. Null where nothing of that
    /// range was recorded, and where there was no time to look.
    pub(super) charged_week_before_ms: Option<i64>,
    /// Sessions that waited for it.
    pub(super) victims: u64,
    /// When the wait ended of which it is charged most, ms since the epoch.
    pub(super) worst_at_ms: i64,
    /// The lock of that wait.
    pub(super) worst_lock: String,
    /// Its part of all waits, from 0 to 1: of what it is charged in the end, or else as who held.
    pub(super) share: f64,
}

/// How long holds took.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoldTimesJson {
    /// Half of them no longer than this.
    pub(super) p50: i64,
    /// 99 of 100 no longer than this.
    pub(super) p99: i64,
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let (pairs, format) = with_format(read(pairs)?)?;
    let of = Asked::of_pairs(&pairs, &TAKES, BLAME_MAX)?;
    Ok(match format {
        ListFormat::Json => share_past(&http, asked, move |http, scope| found(http, &scope, &of).map(Json)).await,
        ListFormat::Csv => {
            let (own, scope) = (http.clone(), asked.scope.clone());
            http.past_shared.answer(asked, move || Answer::table(found(&own, &scope, &of).map(table))).await
        }
    })
}

/// What there is to say to somebody.
pub(super) fn found(http: &Http, scope: &VisibilityScope, asked: &Asked) -> Result<BlameJson, ErrorResponse> {
    if asked.by == BlameBy::Client && !scope.payloads() {
        return Err(ErrorResponse::bad_request(
            "who a client says it is may not be shown to you; ask with by=host, by=session or by=lock",
        ));
    }
    if asked.by == BlameBy::Ensemble {
        return by_ensemble::found(http, scope, asked);
    }
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let range = asked.range(http.hub.now_ms())?;
    let question = Question { store: &*store, scope, ensemble: &ensemble, asked, give_up_at: give_up_at() };
    question.answer(&range).map_err(|error| refused(error, &range))
}

/// Who was waited for in the end may hold locks that are not in the scope.
fn has_roots(scope: &VisibilityScope, ensemble: &str) -> bool {
    scope.covers(ensemble, "/")
}

struct Question<'a> {
    store: &'a dyn Store,
    scope: &'a VisibilityScope,
    ensemble: &'a str,
    asked: &'a Asked,
    /// Of all that is looked for together.
    give_up_at: Instant,
}

/// What those were charged a week before who are charged now.
struct WeekBefore {
    charged: HashMap<String, i64>,
    part: f64,
}

impl Question<'_> {
    fn answer(&self, range: &Range<TimeMs>) -> Result<BlameJson, StoreError> {
        let has_roots = has_roots(self.scope, self.ensemble);
        let (blame, first_at) = self.blame(range)?;
        let Blame { mut rows, waits_ms, hand_off_ms, unknown_ms, others_ms: (direct, root), is_lower_bound } = blame;
        if !has_roots {
            rows.sort_by_key(|row| std::cmp::Reverse(row.direct_ms));
        }
        let total = rows.len();
        let left_out = rows.split_off(total.min(self.asked.limit.unwrap_or(BLAME_USUAL)));
        let left = |of: fn(&BlameRow) -> i64| left_out.iter().map(of).sum::<i64>();
        let before = match self.week_before(range, has_roots) {
            Ok(before) => Some(before),
            Err(StoreError::TooLong) => None,
            Err(error) => return Err(error),
        };
        let row = |row| BlameRowJson::new(row, waits_ms, has_roots, before.as_ref());
        Ok(BlameJson {
            ensemble: self.ensemble.to_owned(),
            by: self.asked.by.name(),
            charged_others_ms: direct + left(|row| row.direct_ms),
            charged_root_others_ms: has_roots.then(|| root + left(|row| row.root_ms)),
            rows: rows.into_iter().map(row).collect(),
            total,
            first_at,
            waits_ms,
            hand_off_ms,
            unknown_ms,
            is_lower_bound,
            week_before_part: before.as_ref().map(|before| before.part),
            coverage: CoverageJson::new(self.store, range)?,
        })
    }

    /// Adds up a range, and says when the first of those left who are counted.
    fn blame(&self, range: &Range<TimeMs>) -> Result<(Blame, Option<TimeMs>), StoreError> {
        let lock = (!self.asked.path.is_empty()).then(|| self.asked.path.as_str().into());
        let give_up_at = Some(self.give_up_at);
        let query = SpanQuery { range: range.clone(), lock, give_up_at, ..SpanQuery::default() };
        let ledger = Ledger::new(self.asked.by).of(self.ensemble);
        let mut ledger = if has_roots(self.scope, self.ensemble) { ledger } else { ledger.without_roots() };
        let mut first_at: Option<TimeMs> = None;
        each(self.store, query, |span| {
            if self.scope.covers(self.ensemble, &span.lock) {
                first_at = Some(first_at.map_or(span.left_at, |first| first.min(span.left_at)));
                ledger.take(&span);
            }
            ControlFlow::Continue(())
        })?;
        Ok((ledger.finish(), first_at))
    }

    fn week_before(&self, range: &Range<TimeMs>, has_roots: bool) -> Result<WeekBefore, StoreError> {
        let before = range.start - WEEK_MS..range.end - WEEK_MS;
        let (blame, first_at) = self.blame(&before)?;
        // Lives are kept for longer than changes: from the first of them on it was recorded as well.
        let missing = missing(self.store, "", &before, first_at, self.give_up_at)?;
        let missing_ms: i64 = missing.iter().map(|gap| gap.to_ms - gap.from_ms).sum();
        let length_ms = before.end.since(before.start).max(1);
        let charged = |row: BlameRow| (row.key, if has_roots { row.root_ms } else { row.direct_ms });
        Ok(WeekBefore {
            charged: blame.rows.into_iter().map(charged).collect(),
            part: (length_ms - missing_ms).clamp(0, length_ms) as f64 / length_ms as f64,
        })
    }
}

impl WeekBefore {
    /// Of one of them; None where nothing is recorded.
    fn of(&self, key: &str) -> Option<i64> {
        (self.part > 0.0).then(|| self.charged.get(key).copied().unwrap_or(0))
    }
}

impl BlameRowJson {
    fn new(row: BlameRow, waits_ms: i64, has_roots: bool, before: Option<&WeekBefore>) -> Self {
        let times = (row.hold_times.percentile(50), row.hold_times.percentile(99));
        let charged = if has_roots { row.root_ms } else { row.direct_ms };
        Self {
            charged_week_before_ms: before.and_then(|before| before.of(&row.key)),
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

/// The rows alone: a table has no place for what nobody in particular is charged.
fn table(blame: BlameJson) -> Table {
    Table::of_first("blame", COLUMNS, blame.rows, blame.total, |row| {
        let hold_ms = row.hold_ms.as_ref();
        [
            text(&row.key),
            row.holds.to_string(),
            known_as(hold_ms.map(|times| times.p50)),
            known_as(hold_ms.map(|times| times.p99)),
            row.charged_ms.to_string(),
            known_as(row.charged_root_ms),
            known_as(row.charged_week_before_ms),
            row.victims.to_string(),
            row.worst_at_ms.to_string(),
            text(&row.worst_lock),
            row.share.to_string(),
        ]
    })
}
