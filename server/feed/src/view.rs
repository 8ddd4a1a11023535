//! Views as clients ask for them, made equal where they mean the same, so that they share a channel. Pure.

use lockscope_wire::{BoardQuery, EventsQuery, LockQuery, SessionQuery, SessionsQuery, View, WINDOW_ROWS_MAX};

use super::FeedError;

/// Longest text of a filter, in characters.
pub const FILTER_CHARS_MAX: usize = 512;
/// Longest name of a run, in characters.
const RUN_CHARS_MAX: usize = 64;
/// Longest path, in characters.
pub const PATH_CHARS_MAX: usize = 4_096;

/// The same view, with its window within bounds.
///
/// # Errors
/// One sentence when a text is too long or a path is not absolute.
pub fn normalise(view: View) -> Result<View, FeedError> {
    match view {
        View::Board(query) => {
            bounded("q", &query.q, FILTER_CHARS_MAX)?;
            bounded("ensemble", &query.ensemble, FILTER_CHARS_MAX)?;
            bounded("root", &query.root, PATH_CHARS_MAX)?;
            Ok(View::Board(BoardQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Lock(query) => {
            bounded("ensemble", &query.ensemble, FILTER_CHARS_MAX)?;
            bounded("path", &query.path, PATH_CHARS_MAX)?;
            if !query.path.starts_with('/') {
                return Err(FeedError::BadView(format!("`{}` is not the absolute path of a lock; write it like /order", query.path)));
            }
            Ok(View::Lock(LockQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Status {} => Ok(View::Status {}),
        View::Waits {} => Ok(View::Waits {}),
        View::Sessions(query) => {
            bounded("q", &query.q, FILTER_CHARS_MAX)?;
            bounded("ensemble", &query.ensemble, FILTER_CHARS_MAX)?;
            Ok(View::Sessions(SessionsQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Session(query) => {
            bounded("ensemble", &query.ensemble, FILTER_CHARS_MAX)?;
            Ok(View::Session(SessionQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Lab(query) => {
            bounded("run", &query.run, RUN_CHARS_MAX)?;
            Ok(View::Lab(query))
        }
        View::Events(query) => {
            bounded("ensemble", &query.ensemble, FILTER_CHARS_MAX)?;
            absolute_or_none(&query.path)?;
            Ok(View::Events(EventsQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
    }
}

/// A path that what is asked for lies at or below; empty: everything.
///
/// # Errors
/// One sentence when it is too long or relative.
pub fn absolute_or_none(path: &str) -> Result<(), FeedError> {
    bounded("path", path, PATH_CHARS_MAX)?;
    if path.is_empty() || path.starts_with('/') {
        return Ok(());
    }
    Err(FeedError::BadView(format!("`{path}` is not an absolute path; write it like /order")))
}

fn bounded(name: &str, text: &str, chars_max: usize) -> Result<(), FeedError> {
    let chars = text.chars().count();
    if chars <= chars_max {
        return Ok(());
    }
    Err(FeedError::BadView(format!("`{name}` has {chars} characters; use at most {chars_max}")))
}
