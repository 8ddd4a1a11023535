//! `GET /api/v1/history/lock`: a lock over time, in pieces of whole minutes.

use std::ops::Range;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lockscope_core::diagnosis::Verdict;
use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_history::derive::{MINUTE_MS, add_histogram, top_of, verdict_of};
use lockscope_history::store::rows::{Minute, MinuteQuery, ROWS_READ_MAX};
use lockscope_history::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

use super::ask::{Asked, CoverageJson, give_up_at, id, refused};
use crate::Http;
use crate::api::{Pairs, share_past};
use crate::problem::ErrorResponse;
use crate::shared_answers::AnswerRequest;
use lockscope_live::VisibilityScope;

const TAKES: [&str; 5] = ["ensemble", "path", "from", "to", "grain"];
/// Points of an answer.
const POINTS_MAX: i64 = 2_000;
const POINTS_USUAL: i64 = 240;

/// A lock over time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LockOverTimeJson {
    /// The ensemble.
    ensemble: String,
    /// The lock.
    path: String,
    /// Length of a point, in milliseconds.
    grain_ms: i64,
    /// In order; of time in which nothing happened there are none.
    points: Vec<PointJson>,
    /// How much of the range is known.
    coverage: CoverageJson,
}

/// A piece of a lock's time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PointJson {
    /// Where it begins, ms since the epoch.
    at_ms: i64,
    /// Contenders that came.
    arrivals: u32,
    /// Contenders that began to hold.
    acquired: u32,
    /// Contenders that left without.
    gave_up: u32,
    /// Waits that ended, in milliseconds.
    wait_ms: PercentilesJson,
    /// Holds that ended.
    hold_ms: PercentilesJson,
    /// The longest queue.
    depth_max: u32,
    /// All waiting together.
    waiting_ms: i64,
    /// The worst verdict.
    worst: &'static str,
    /// The session that held longest; null when nobody held, or no session owns what was held.
    holder: Option<String>,
}

/// At most an eighth above the truth; null where nothing ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PercentilesJson {
    /// Half of them were not longer.
    p50: Option<i64>,
    /// 95 in 100 were not longer.
    p95: Option<i64>,
    /// 99 in 100 were not longer.
    p99: Option<i64>,
}

impl From<&Histogram> for PercentilesJson {
    fn from(of: &Histogram) -> Self {
        Self { p50: of.percentile(50), p95: of.percentile(95), p99: of.percentile(99) }
    }
}

pub(crate) async fn show(
    State(http): State<Http>,
    asked: AnswerRequest,
    pairs: Pairs,
) -> Result<Response, ErrorResponse> {
    let of = Asked::read(pairs, &TAKES, 1)?;
    if of.path.is_empty() {
        return Err(ErrorResponse::bad_request("`path` is missing: the path of a lock"));
    }
    Ok(share_past(&http, asked, move |http, scope| found(http, &scope, of)).await)
}

fn found(http: &Http, scope: &VisibilityScope, asked: Asked) -> Result<Json<LockOverTimeJson>, ErrorResponse> {
    let (ensemble, store) = http.recorded(scope, &asked.ensemble)?;
    let range = asked.range(http.hub.now_ms())?;
    let grain_ms = grain(range.end.since(range.start), asked.grain_ms)?;
    let points = match scope.covers(&ensemble, &asked.path) {
        true => points(&*store, &asked.path, &range, grain_ms, give_up_at()).map_err(|error| refused(error, &range))?,
        false => Vec::new(),
    };
    let coverage = CoverageJson::new(&*store, &range).map_err(|error| refused(error, &range))?;
    let points = points.into_iter().map(Point::json).collect();
    Ok(Json(LockOverTimeJson { ensemble, path: asked.path, grain_ms, points, coverage }))
}

