//! How much happened when, for the strip of a page of the past.

use std::collections::BTreeMap;
use std::time::Duration;

use history::derive::{MINUTE_MS, severity_of};
use lockscope_core::time::TimeMs;
use lockscope_page::ports::PastPiece;

use super::Moments;
use super::marks::{Sight, buckets};
use feed::VisibilityScope;
use runtime::clock;

/// Pieces of a strip, at most.
const PIECES_MAX: i64 = 96;
/// A page does not wait for its strip for longer; it has none then.
const PATIENCE: Duration = Duration::from_millis(300);

/// How much happened in each piece of what is kept, of one lock or of all that may be seen. Empty when that takes long.
pub(super) fn pieces(moments: &Moments, scope: &VisibilityScope, path: &str, kept: (i64, i64)) -> Vec<PastPiece> {
    let (from_ms, to_ms) = kept;
    let piece_ms = ((to_ms - from_ms) / PIECES_MAX / MINUTE_MS + 1) * MINUTE_MS;
    let (range, give_up_at) = (TimeMs(from_ms)..TimeMs(to_ms.saturating_add(1)), clock::instant() + PATIENCE);
    let mut pieces: BTreeMap<i64, PastPiece> = BTreeMap::new();
    for (ensemble, handle) in moments.recordings(scope) {
        let Some(store) = handle.and_then(|handle| handle.store()) else { continue };
        let sight = Sight { scope, ensemble, path };
        let Ok(found) = buckets(&*store, &sight, &range, piece_ms, give_up_at) else { return Vec::new() };
        for bucket in found {
            let none = PastPiece { from_ms: bucket.at_ms, to_ms: bucket.at_ms + piece_ms, events: 0, severity: 0 };
            let piece = pieces.entry(bucket.at_ms).or_insert(none);
            piece.events = piece.events.saturating_add(bucket.events);
            piece.severity = piece.severity.max(severity_of(bucket.worst));
        }
    }
    pieces.into_values().collect()
}
