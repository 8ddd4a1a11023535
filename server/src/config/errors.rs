//! Collects every mistake, so that a file can be mended in one go.

use super::ConfigError;
use super::layers::Layers;

/// Mistakes that are reported at once.
const ERRORS_MAX: usize = 20;

/// Every mistake so far.
pub(super) struct ErrorList(Vec<String>);

impl ErrorList {
    /// Begins with the keys that nobody knows.
    pub(super) fn new(layers: &Layers<'_>) -> Self {
        Self(layers.unknown().into_iter().map(|error| error.0).collect())
    }

    /// What was made, or None and its mistake on the list.
    pub(super) fn take<T>(&mut self, made: Result<T, ConfigError>) -> Option<T> {
        made.map_err(|error| self.0.push(error.0)).ok()
    }

    /// What was made of all, when there was no mistake.
    pub(super) fn none_or<T>(mut self, made: Option<T>) -> Result<T, ConfigError> {
        match made {
            Some(made) if self.0.is_empty() => Ok(made),
            Some(_) | None => {
                let more = self.0.len().saturating_sub(ERRORS_MAX);
                self.0.truncate(ERRORS_MAX);
                if more > 0 {
                    self.0.push(format!("and {more} more; fix these first"));
                }
                Err(ConfigError(self.0.join("\n")))
            }
        }
    }
}
