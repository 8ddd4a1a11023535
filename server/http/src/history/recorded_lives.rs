//! All lives of one lock in a range, those that go on included: for whoever replays them.

use std::ops::{ControlFlow, Range};

use history::incident::Life;
use history::store::Store;
use history::store::rows::{Span, SpanQuery};
use lockscope_core::time::TimeMs;
use lockscope_wire::LockQuery;

use super::ask::{CoverageJson, give_up_at, refused};
use super::holds::each;
use super::incident::{THERE_MAX, there};
use crate::Http;
use crate::problem::ErrorResponse;
use feed::VisibilityScope;

/// Those that ended, the newest first.
pub(crate) fn of_lock(
    store: &dyn Store,
    query: SpanQuery,
    range: &Range<TimeMs>,
    take: impl FnMut(Span) -> ControlFlow<()>,
) -> Result<(), ErrorResponse> {
    let query = SpanQuery { give_up_at: Some(give_up_at()), ..query };
    each(store, query, take).map_err(|error| refused(error, range))
}

/// The recipe of a lock that is there now, and who is.
///
/// # Errors
/// There are too many to be all looked at.
pub(crate) fn lives_there(
    http: &Http,
    scope: &VisibilityScope,
    ensemble: &str,
    lock: &str,
) -> Result<(Option<String>, Vec<Life>), String> {
    let query = LockQuery { ensemble: ensemble.to_owned(), path: lock.to_owned(), offset: 0, limit: THERE_MAX as u32 };
    let page = http.hub.look(query, scope).ok().and_then(|(_, view)| view.body);
    let Some(page) = page.filter(|page| page.head.row.path == lock) else { return Ok((None, Vec::new())) };
    if page.window.rows.len() >= THERE_MAX {
        return Err(format!("{THERE_MAX} contenders or more are there now, which is more than the lab plays"));
    }
    let lives = page.window.rows.iter().filter_map(|one| there(one, lock, false)).collect();
    Ok((Some(page.head.row.recipe.name().to_owned()), lives))
}

/// The part of a range that was recorded, from 0 to 1.
pub(crate) fn covered(store: &dyn Store, range: &Range<TimeMs>) -> Result<f64, ErrorResponse> {
    CoverageJson::new(store, range).map(|coverage| coverage.part()).map_err(|error| refused(error, range))
}
