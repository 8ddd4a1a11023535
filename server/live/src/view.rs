//! Views as clients request them, normalised so that equivalent ones share a channel. Pure.

use lockscope_view::{
    BoardQuery, EventsQuery, LabQuery, LockQuery, QueueMapQuery, SessionQuery, SessionsQuery, StatusQuery, View,
    WINDOW_ROWS_MAX, WaitsQuery,
};

use super::FeedError;

pub const FILTER_CHARS_MAX: usize = 512;
const RUN_CHARS_MAX: usize = 64;
pub const PATH_CHARS_MAX: usize = 4_096;

/// A query whose texts and window have bounds.
pub trait Bounded: Sized {
    /// The same, with its window within bounds.
    ///
    /// # Errors
    /// One sentence when a text is too long or a path is not absolute.
    fn within_bounds(self) -> Result<Self, FeedError> {
        Ok(self)
    }
}

impl Bounded for StatusQuery {}

impl Bounded for WaitsQuery {}

/// The same view, with its window within bounds.
///
/// # Errors
/// One sentence when a text is too long or a path is not absolute.
pub fn normalise(view: View) -> Result<View, FeedError> {
    Ok(match view {
        View::Board(query) => View::Board(query.within_bounds()?),
        View::Lock(query) => View::Lock(query.within_bounds()?),
        View::Status {} => View::Status {},
        View::Waits(query) => View::Waits(query),
        View::Sessions(query) => View::Sessions(query.within_bounds()?),
        View::Session(query) => View::Session(query.within_bounds()?),
        View::Lab(query) => View::Lab(query.within_bounds()?),
        View::Events(query) => View::Events(query.within_bounds()?),
        View::QueueMap(query) => View::QueueMap(query.within_bounds()?),
    })
}

impl Bounded for BoardQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("q", &self.q, FILTER_CHARS_MAX)?;
        bounded("ensemble", &self.ensemble, FILTER_CHARS_MAX)?;
        bounded("root", &self.root, PATH_CHARS_MAX)?;
        Ok(Self { limit: self.limit.clamp(1, WINDOW_ROWS_MAX), ..self })
    }
}

impl Bounded for LockQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("ensemble", &self.ensemble, FILTER_CHARS_MAX)?;
        absolute(&self.path)?;
        Ok(Self { limit: self.limit.clamp(1, WINDOW_ROWS_MAX), ..self })
    }
}

impl Bounded for QueueMapQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("ensemble", &self.ensemble, FILTER_CHARS_MAX)?;
        bounded("app", &self.app, FILTER_CHARS_MAX)?;
        absolute(&self.path)?;
        Ok(self)
    }
}

impl Bounded for SessionsQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("q", &self.q, FILTER_CHARS_MAX)?;
        bounded("ensemble", &self.ensemble, FILTER_CHARS_MAX)?;
        bounded("host", &self.host, FILTER_CHARS_MAX)?;
        bounded("application", &self.application, FILTER_CHARS_MAX)?;
        Ok(Self { limit: self.limit.clamp(1, WINDOW_ROWS_MAX), ..self })
    }
}

impl Bounded for SessionQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("ensemble", &self.ensemble, FILTER_CHARS_MAX)?;
        Ok(Self { limit: self.limit.clamp(1, WINDOW_ROWS_MAX), ..self })
    }
}

impl Bounded for LabQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("run", &self.run, RUN_CHARS_MAX)?;
        Ok(self)
    }
}

impl Bounded for EventsQuery {
    fn within_bounds(self) -> Result<Self, FeedError> {
        bounded("ensemble", &self.ensemble, FILTER_CHARS_MAX)?;
        absolute_or_none(&self.path)?;
        Ok(Self { limit: self.limit.clamp(1, WINDOW_ROWS_MAX), ..self })
    }
}

fn absolute(path: &str) -> Result<(), FeedError> {
    bounded("path", path, PATH_CHARS_MAX)?;
    if path.starts_with('/') {
        return Ok(());
    }
    Err(FeedError::BadView(format!("`{path}` is not the absolute path of a lock; write it like /order")))
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