/// A lock's time in pieces of so many milliseconds, whole minutes; of time in which nothing happened there are none.
pub(super) fn points(
    store: &dyn Store,
    path: &str,
    range: &Range<TimeMs>,
    grain_ms: i64,
    give_up_at: Instant,
) -> Result<Vec<Point>, StoreError> {
    let begin = TimeMs(range.start.0.div_euclid(MINUTE_MS) * MINUTE_MS);
    let mut query = MinuteQuery {
        range: begin..range.end,
        lock: Some(path.into()),
        limit: ROWS_READ_MAX,
        give_up_at: Some(give_up_at),
    };
    let mut points: Vec<Point> = Vec::new();
    loop {
        let minutes = store.minutes(&query)?;
        for minute in &minutes {
            let at_ms = begin.0 + (minute.at.0 - begin.0).div_euclid(grain_ms) * grain_ms;
            if points.last().is_none_or(|point| point.at_ms != at_ms) {
                points.push(Point::new(at_ms));
            }
            points.last_mut().into_iter().for_each(|point| point.add(minute));
        }
        if minutes.len() < ROWS_READ_MAX {
            return Ok(points);
        }
        query.range.start = minutes.last().map_or(query.range.end, |last| last.at + 1);
    }
}

/// The length of a point: what is asked for, or what makes some hundred points.
fn grain(range_ms: i64, asked_ms: Option<i64>) -> Result<i64, ErrorResponse> {
    let Some(grain_ms) = asked_ms else {
        return Ok((range_ms / POINTS_USUAL / MINUTE_MS + 1) * MINUTE_MS);
    };
    if range_ms / grain_ms > POINTS_MAX {
        let least = (range_ms / POINTS_MAX / MINUTE_MS + 1) * MINUTE_MS;
        return Err(ErrorResponse::bad_request(format!(
            "that is more than {POINTS_MAX} points; use a grain of {least} or more, or a shorter range"
        )));
    }
    Ok(grain_ms)
}

/// A point while minutes are added.
pub(super) struct Point {
    pub(super) at_ms: i64,
    arrivals: u32,
    pub(super) acquired: u32,
    pub(super) gave_up: u32,
    pub(super) waits: Histogram,
    pub(super) holds: Histogram,
    pub(super) depth_max: u32,
    waiting_ms: i64,
    pub(super) worst: Verdict,
    /// Who held for how long; session 0 is that of znodes which no session owns.
    pub(super) held: Vec<(SessionId, i64)>,
}

impl Point {
    fn new(at_ms: i64) -> Self {
        Self {
            at_ms,
            arrivals: 0,
            acquired: 0,
            gave_up: 0,
            waits: Histogram::default(),
            holds: Histogram::default(),
            depth_max: 0,
            waiting_ms: 0,
            worst: Verdict::Free,
            held: Vec::new(),
        }
    }

    fn add(&mut self, minute: &Minute) {
        self.arrivals = self.arrivals.saturating_add(minute.arrivals);
        self.acquired = self.acquired.saturating_add(minute.acquired);
        self.gave_up = self.gave_up.saturating_add(minute.gave_up);
        add_histogram(&mut self.waits, &minute.waits);
        add_histogram(&mut self.holds, &minute.holds);
        self.depth_max = self.depth_max.max(minute.depth_max);
        self.waiting_ms = self.waiting_ms.saturating_add(minute.waiting_ms);
        self.worst = self.worst.max(verdict_of(&minute.worst).unwrap_or(Verdict::Unknown));
        for (session, ms) in top_of(&minute.top) {
            match self.held.iter().position(|(of, _)| *of == session) {
                Some(at) => self.held.get_mut(at).into_iter().for_each(|(_, held)| *held += ms),
                None => self.held.push((session, ms)),
            }
        }
    }

    fn json(self) -> PointJson {
        let longest = self.held.iter().max_by_key(|(_, ms)| *ms).map(|(session, _)| *session);
        PointJson {
            at_ms: self.at_ms,
            arrivals: self.arrivals,
            acquired: self.acquired,
            gave_up: self.gave_up,
            wait_ms: (&self.waits).into(),
            hold_ms: (&self.holds).into(),
            depth_max: self.depth_max,
            waiting_ms: self.waiting_ms,
            worst: lockscope_history::derive::verdict_name(self.worst),
            holder: longest.filter(|session| session.0 != 0).map(|session| id(session.0)),
        }
    }
}
