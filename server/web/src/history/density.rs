//! How much happened when, for the strip of a page of the past.

use std::collections::BTreeMap;
use std::time::Duration;

use lockscope_core::time::TimeMs;
use lockscope_history::derive::{MINUTE_MS, severity_of, verdict_of};
use lockscope_history::query::{Question, buckets, releases};
use lockscope_page::ports::PastPiece;

use super::Moments;
use lockscope_runtime::clock;
use lockscope_view::Scope;

const PIECES_MAX: i64 = 96;
/// Releases that a strip shows, the newest of them.
const RELEASES_MAX: usize = 64;
/// A page does not wait for its strip for longer; it has none then.
const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Default)]
pub(super) struct Strip {
    pub(super) pieces: Vec<PastPiece>,
    /// When somebody released by Lockscope.
    pub(super) releases_ms: Vec<i64>,
}

/// What happened in all that is kept, of one lock or of all, in the ensemble that is named or in all that may be seen. What takes long is left out.
pub(super) fn strip(moments: &Moments, scope: &Scope, (named, path): (&str, &str), kept: (i64, i64)) -> Strip {
    let (from_ms, to_ms) = kept;
    let piece_ms = ((to_ms - from_ms) / PIECES_MAX / MINUTE_MS + 1) * MINUTE_MS;
    let (range, give_up_at) = (TimeMs(from_ms)..TimeMs(to_ms.saturating_add(1)), clock::instant() + PATIENCE);
    let mut pieces: BTreeMap<i64, PastPiece> = BTreeMap::new();
    let mut releases_ms: Vec<i64> = Vec::new();
    let meant = moments.recordings(scope).filter(|(name, _)| named.is_empty() || name == named);
    for (ensemble, handle) in meant {
        let Some(store) = handle.and_then(|handle| handle.store()) else { continue };
        let question = Question { store: &*store, ensemble: &ensemble, scope, range: range.clone(), give_up_at };
        let Ok(found) = buckets(&question, path, piece_ms) else { continue };
        let released = releases(&question, path, RELEASES_MAX).unwrap_or_default();
        releases_ms.extend(released.iter().map(|at| at.0));
        for bucket in found {
            let none = PastPiece { from_ms: bucket.at_ms, to_ms: bucket.at_ms + piece_ms, events: 0, severity: 0 };
            let piece = pieces.entry(bucket.at_ms).or_insert(none);
            piece.events = piece.events.saturating_add(bucket.events);
            piece.severity = piece.severity.max(verdict_of(bucket.worst.name()).map_or(0, severity_of));
        }
    }
    releases_ms.sort_unstable_by_key(|at_ms| std::cmp::Reverse(*at_ms));
    releases_ms.truncate(RELEASES_MAX);
    Strip { pieces: pieces.into_values().collect(), releases_ms }
}
