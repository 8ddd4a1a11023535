//! All that was recorded of one lock in a range, those who are there now included: for whoever replays it.

use std::ops::ControlFlow;

use history::incident::Life;
use history::store::rows::{Span, SpanEnd, SpanQuery};
use lab::LabRefusal;
use lab::replay::RecordedLife;
use lab::script::SCRIPT_TURNS_MAX;
use lockscope_core::time::TimeMs;

use super::ask::{CoverageJson, give_up_at, refused};
use super::holds::each;
use super::incident::lives_now;
use crate::Http;
use crate::problem::ErrorResponse;
use feed::VisibilityScope;

/// What was recorded of a lock.
pub(crate) struct RecordedLock {
    pub(crate) ensemble: String,
    /// Its recipe, by name; empty where nobody came.
    pub(crate) recipe: String,
    /// Whoever was there, and one more than a script has at most; nobody where the lock may not be seen.
    pub(crate) lives: Vec<RecordedLife>,
    /// Where the range ends; not later than now.
    pub(crate) to_ms: i64,
    /// The part of the range that was recorded, from 0 to 1.
    pub(crate) part: f64,
}

/// Reads it. `from_ms` is before `to_ms`.
pub(crate) fn recorded_lock(
    http: &Http,
    scope: &VisibilityScope,
    (ensemble, path): (&str, &str),
    (from_ms, to_ms): (i64, i64),
) -> Result<RecordedLock, ErrorResponse> {
    let bad = |why: &str| ErrorResponse::from(LabRefusal::Bad(why.to_owned()));
    let (ensemble, store) = http.recorded(scope, ensemble)?;
    let now = TimeMs(http.hub.now_ms());
    let range = TimeMs(from_ms)..TimeMs(to_ms.min(now.0.saturating_add(1)));
    if range.start >= range.end {
        return Err(bad("the range has not begun; choose one of the past"));
    }
    let part = CoverageJson::new(&*store, &range).map_err(|error| refused(error, &range))?.part();
    let (mut lives, mut recipe) = (Vec::new(), String::new());
    if scope.covers(&ensemble, path) {
        let query = SpanQuery {
            range: range.start..now + 1,
            lock: Some(path.into()),
            joined_before: Some(range.end),
            give_up_at: Some(give_up_at()),
            ..SpanQuery::default()
        };
        let ended = each(&*store, query, |span| {
            lives.push(ended(&span));
            recipe = span.recipe.into();
            if lives.len() > SCRIPT_TURNS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        ended.map_err(|error| refused(error, &range))?;
        let (recipe_now, there) = lives_now(http, scope, &ensemble, path)
            .ok_or_else(|| bad("more contenders are there now than the lab plays; wait until they are gone"))?;
        if lives.is_empty() {
            recipe = recipe_now;
        }
        // Whoever left while this was read is among those that ended.
        let is_new = |life: &&Life| lives.iter().all(|known: &RecordedLife| known.rank != life.czxid.0);
        let there: Vec<RecordedLife> = there.iter().filter(is_new).map(going_on).collect();
        lives.extend(there);
    }
    Ok(RecordedLock { ensemble, recipe, lives, to_ms: range.end.0, part })
}

fn ended(span: &Span) -> RecordedLife {
    RecordedLife {
        rank: span.czxid.0,
        lock: 0,
        session: span.session.map(|session| session.0),
        joined_ms: span.joined_at.0,
        held_ms: span.held_at.map(|at| at.0),
        left_ms: Some(span.left_at.0),
        has_died: span.how == SpanEnd::SessionEnded,
        is_unsure: span.is_lower_bound || span.how == SpanEnd::Unknown,
    }
}

fn going_on(life: &Life) -> RecordedLife {
    RecordedLife {
        rank: life.czxid.0,
        lock: 0,
        session: life.session.map(|session| session.0),
        joined_ms: life.joined_at.0,
        held_ms: life.held_at.map(|at| at.0),
        left_ms: None,
        has_died: false,
        is_unsure: false,
    }
}
