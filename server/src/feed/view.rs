//! Views as clients ask for them, made equal where they mean the same, so that they share a channel. Pure.

use app::wire::{BoardQuery, LockQuery, SessionQuery, SessionsQuery, View, WINDOW_ROWS_MAX};

use super::FeedError;

/// Longest text of a filter, in bytes.
const FILTER_BYTES_MAX: usize = 512;
/// Longest name of a run, in bytes.
const RUN_BYTES_MAX: usize = 64;
/// Longest path, in bytes.
const PATH_BYTES_MAX: usize = 4_096;

/// The same view, with its window within bounds.
///
/// # Errors
/// One sentence when a text is too long or a path is not absolute.
pub fn normalise(view: View) -> Result<View, FeedError> {
    match view {
        View::Board(query) => {
            bounded("q", &query.q, FILTER_BYTES_MAX)?;
            bounded("ensemble", &query.ensemble, FILTER_BYTES_MAX)?;
            bounded("root", &query.root, PATH_BYTES_MAX)?;
            Ok(View::Board(BoardQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Lock(query) => {
            bounded("ensemble", &query.ensemble, FILTER_BYTES_MAX)?;
            bounded("path", &query.path, PATH_BYTES_MAX)?;
            if !query.path.starts_with('/') {
                return Err(FeedError::BadView(format!("`{}` is not the absolute path of a lock; write it like /order", query.path)));
            }
            Ok(View::Lock(LockQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Status {} => Ok(View::Status {}),
        View::Waits {} => Ok(View::Waits {}),
        View::Sessions(query) => {
            bounded("q", &query.q, FILTER_BYTES_MAX)?;
            bounded("ensemble", &query.ensemble, FILTER_BYTES_MAX)?;
            Ok(View::Sessions(SessionsQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Session(query) => {
            bounded("ensemble", &query.ensemble, FILTER_BYTES_MAX)?;
            Ok(View::Session(SessionQuery { limit: query.limit.clamp(1, WINDOW_ROWS_MAX), ..query }))
        }
        View::Lab(query) => {
            bounded("run", &query.run, RUN_BYTES_MAX)?;
            Ok(View::Lab(query))
        }
    }
}

fn bounded(name: &str, text: &str, bytes_max: usize) -> Result<(), FeedError> {
    if text.len() <= bytes_max {
        return Ok(());
    }
    Err(FeedError::BadView(format!("`{name}` has {} bytes; use at most {bytes_max}", text.len())))
}
