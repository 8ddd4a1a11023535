//! A lock over time, in pieces of whole minutes.

use lockscope_core::diagnosis::Verdict;
use lockscope_core::tally::Histogram;
use lockscope_core::time::TimeMs;
use lockscope_core::znode::SessionId;
use lockscope_view::past::{self, LockOverTime, Percentiles};

use super::{Question, view_verdict};
use crate::derive::{MINUTE_MS, add_histogram, top_of, verdict_of};
use crate::store::StoreError;
use crate::store::rows::{Minute, MinuteQuery, ROWS_READ_MAX};

const POINTS_MAX: i64 = 2_000;
const POINTS_USUAL: i64 = 240;

/// A lock in points of so many milliseconds.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn over_time(question: &Question<'_>, path: &str, grain_ms: i64) -> Result<LockOverTime, StoreError> {
    let is_seen = question.scope.covers(question.ensemble, path);
    let points = if is_seen { points(question, path, grain_ms)? } else { Vec::new() };
    Ok(LockOverTime {
        ensemble: question.ensemble.to_owned(),
        path: path.to_owned(),
        grain_ms,
        points: points.iter().map(Point::answer).collect(),
        coverage: question.coverage()?,
    })
}

/// A lock's time in pieces of so many milliseconds, whole minutes; of time in which nothing happened there are none.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn points(question: &Question<'_>, path: &str, grain_ms: i64) -> Result<Vec<Point>, StoreError> {
    let begin = TimeMs(question.range.start.0.div_euclid(MINUTE_MS) * MINUTE_MS);
    let mut query = MinuteQuery {
        range: begin..question.range.end,
        lock: Some(path.into()),
        limit: ROWS_READ_MAX,
        give_up_at: Some(question.give_up_at),
    };
    let mut points: Vec<Point> = Vec::new();
    loop {
        let minutes = question.store.minutes(&query)?;
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
///
/// # Errors
/// That makes too many points; one sentence says which length would do.
pub fn grain(range_ms: i64, asked_ms: Option<i64>) -> Result<i64, String> {
    let Some(grain_ms) = asked_ms else {
        return Ok((range_ms / POINTS_USUAL / MINUTE_MS + 1) * MINUTE_MS);
    };
    if range_ms / grain_ms > POINTS_MAX {
        let least = (range_ms / POINTS_MAX / MINUTE_MS + 1) * MINUTE_MS;
        return Err(format!(
            "that is more than {POINTS_MAX} points; use a grain of {least} or more, or a shorter range"
        ));
    }
    Ok(grain_ms)
}

fn percentiles(of: &Histogram) -> Percentiles {
    Percentiles { p50: of.percentile(50), p95: of.percentile(95), p99: of.percentile(99) }
}

/// A point while minutes are added.
pub struct Point {
    /// Where it begins, ms since the epoch.
    pub at_ms: i64,
    arrivals: u32,
    pub acquired: u32,
    pub gave_up: u32,
    /// How long waits took that ended.
    pub waits: Histogram,
    /// How long holds took that ended.
    pub holds: Histogram,
    pub depth_max: u32,
    waiting_ms: i64,
    pub worst: Verdict,
    /// Who held for how long; session 0 is that of znodes which no session owns.
    pub held: Vec<(SessionId, i64)>,
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

    /// As it is answered.
    pub fn answer(&self) -> past::Point {
        let longest = self.held.iter().max_by_key(|(_, ms)| *ms).map(|(session, _)| *session);
        past::Point {
            at_ms: self.at_ms,
            arrivals: self.arrivals,
            acquired: self.acquired,
            gave_up: self.gave_up,
            wait_ms: percentiles(&self.waits),
            hold_ms: percentiles(&self.holds),
            depth_max: self.depth_max,
            waiting_ms: self.waiting_ms,
            worst: view_verdict(self.worst),
            holder: longest.filter(|session| session.0 != 0).map(|session| session.to_string()),
            client: None,
        }
    }
}
