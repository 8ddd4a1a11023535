//! A list in a file, as it is now: looked at again when the file changed, and asked for that at most once a second,
//! or at once where somebody shows what the list does not know.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::file::{self, Stamp};

/// How often the file is asked for a change.
const ASK_EVERY_MS: i64 = 1_000;

/// Reads one file again and again.
#[derive(Debug)]
pub(super) struct Watched {
    /// None: there is no place for such a file.
    path: Option<PathBuf>,
    seen: Option<Stamp>,
    asked_at_ms: Option<i64>,
}

impl Watched {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, seen: None, asked_at_ms: None }
    }

    /// The list, when it may have changed since it was last given. What can't be read counts as empty: better nobody comes
    /// in than somebody who was meant to be out.
    pub(super) fn changed<T: DeserializeOwned>(&mut self, now_ms: i64) -> Option<Vec<T>> {
        // A clock that was set back asks at once.
        if self.asked_at_ms.is_some_and(|asked| (0..ASK_EVERY_MS).contains(&now_ms.saturating_sub(asked))) {
            return None;
        }
        self.changed_now(now_ms)
    }

    /// The same without the second: for one who is not on the list, and may have been put there a moment ago.
    pub(super) fn changed_now<T: DeserializeOwned>(&mut self, now_ms: i64) -> Option<Vec<T>> {
        let path = self.path.as_ref()?;
        let is_first = self.asked_at_ms.is_none();
        self.asked_at_ms = Some(now_ms);
        let stamp = Stamp::of(path);
        if !is_first && stamp == self.seen {
            return None;
        }
        self.seen = stamp;
        Some(file::read(path).unwrap_or_else(|error| {
            tracing::error!("nobody in this file may come in: {error}");
            Vec::new()
        }))
    }
}
