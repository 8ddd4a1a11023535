//! The lives of a lock, from a store.

use std::time::Instant;

use lockscope_core::time::TimeMs;

use super::{Learned, LineKind, LineLife, WAITS_JUDGED_MAX, learn};
use crate::store::rows::SpanQuery;
use crate::store::{Store, StoreError};

/// How far it is looked back: a day.
pub const RANGE_MS: i64 = 86_400_000;
/// Lives that are read, the newest. Overflow policy: older ones are not.
pub const LIVES_READ_MAX: usize = 3_000;

/// What the lives of the last day before this instant say of a lock. `going_on`: those that are still there then; they
/// are what waits that ended since were spent on.
pub fn read(
    store: &dyn Store,
    lock: &str,
    kind: LineKind,
    going_on: Vec<LineLife>,
    now: TimeMs,
    give_up_at: Option<Instant>,
) -> Result<Learned, StoreError> {
    let range = TimeMs(now.0.saturating_sub(RANGE_MS))..TimeMs(now.0.saturating_add(1));
    let query = SpanQuery { range, lock: Some(lock.into()), limit: LIVES_READ_MAX, give_up_at, ..SpanQuery::default() };
    let mut lives = going_on;
    lives.extend(store.spans(&query)?.iter().filter(|span| LineKind::of(&span.recipe) == Some(kind)).map(LineLife::of));
    Ok(learn(kind, &lives, WAITS_JUDGED_MAX))
}
