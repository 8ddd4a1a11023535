//! What was rebuilt as one file, to be handed on.

use std::fs::File;
use std::time::Duration;

use lockscope_core::time::TimeMs;
use lockscope_history::historian::HistoryHandle;
use lockscope_history::store::StoreError;
use lockscope_history::store::bundle::{BundleError, BundleQuery};
use lockscope_runtime::clock;

use crate::{AutopsyError, Coverage};

/// How long it may take to make one. Nobody else waits for it.
const MAKING_MAX: Duration = Duration::from_secs(86_400);

/// All of it as a bundle, which `SqliteStore::open_bundle` opens once it has a name; it has none yet. Blocking.
///
/// # Errors
/// The history can't be read, or there is no room.
pub fn bundle(history: &HistoryHandle, coverage: &Coverage) -> Result<File, AutopsyError> {
    let failed = |why: String| AutopsyError::Store(format!("the history can't be made one file: {why}"));
    let store = history.store().ok_or_else(|| failed("there is none".to_owned()))?;
    let query = BundleQuery {
        range: TimeMs(coverage.from_at_ms)..TimeMs(coverage.to_at_ms.saturating_add(1)),
        with_chunks: true,
        sees: &|_| true,
        with_labels: true,
        bytes_max: u64::MAX,
        give_up_at: clock::instant() + MAKING_MAX,
    };
    store.bundle(&query).map_err(|error| match error {
        BundleError::Store(StoreError::Full(why)) => {
            failed(format!("{why}; make room, or set TMPDIR to a folder with more"))
        }
        error => failed(error.to_string()),
    })
}
