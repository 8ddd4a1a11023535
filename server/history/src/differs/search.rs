//! How waits of a range of a recording differ.
//!
//! Lives are stored by when they left. Those that joined in the range and left later are looked for in ever longer stretches
//! of time behind it; where that takes too long, what left by then is what the answer is of, and it says so.

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use lockscope_core::time::TimeMs;

use super::{ApplicationOf, Differs, DiffersTally, Selection};
use crate::derive::{MINUTE_MS, SPANS_A_MINUTE_MAX, minute_of};
use crate::store::rows::{Span, SpanQuery};
use crate::store::{Store, StoreError};
use lockscope_runtime::clock;

/// Lives that left within the range and are looked at. Overflow policy: of more it is given up.
pub const LIVES_MAX: usize = 1_000_000;
/// Lives of one stretch behind the range that joined in it. Overflow policy: of more, those of that stretch and of later ones
/// are not looked at, and that is said.
pub const LATER_LIVES_MAX: usize = 50_000;
const PAGE: usize = 2_000;
/// The first stretch behind the range that is looked through; each is twice as long as the one before.
const STRETCH_MS: i64 = 3_600_000;

pub struct DiffersQuery<'a> {
    /// When they joined.
    pub range: Range<TimeMs>,
    pub lock: Option<&'a str>,
    pub selection: Selection,
    /// Whether a lock may be looked at; None where all of them may.
    pub sees: Option<&'a dyn Fn(&str) -> bool>,
    /// What clients stand for; None where nothing is to be said of them.
    pub application_of: Option<ApplicationOf<'a>>,
    pub give_up_at: Instant,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffersFound {
    pub differs: Differs,
    /// So many lives ended in one minute of the range that short ones may have been left out; None where only a part of all
    /// lives was looked at.
    pub is_sampled: Option<bool>,
    /// Those that joined in the range and left later are not counted; None where all are that left.
    pub left_before: Option<TimeMs>,
}

/// How waits of a range differ; `note` gets each life that is looked at.
///
/// # Errors
/// The store can't be read, or it takes too long.
pub fn search(
    store: &dyn Store,
    query: &DiffersQuery<'_>,
    note: &mut dyn FnMut(&Span),
) -> Result<DiffersFound, StoreError> {
    let mut tally = DiffersTally::new(query.selection.clone(), query.application_of.is_some());
    // Whole minutes, since lives are left out by the minute in which they ended.
    let (start, end) = (minute_of(query.range.start), ceiling(query.range.end));
    let (mut read, mut minutes) = (0, Minutes::default());
    each(store, query, start..end, None, query.give_up_at, |span| {
        read += 1;
        minutes.note(span.left_at);
        if query.takes(&span) {
            tally.take(&span);
            note(&span);
        }
        if read < LIVES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if read >= LIVES_MAX {
        return Err(StoreError::TooLong);
    }
    let left_before = later(store, query, end, &mut |span| {
        tally.take(span);
        note(span);
    })?;
    let has_seen_all = query.lock.is_none() && query.sees.is_none();
    Ok(DiffersFound {
        differs: tally.finish(query.application_of),
        is_sampled: has_seen_all.then_some(minutes.most >= SPANS_A_MINUTE_MAX),
        left_before,
    })
}

/// The end of the minute that an instant is in.
fn ceiling(at: TimeMs) -> TimeMs {
    let minute = minute_of(at);
    if minute == at { at } else { TimeMs(minute.0.saturating_add(MINUTE_MS)) }
}

/// Counts those that left from an instant on. Up to when they are counted where that is not all of them.
fn later(
    store: &dyn Store,
    query: &DiffersQuery<'_>,
    from: TimeMs,
    take: &mut dyn FnMut(&Span),
) -> Result<Option<TimeMs>, StoreError> {
    let now = clock::instant();
    // What was found is still to be put together.
    let give_up_at = now + query.give_up_at.saturating_duration_since(now) / 2;
    let newest = store.coverage()?.to.unwrap_or(from);
    let (mut start, mut length_ms) = (from, STRETCH_MS.max(query.range.end.since(query.range.start)));
    loop {
        // Nothing is left behind the last one.
        let is_last = start >= newest;
        let end = if is_last { TimeMs(i64::MAX) } else { TimeMs(start.0.saturating_add(length_ms)) };
        let mut found: Vec<Span> = Vec::new();
        let joined_before = Some(query.range.end);
        let ended = each(store, query, start..end, joined_before, give_up_at, |span| {
            if query.takes(&span) {
                found.push(span);
            }
            if found.len() < LATER_LIVES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match ended {
            Err(StoreError::TooLong) => return Ok(Some(start)),
            Ok(()) if found.len() >= LATER_LIVES_MAX => return Ok(Some(start)),
            ended => ended?,
        }
        found.iter().for_each(&mut *take);
        if is_last {
            return Ok(None);
        }
        (start, length_ms) = (end, length_ms.saturating_mul(2));
    }
}

/// Each that left in a range, the newest first.
fn each(
    store: &dyn Store,
    query: &DiffersQuery<'_>,
    left: Range<TimeMs>,
    joined_before: Option<TimeMs>,
    give_up_at: Instant,
    mut take: impl FnMut(Span) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let (lock, give_up_at) = (query.lock.map(Into::into), Some(give_up_at));
    let mut pages = SpanQuery { range: left, lock, joined_before, limit: PAGE, give_up_at, ..SpanQuery::default() };
    loop {
        let page = store.spans(&pages)?;
        let (is_last, last) = (page.len() < PAGE, page.last().map(|span| (span.left_at, span.czxid)));
        if page.into_iter().try_for_each(&mut take).is_break() || is_last {
            return Ok(());
        }
        pages.before = last;
    }
}

impl DiffersQuery<'_> {
    fn takes(&self, span: &Span) -> bool {
        self.range.contains(&span.joined_at) && self.sees.is_none_or(|sees| sees(&span.lock))
    }
}

/// The most lives of a minute, which come by when they ended.
#[derive(Debug, Default)]
struct Minutes {
    at: TimeMs,
    count: u32,
    most: u32,
}

impl Minutes {
    fn note(&mut self, left_at: TimeMs) {
        let at = minute_of(left_at);
        if self.at != at {
            (self.at, self.count) = (at, 0);
        }
        self.count = self.count.saturating_add(1);
        self.most = self.most.max(self.count);
    }
}
