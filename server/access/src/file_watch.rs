//! A list in a file, as it is now: read again when the file changed.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::file::{self, Stamp};

#[derive(Debug)]
pub(super) struct FileWatch {
    path: PathBuf,
    /// None: it was never looked at. Some(None): there was no file.
    seen: Option<Option<Stamp>>,
    /// Why it could not be read; said once.
    fault: Option<String>,
}

impl FileWatch {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, seen: None, fault: None }
    }

    /// The list, when it may have changed since it was last given. What can't be read counts as empty: better nobody
    /// comes in than somebody who was meant to be out.
    pub(super) fn changed<T: DeserializeOwned>(&mut self) -> Option<Vec<T>> {
        let stamp = Some(Stamp::of(&self.path));
        if stamp == self.seen {
            return None;
        }
        match file::read(&self.path) {
            Ok(list) => {
                (self.seen, self.fault) = (stamp, None);
                Some(list)
            }
            Err(error) => {
                // Perhaps only for now: it is read again at the next look, changed or not.
                self.seen = None;
                if self.fault.as_ref() != Some(&error.0) {
                    tracing::error!("nobody in this file may come in: {error}");
                    self.fault = Some(error.0);
                }
                Some(Vec::new())
            }
        }
    }
}
